package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.retention.CleanUp;
import io.github.keepsake4j.testing.ExpectedLog;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What lies beside documents, and documents with a value at the edge. */
@Timeout(60)
class LeftBesideTest extends BucketFixture {

    @Test
    void an_epoch_that_cannot_be_followed_by_another_is_damage_and_an_erasure_mends_it() {
        for (String number : List.of("epoch", "revision")) {
            put(
                    NODE_OBJECT,
                    """
                    {"version":1,"messages":[{"message_id":"a","role":"user","content":"hi"}],
                    "keepsake":{"last":"a","head":"a","%s":9223372036854775807,"created_at":"2026-01-01T00:00:00Z"}}
                    """
                            .formatted(number));
            assertThatThrownBy(() -> another().append(NODE, batch("b")))
                    .isInstanceOf(UnreadableDataException.class)
                    .hasMessageContaining("keepsake object is damaged");
            long epoch = another().erase(NODE);
            assertThat(epoch).isBetween(2L, Long.MAX_VALUE / 2);
            assertThat(another().append(NODE, batch("b")).epoch()).isEqualTo(epoch);
            another().erase(NODE);
        }
    }

    @Test
    @ExpectedLog("is not removed")
    void idle_clean_up_keeps_a_document_whose_cleared_messages_are_lost_or_damaged() {
        for (boolean lost : new boolean[] {true, false}) {
            log.append(NODE, batch("a"));
            log.append(NODE, Append.viewOnly(View.of(null, List.of())));
            String kept = objects().get(0);
            byte[] bytes = bytes(kept);
            if (lost) {
                client.deleteObject(request -> request.bucket(bucket).key(kept));
            } else {
                put(kept, "no JSON");
            }

            CleanUp all = CleanUp.of(another()).idleFor(Duration.ofNanos(1));
            assertThat(all.run("default")).isEqualTo(new CleanUp.Report(1, 0, 0, 1));

            assertThat(objects()).contains(NODE_OBJECT);
            put(kept, bytes);
            assertThat(CleanUp.of(another()).idleFor(Duration.ofNanos(1)).run("default"))
                    .isEqualTo(new CleanUp.Report(1, 1, 1, 0));
            assertThat(objects()).isEmpty();
        }
    }

    @Test
    void an_erasure_of_a_conversation_with_its_nodes_takes_what_was_put_aside() {
        NodeKey other = NodeKey.of("default", "app", "another", "node");
        for (NodeKey node : List.of(NODE, other)) {
            log.append(node, batch("a"));
            put(nameOf(node), "{\"version\":1,\"messages\":[{\"message_id\":\"alice\"," + "\"ro");
            ((S3MessageLog) log).quarantine(nameOf(node));
        }
        assertThat(another().list("default", ListQuery.first(10)).memories()).isEmpty();
        Keepsake keepsake =
                Keepsake.builder().messageLog(another()).tenant("default").build();

        assertThat(keepsake.conversation(ConversationKey.of("default", NODE.conversationId()))
                        .eraseWithNodes())
                .isEqualTo(1);

        assertThat(objects()).as("those of the other conversation").hasSize(1);
        another().erase(other);
        assertThat(allObjects()).allMatch(name -> name.startsWith("aside/erased/"));
    }

    @Test
    void an_erasure_of_a_conversation_with_its_nodes_takes_damaged_documents_too() {
        NodeKey cut = NodeKey.of("default", "app", NODE.conversationId(), "alice");
        log.append(NODE, batch("a"));
        log.append(cut, batch("a"));
        String text = text(nameOf(cut));
        put(nameOf(cut), text.substring(0, text.length() / 2));
        Keepsake keepsake =
                Keepsake.builder().messageLog(another()).tenant("default").build();

        assertThat(keepsake.conversation(ConversationKey.of("default", NODE.conversationId()))
                        .eraseWithNodes())
                .isEqualTo(2);

        assertThat(allObjects()).allMatch(name -> name.startsWith("aside/erased/"));
        allObjects().forEach(name -> assertThat(text(name)).doesNotContain("alice", NODE.conversationId()));
    }

    @Test
    void a_blank_system_message_of_another_program_is_read_and_no_model_sees_it() {
        put(
                NODE_OBJECT,
                """
                {"version":1,"messages":[
                {"message_id":"s","role":"system","content":"Be kind."},
                {"message_id":"blank","parent_message_id":"s","role":"system","content":" \\n"},
                {"message_id":"u","parent_message_id":"blank","role":"user","content":"hi"}]}
                """);
        List<LoggedMessage> read = history(log, NODE);
        assertThat(ids(read)).containsExactly("s", "blank", "u");
        assertThat(read.get(1).message().type()).isEqualTo(ChatMessageType.CUSTOM);
        String blank =
                "{\"message_id\":\"blank\",\"parent_message_id\":\"s\",\"role\":\"system\",\"content\":\" \\n\"}";
        log.append(NODE, batch("b"));
        assertThat(text(NODE_OBJECT)).contains(blank);
        assertThat(branch(another(), NODE)).containsExactly("s", "blank", "u", "b");
    }
}

package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.workflow.WorkflowMemories;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents as other programs write them: with their times, in their order, and cut off in the middle of a turn. */
@Timeout(600)
class ForeignDocumentTest extends BucketFixture {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"2026-01-07 10:00:00\"",
                "1767780000000",
                "\"2026-01-07T10:00:00+0000\"",
                "\"yesterday\"",
                "true",
                "1e400",
                "{\"$date\":\"2026-01-07\"}"
            })
    void a_time_that_cannot_be_read_counts_as_missing_and_is_kept_as_it_is(String time) throws Exception {
        String element =
                "{\"message_id\":\"a\",\"parent_message_id\":null,\"role\":\"user\",\"content\":\"hi\",\"created_at\":%s}"
                        .formatted(time);
        put(NODE_OBJECT, "{\"version\":1,\"messages\":[" + element + "]}");
        Instant before = Instant.now().minusSeconds(60);

        assertThat(history(log, NODE)).extracting(LoggedMessage::createdAt).containsExactly(Instant.EPOCH);
        assertThat(list(log, "default", 10)).singleElement().satisfies(info -> assertThat(info.lastMessageAt())
                .isAfter(before));
        log.append(NODE, batch("b"));
        assertThat(text(NODE_OBJECT)).contains(element);
        assertThat(branch(another(), NODE)).containsExactly("a", "b");
    }

    private record Foreign(String name, List<String> thread, List<String> asWritten) {}

    private static final List<Foreign> FOREIGN = List.of(
            // Made by Python 3: json.dump with isoformat, str, timestamp, milliseconds and strftime, NaN and Infinity.
            new Foreign(
                    "python-v1.json",
                    List.of("py-1", "py-2", "py-3", "py-4", "py-5"),
                    List.of(
                            "\"score\": NaN",
                            "\"inf\":Infinity",
                            "\"big\":12345678901234567890123",
                            "\"ratio\":1e-07",
                            "\"content\": \"Gr\\u00fc\\u00dfe \\ud83d\\ude00 \\u2028 from\\nPython\"",
                            "\"created_at\": \"2026-01-07 10:00:01.123456+00:00\"",
                            "\"created_at\": 1767780003123",
                            "\"created_at\": \"2026-01-07T10:00:04+0000\"")),
            new Foreign(
                    "hand-written-v1.json",
                    List.of("h1", "h2", "h3"),
                    List.of(
                            "\"author\":\"somebody with an editor\"",
                            "\"created_at\": \"7 January 2026\"",
                            "\"created_at\": \"2026-01-07 10:00\"",
                            "\"note\": \"ask again\"")),
            new Foreign("turns-v1.json", List.of("run-1#user", "run-1", "run-2#user", "run-2"), List.of()));

    static Stream<Foreign> foreign() {
        return FOREIGN.stream();
    }

    @ParameterizedTest
    @MethodSource("foreign")
    void what_others_wrote_is_read_and_added_to_and_read_again_by_them(Foreign foreign) throws Exception {
        put(NODE_OBJECT, resource(foreign.name()));
        List<ChatMessage> before = messages();
        assertThat(branch(log, NODE)).isEqualTo(foreign.thread());
        assertThat(log.list("default", ListQuery.first(1)).memories()).hasSize(1);

        log.append(NODE, Append.under(Parent.head(), List.of(user("new-1"), answer("new-2"))));

        List<String> thread = new ArrayList<>(foreign.thread());
        thread.addAll(List.of("new-1", "new-2"));
        assertThat(branch(another(), NODE)).isEqualTo(thread);
        assertThat(messages()).startsWith(before.toArray(ChatMessage[]::new));
        assertThat(foreign.asWritten())
                .allSatisfy(part -> assertThat(text(NODE_OBJECT)).contains(part));
        // As their own code reads it: only the public fields, in the order of the array.
        JsonNode theirs = RawJson.MAPPER.readTree(text(NODE_OBJECT)).get("messages");
        List<String> read = new ArrayList<>();
        String parent = null;
        for (JsonNode message : theirs) {
            assertThat(message.path("parent_message_id").textValue()).isEqualTo(parent);
            assertThat(message.get("role").textValue()).isIn("user", "assistant");
            assertThat(message.get("content").isTextual()).isTrue();
            parent = message.get("message_id").textValue();
            read.add(parent);
        }
        assertThat(read).isEqualTo(thread);

        // They add a message as they know it, and drop what they do not know.
        ObjectNode written = RawJson.MAPPER.createObjectNode().put("version", 1);
        ArrayNode array = written.putArray("messages");
        theirs.forEach(array::add);
        array.addObject()
                .put("message_id", "theirs")
                .put("parent_message_id", parent)
                .put("role", "user")
                .put("content", "again")
                .put("created_at", "2026-01-07 10:00:00");
        put(NODE_OBJECT, written.toPrettyString());
        thread.add("theirs");
        assertThat(branch(log, NODE)).isEqualTo(thread);
    }

    private List<ChatMessage> messages() {
        return history(log, NODE).stream().map(LoggedMessage::message).toList();
    }

    @Test
    void a_child_before_its_parent_in_the_array_is_found() throws Exception {
        put(
                NODE_OBJECT,
                """
                {"version":1,"messages":[
                {"message_id":"d","parent_message_id":"c","role":"assistant","content":"d","files":[],"token_count":1,"created_at":""},
                {"message_id":"b","parent_message_id":"a","role":"assistant","content":"b","files":[],"token_count":1,"created_at":""},
                {"message_id":"c","parent_message_id":"b","role":"user","content":"c","files":[],"token_count":1,"created_at":""},
                {"message_id":"a","parent_message_id":null,"role":"user","content":"a","files":[],"token_count":1,"created_at":""}]}
                """);

        assertThat(branch(log, NODE)).containsExactly("a", "b", "c", "d");
        assertThat(log.read(NODE, ReadQuery.wholeBranch()).missingParent()).isNull();
        log.append(NODE, batch("e"));
        assertThat(branch(another(), NODE)).containsExactly("a", "b", "c", "d", "e");
        assertThat(PlainProgram.thread(text(NODE_OBJECT))).containsExactly("a", "b", "c", "d", "e");
    }

    @Test
    void a_parent_that_another_program_removed_was_no_damage() throws Exception {
        log.append(NODE, batch("a", "b", "c"));
        assertThat(log.check(NODE)).isEmpty();
        ObjectNode document = (ObjectNode) RawJson.MAPPER.readTree(text(NODE_OBJECT));
        ((ArrayNode) document.get("messages")).remove(1);
        put(NODE_OBJECT, document.toPrettyString());

        List<Damage> lost = List.of(new Damage(Damage.Kind.TREE, 2L, "c", "the message's parent is missing"));
        for (MessageLog each : List.of(log, another())) {
            assertThat(each.check(NODE)).isEqualTo(lost);
            assertThat(each.read(NODE, ReadQuery.wholeBranch().endingIn("c")).missingParent())
                    .isEqualTo("b");
            assertThat(each.repair(NODE).damage()).isEqualTo(lost);
        }
        log.append(NODE, Append.under(Parent.of("c"), List.of(answer("next"))));
        assertThat(branch(another(), NODE)).containsExactly("c", "next");
        assertThat(another().check(NODE)).as("a write does not hide it").isEqualTo(lost);
        log.append(NODE, Append.under(Parent.of("a"), List.of(answer("b"))).asImport());
        assertThat(another().check(NODE)).as("the parent came back").isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"node-memory-v1.json", "python-v1.json", "hand-written-v1.json", "turns-v1.json"})
    void a_whole_document_of_another_program_has_no_damage(String name) {
        put(NODE_OBJECT, resource(name));
        assertThat(log.check(NODE)).isEmpty();
        log.append(NODE, batch("next"));
        assertThat(another().check(NODE)).isEmpty();
    }

    @Test
    void children_before_their_parents_do_not_move_what_our_fields_say_of_others() throws Exception {
        log.append(
                NODE,
                Append.under(
                        Parent.head(),
                        List.of(message("a", UserMessage.from("a"), 1), message("b", AiMessage.from("b"), 1))));
        put(
                NODE_OBJECT,
                PlainProgram.appendKeeping(
                        text(NODE_OBJECT),
                        PlainProgram.message("d", "c", "assistant", "d"),
                        PlainProgram.message("c", "b", "user", "c")));

        assertThat(branch(log, NODE)).containsExactly("a", "b", "c", "d");
        assertThat(history(log, NODE))
                .extracting(LoggedMessage::tokenCounter)
                .containsExactly("test-counter", "test-counter", "unknown", "unknown");
    }

    @Test
    void an_array_in_reverse_order_is_sorted_in_one_pass() {
        int count = Counts.of(20_000, 100_000);
        StringBuilder messages = new StringBuilder();
        for (int i = count; i > 0; i--) {
            messages.append(
                    """
                    {"message_id":"m%d","parent_message_id":%s,"role":"user","content":"hi"}%s
                    """
                            .formatted(i, i == 1 ? "null" : "\"m" + (i - 1) + "\"", i == 1 ? "" : ","));
        }
        put(NODE_OBJECT, "{\"version\":1,\"messages\":[" + messages + "]}");

        assertThat(branch(log, NODE)).hasSize(count).startsWith("m1", "m2").endsWith("m" + count);
    }

    @Test
    void an_unanswered_question_at_the_end_is_in_the_history_and_not_in_prompts() throws Exception {
        put(
                NODE_OBJECT,
                PlainProgram.appendForgetting(
                        "{\"version\":1,\"messages\":[]}",
                        PlainProgram.message("run-1#user", null, "user", "first"),
                        PlainProgram.message("run-1", "run-1#user", "assistant", "answer"),
                        PlainProgram.message("run-2#user", "run-1", "user", "never answered")));

        WorkflowMemories memories = WorkflowMemories.builder().nodeLog(log).build();
        List<ChatMessage> prompt = memories.node(NODE).getHistoryPromptMessages("run-3", "default");

        assertThat(prompt).containsExactly(UserMessage.from("first"), AiMessage.from("answer"));
        assertThat(ids(history(log, NODE))).containsExactly("run-1#user", "run-1", "run-2#user");
    }

    /** Each message was compared with all others, and each run was looked for among all messages. */
    @Test
    @Timeout(120)
    void a_hundred_thousand_messages_are_set_in_seconds() {
        int count = Counts.of(10_000, 100_000);
        StringBuilder document = new StringBuilder("{\"version\":1,\"messages\":[");
        for (int i = 0; i < count; i++) {
            document.append(i == 0 ? "" : ",")
                    .append("{\"message_id\":\"m%d\",\"parent_message_id\":%s,\"role\":\"%s\",\"content\":\"text %d\"}"
                            .formatted(
                                    i, i == 0 ? "null" : "\"m" + (i - 1) + "\"", i % 2 == 0 ? "user" : "assistant", i));
        }
        put(NODE_OBJECT, document.append("]}").toString());
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .strategy(SlidingWindow.withMaxMessages(2 * count))
                .build();
        List<ChatMessage> every = new ArrayList<>();
        List<ChatMessage> some = new ArrayList<>();
        List<ChatMessage> others = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            every.add(said(i, "text " + i));
            others.add(said(i, "other " + i));
            if (i % 4 < 2) {
                some.add(said(i, "text " + i));
            }
        }
        for (List<ChatMessage> list : List.of(every, some, others)) {
            ChatMemory memory = keepsake.chatMemory(NODE);
            long begin = System.nanoTime();
            memory.set(list);
            Tell.line("%d messages were set in %d ms", list.size(), (System.nanoTime() - begin) / 1_000_000);
            assertThat(memory.messages()).isEqualTo(list);
        }
    }

    private static ChatMessage said(int number, String text) {
        return number % 2 == 0 ? UserMessage.from(text) : AiMessage.from(text);
    }
}

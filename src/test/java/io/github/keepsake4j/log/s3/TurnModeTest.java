package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static io.github.keepsake4j.testing.Dialogue.ai;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.Threads;
import io.github.keepsake4j.workflow.NodeTokenBufferMemory;
import io.github.keepsake4j.workflow.WorkflowMemories;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Messages that are held back until their turn ends: where they are visible, and what happens to them after a failure.
 */
@Timeout(600)
class TurnModeTest extends BucketFixture {

    private static final Duration NEVER = Duration.ofHours(1);

    private MessageLog turns;
    private MessageLog other;

    @BeforeEach
    void openTurns() {
        turns = inTurnMode(NEVER);
        other = another();
    }

    @AfterEach
    void closeTurns() {
        server.leaveAlone();
        turns.close();
    }

    private MessageLog inTurnMode(Duration idle) {
        return another(builder -> builder.turnMode(idle));
    }

    /** An answer, which ends a turn. */
    private static Append ends(String id) {
        return Append.under(Parent.head(), List.of(answer(id)));
    }

    private static Append clear() {
        return Append.viewOnly(View.of(null, List.of()));
    }

    @Test
    void what_waits_is_seen_by_its_log_at_once_and_by_others_at_the_turns_end() {
        assertThat(turns.append(NODE, batch("u")).head()).isEqualTo("u");
        assertThat(branch(turns, NODE)).containsExactly("u");
        assertThat(ids(history(turns, NODE))).containsExactly("u");
        assertThat(turns.branches(NODE)).hasSize(1);
        assertThat(branch(other, NODE)).isEmpty();
        assertThat(objects()).isEmpty();

        turns.append(NODE, ends("a"));

        assertThat(branch(other, NODE)).containsExactly("u", "a");
        assertThat(branch(turns, NODE)).containsExactly("u", "a");
    }

    @Test
    void calls_and_results_do_not_end_a_turn() {
        turns.append(NODE, Append.under(Parent.head(), List.of(user("u"), message("c", Dialogue.calls("1"), 1))));
        turns.append(NODE, Append.under(Parent.head(), List.of(message("r", Dialogue.result("1"), 1))));
        assertThat(objects()).isEmpty();
        turns.append(NODE, ends("a"));
        assertThat(branch(other, NODE)).containsExactly("u", "c", "r", "a");
    }

    @Test
    void a_turn_follows_what_others_have_written_meanwhile() {
        turns.append(NODE, batch("u"));
        other.append(NODE, batch("x"));
        turns.append(NODE, batch("v"));
        assertThat(branch(turns, NODE)).as("as it was when the turn read it").containsExactly("u", "v");

        assertThat(turns.append(NODE, ends("a")).previousHead()).isEqualTo("v");

        assertThat(branch(other, NODE)).containsExactly("x", "u", "v", "a");
        assertThat(branch(turns, NODE)).containsExactly("x", "u", "v", "a");
    }

    @Test
    void the_first_read_of_a_turn_sees_what_others_wrote_before_it() {
        turns.append(NODE, ends("a"));
        other.append(NODE, batch("x"));
        turns.append(NODE, batch("u"));

        assertThat(requests(() -> assertThat(branch(turns, NODE)).containsExactly("a", "x", "u")))
                .isEqualTo("1 GET");
        assertThat(requests(() -> branch(turns, NODE))).isEmpty();
        assertThat(requests(() -> turns.append(NODE, ends("b")))).isEqualTo("1 PUT");
        assertThat(branch(other, NODE)).containsExactly("a", "x", "u", "b");
    }

    @Test
    void any_other_change_writes_what_waits_in_the_same_request() {
        turns.append(NODE, ends("a"));
        Map<String, Runnable> changes = Map.of(
                "view",
                () -> turns.append(NODE, Append.viewOnly(View.of(null, List.of(new View.Run(null, "a"))))),
                "messages and a view",
                () -> turns.append(NODE, batch("m").withView(View.of(null, List.of(new View.Run(null, "a"))))),
                "import",
                () -> turns.append(NODE, batchUnder("elsewhere", "i").asImport()),
                "expected head",
                () -> turns.append(NODE, batch("h").expectingHead("expected head")),
                "summary",
                () -> Logs.putSummary(turns, NODE, new Summary("a", "text", 1, "c", 1, 1, null, Instant.EPOCH), 1),
                "title",
                () -> Logs.describe(turns, NODE, "title", Map.of()),
                "lease",
                () -> turns.acquireLease(NODE, "work", "me", NEVER),
                "flush",
                () -> turns.flush(NODE));
        changes.forEach((id, change) -> {
            turns.append(NODE, batch(id));
            assertThat(ids(history(other, NODE))).doesNotContain(id);
            assertThat(requests(change)).as(id).isEqualTo("1 PUT");
            assertThat(ids(history(other, NODE))).contains(id);
        });
        turns.append(NODE, batch("cleared"));
        turns.append(NODE, clear());
        assertThat(ids(history(other, NODE))).contains("cleared");
        assertThat(requests(() -> turns.flush(NODE))).isEmpty();
    }

    @Test
    void a_change_that_is_refused_leaves_what_waits() {
        turns.append(NODE, batch("u"));
        assertThatThrownBy(() -> turns.append(NODE, ends("a").expectingHead("unknown")))
                .isInstanceOf(io.github.keepsake4j.log.HeadConflictException.class);
        assertThatThrownBy(() -> Logs.moveHead(turns, NODE, "unknown", null)).isInstanceOf(InvalidInputException.class);
        assertThat(objects()).isEmpty();
        turns.append(NODE, ends("a"));
        assertThat(branch(other, NODE)).containsExactly("u", "a");
    }

    @Test
    void a_batch_that_is_sent_again_is_not_stored_again() {
        turns.append(NODE, batch("u"));
        assertThat(turns.append(NODE, batch("u")).replayed()).isTrue();
        turns.append(NODE, ends("a"));
        assertThat(turns.append(NODE, batch("u")).replayed()).isTrue();
        assertThat(turns.append(NODE, ends("a")).replayed()).isTrue();
        other.append(NODE, batch("x"));
        turns.append(NODE, batch("x"));
        turns.flush(NODE);
        assertThat(turns.append(NODE, batch("x")).replayed()).isTrue();
        assertThatThrownBy(() -> turns.append(
                        NODE, Append.under(Parent.head(), List.of(message("x", UserMessage.from("other"), 1)))))
                .isInstanceOf(MessageIdConflictException.class);
        assertThat(ids(history(other, NODE))).containsExactly("u", "a", "x");
    }

    @Test
    void a_turn_that_nothing_ends_is_written_when_it_is_idle() {
        MessageLog impatient = inTurnMode(Duration.ofMillis(100));
        impatient.append(NODE, batch("u"));
        await().until(() -> branch(other, NODE).equals(List.of("u")));
        impatient.append(NODE, batch("v"));
        await().until(() -> branch(other, NODE).equals(List.of("u", "v")));
        impatient.close();
    }

    @Test
    @ExpectedLog("an unfinished turn could not be written and is tried again")
    void an_idle_turn_that_cannot_be_written_is_tried_again() {
        AtomicInteger refused = new AtomicInteger();
        server.before(request -> {
            if (request.startsWith("PUT")) {
                refused.incrementAndGet();
                S3Server.fail(503);
            }
        });
        try (S3Client impatient = S3Server.impatientClient(server.port());
                MessageLog idle = S3MessageLog.builder()
                        .client(impatient)
                        .bucket(bucket)
                        .turnMode(Duration.ofMillis(100))
                        .build()) {
            idle.append(NODE, batch("u"));
            // The log tries a change this often before it gives up.
            await().untilAtomic(refused, greaterThanOrEqualTo(4));
            server.leaveAlone();
            await().until(() -> branch(other, NODE).equals(List.of("u")));
        }
    }

    @Test
    void a_log_that_is_closed_writes_what_waits_and_takes_nothing_more() {
        List<MemoryKey> keys = List.of(NODE, ConversationKey.of("default", "c"));
        keys.forEach(key -> turns.append(key, batch("u")));
        turns.close();
        keys.forEach(key -> assertThat(branch(other, key)).containsExactly("u"));
        assertThatThrownBy(() -> turns.append(NODE, batch("v"))).isInstanceOf(StorageClosedException.class);
        turns.close();
    }

    @Test
    void a_log_that_cannot_write_what_waits_when_it_is_closed_says_so() {
        MessageLog closing = inTurnMode(NEVER);
        closing.append(NODE, batch("u"));
        server.before(request -> S3Server.fail(503));
        assertThatThrownBy(closing::close).isInstanceOf(StorageUnavailableException.class);
        assertThatThrownBy(() -> closing.read(NODE, ReadQuery.newest(1))).isInstanceOf(StorageClosedException.class);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_end_that_fails_is_sent_again_and_nothing_is_stored_twice(boolean written) {
        turns.append(NODE, batch("u"));
        AtomicBoolean down = new AtomicBoolean();
        if (written) {
            server.after(request -> {
                if (request.startsWith("PUT")) {
                    down.set(true);
                    S3Server.fail(500);
                }
            });
        }
        server.before(request -> {
            if (!written || down.get()) {
                S3Server.fail(503);
            }
        });
        assertThatThrownBy(() -> turns.append(NODE, ends("a"))).isInstanceOf(StorageUnavailableException.class);
        server.leaveAlone();
        assertThat(branch(other, NODE)).isEqualTo(written ? List.of("u", "a") : List.of());

        turns.append(NODE, ends("a"));

        assertThat(ids(history(other, NODE))).containsExactly("u", "a");
        assertThat(branch(turns, NODE)).containsExactly("u", "a");
    }

    @Test
    void what_waits_is_not_written_behind_an_erasure() {
        turns.append(NODE, batch("u"));
        other.append(NODE, batch("x"));
        other.erase(NODE);

        assertThatThrownBy(() -> turns.append(NODE, ends("a"))).isInstanceOf(ErasedException.class);
        assertThat(ids(history(other, NODE))).isEmpty();
        turns.append(NODE, batch("v"));
        turns.append(NODE, ends("b"));
        assertThat(ids(history(other, NODE))).containsExactly("v", "b");
    }

    @Test
    void a_turn_that_begins_after_an_erasure_is_taken_though_its_log_did_not_know() {
        turns.append(NODE, ends("a"));
        other.erase(NODE);
        turns.append(NODE, batch("u"));
        assertThat(branch(turns, NODE)).containsExactly("u");
        turns.append(NODE, ends("b"));
        assertThat(ids(history(other, NODE))).containsExactly("u", "b");
    }

    @Test
    void an_erasure_takes_what_waits() {
        turns.append(NODE, batch("u"));
        turns.erase(NODE);
        turns.flush(NODE);
        assertThat(ids(history(turns, NODE))).isEmpty();
        assertThat(ids(history(other, NODE))).isEmpty();
    }

    @Test
    void what_can_never_be_written_does_not_stand_in_the_way() {
        turns.append(NODE, batch("u"));
        other.append(NODE, Append.under(Parent.head(), List.of(message("u", UserMessage.from("other"), 1))));

        assertThatThrownBy(() -> turns.append(NODE, ends("a"))).isInstanceOf(MessageIdConflictException.class);

        turns.append(NODE, batch("v"));
        turns.append(NODE, ends("b"));
        assertThat(branch(other, NODE)).containsExactly("u", "v", "b");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"version\":7}",
                "{\"version\":1,\"messages\":[{\"message_id\":\"u\",\"parent_message_id\":null,\"role\":\"user\",\"content\":\"\",\"keepsake\":{\"message\":7}}]}"
            })
    void a_document_that_cannot_be_read_stays_and_what_waits_too(String unreadable) {
        turns.append(NODE, batch("u"));
        put(NODE_OBJECT, unreadable);
        assertThatThrownBy(() -> turns.append(NODE, ends("a"))).isInstanceOf(UnreadableDataException.class);
        assertThat(text(NODE_OBJECT)).isEqualTo(unreadable);
        client.deleteObject(request -> request.bucket(bucket).key(NODE_OBJECT));
        turns.append(NODE, ends("a"));
        assertThat(branch(other, NODE)).containsExactly("u", "a");
    }

    @Test
    void a_chat_memory_is_flushed_with_the_results_that_wait() {
        KeepsakeChatMemory memory = Keepsake.builder().messageLog(turns).build().chatMemory(NODE);
        memory.add(UserMessage.from("u"));
        memory.add(Dialogue.calls("a", "b"));
        memory.add(Dialogue.result("a"));
        assertThat(objects()).isEmpty();

        memory.flush();

        assertThat(other.read(NODE, ReadQuery.wholeBranch()).messages()).hasSize(3);
        memory.add(Dialogue.result("b"));
        memory.add(ai("done"));
        assertThat(other.read(NODE, ReadQuery.wholeBranch()).messages()).hasSize(5);
    }

    @Test
    void a_nodes_turn_that_ends_in_calls_is_written_when_it_is_flushed() {
        NodeTokenBufferMemory node = nodes(turns);
        node.addMessages("m1", null, "u", List.of(), Dialogue.calls("a"));
        node.flush();
        assertThat(ids(history(other, NODE))).containsExactly("m1#user", "m1");
    }

    @Test
    void a_nodes_turn_that_could_not_be_written_is_written_when_it_is_flushed_again() {
        NodeTokenBufferMemory node = nodes(turns);
        node.addMessages("m1", null, "u", List.of(), Dialogue.calls("a"));
        server.before(request -> S3Server.fail(503));
        assertThatThrownBy(node::flush).isInstanceOf(StorageUnavailableException.class);
        server.before(request -> {
            if (request.startsWith("PUT")) {
                S3Server.fail(503);
            }
        });
        assertThatThrownBy(node::flush).isInstanceOf(StorageUnavailableException.class);
        server.leaveAlone();
        node.flush();
        assertThat(ids(history(other, NODE))).containsExactly("m1#user", "m1");
    }

    @Test
    void a_nodes_turn_for_a_message_that_another_process_ran_for_is_kept_too() {
        NodeTokenBufferMemory mine = nodes(turns);
        NodeTokenBufferMemory theirs = nodes(other);
        mine.addMessages("m1", null, "u", List.of(), Dialogue.calls("a"));
        theirs.addMessages("m1", null, "u", List.of(), Dialogue.calls("b"));
        mine.getHistoryPromptMessages("m1", "default");
        theirs.flush();
        mine.flush();
        assertThat(ids(history(other, NODE))).containsExactly("m1#user", "m1", "m1#2#user", "m1#2");
    }

    private static NodeTokenBufferMemory nodes(MessageLog log) {
        return WorkflowMemories.builder().nodeLog(log).build().node(NODE);
    }

    @Test
    void turns_without_end_are_written_from_time_to_time() {
        for (int i = 0; i < 1_001; i++) {
            turns.append(NODE, batch("u" + i));
        }
        assertThat(branch(other, NODE)).hasSize(1_001);
    }

    @Test
    void an_idle_time_of_nothing_is_refused() {
        assertThatThrownBy(() -> inTurnMode(Duration.ZERO)).isInstanceOf(InvalidInputException.class);
    }

    @Test
    @ExpectedLog(maybe = "an unfinished turn could not be written and is tried again")
    void many_turns_at_once_lose_and_double_nothing_while_the_server_fails() throws Exception {
        int count = Counts.of(8, 50);
        Random random = new Random(3);
        server.before(request -> fail(random, 503));
        server.after(request -> fail(random, 500));
        List<MessageLog> logs = List.of(inTurnMode(Duration.ofMillis(50)), inTurnMode(NEVER));
        ConcurrentLinkedQueue<List<String>> sent = new ConcurrentLinkedQueue<>();
        Threads.run(6, thread -> {
            for (int i = 0; i < count; i++) {
                String turn = thread + "-" + i;
                List<String> ids = List.of(turn + "u", turn + "c", turn + "r", turn + "a");
                List<NewMessage> messages = List.of(
                        user(ids.get(0)),
                        message(ids.get(1), Dialogue.calls(turn), 1),
                        message(ids.get(2), Dialogue.result(turn), 1),
                        message(ids.get(3), AiMessage.from(turn), 1));
                for (NewMessage message : messages) {
                    persist(logs.get(thread % 2), Append.under(Parent.head(), List.of(message)));
                }
                sent.add(ids);
            }
        });
        server.leaveAlone();
        logs.forEach(MessageLog::close);

        List<String> stored = ids(history(other, NODE));
        List<String> all = new ArrayList<>();
        sent.forEach(all::addAll);
        assertThat(stored).hasSize(6 * count * 4).containsExactlyInAnyOrderElementsOf(all);
        assertThat(branch(other, NODE)).isEqualTo(stored);
        sent.forEach(ids -> assertThat(stored).containsSubsequence(ids));
        Tell.line("turn mode, 2 logs x 3 threads x %d turns of 4 appends: %s", count, wire);
    }

    private static void fail(Random random, int status) {
        if (random.nextInt(10) == 0) {
            S3Server.fail(status);
        }
    }

    private static void persist(MessageLog log, Append append) {
        for (int tries = 1; ; tries++) {
            try {
                log.append(NODE, append);
                return;
            } catch (StorageUnavailableException e) {
                if (tries == 20) {
                    throw e;
                }
            }
        }
    }
}

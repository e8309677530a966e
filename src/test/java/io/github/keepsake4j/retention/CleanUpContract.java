package io.github.keepsake4j.retention;

import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logged;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Threads;
import io.github.keepsake4j.testing.WatchedLog;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Checks the promises of a clean-up on any log. */
public abstract class CleanUpContract {

    /** The name of metadata that the logs list by. */
    protected static final String PROJECT = "project";

    private static final Duration IDLE = Duration.ofHours(1);
    private static final ConversationKey CONVERSATION = ConversationKey.of("acme", "c1");

    private MessageLog log;
    private WatchedLog watched;
    private int said;

    protected abstract MessageLog open();

    @BeforeEach
    void make() {
        log = open();
        watched = new WatchedLog(log);
    }

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void a19_memories_that_were_idle_for_the_period_are_removed_and_no_others() {
        NodeKey node = NodeKey.of("acme", "app", "c1", "writer");
        ConversationKey used = ConversationKey.of("acme", "used again");
        ConversationKey elsewhere = ConversationKey.of("other", "c1");
        List.of(CONVERSATION, node, used, elsewhere).forEach(this::say);
        Instant between = later();
        say(ConversationKey.of("acme", "new"));
        say(used);
        Logs.describe(log, ConversationKey.of("acme", "empty"), "no messages yet", Map.of());

        CleanUp cleanUp = CleanUp.of(log).idleFor(IDLE).at(clock(between.plus(IDLE)));
        assertThat(cleanUp.run("acme")).isEqualTo(new CleanUp.Report(5, 2, 2, 0));
        assertThat(keys("acme")).containsExactlyInAnyOrder("new", "used again", "empty");
        assertThat(keys("other")).containsExactly("c1");
        assertThat(log.history(node, HistoryQuery.oldest(10)).messages()).isEmpty();
        assertThat(cleanUp.run("acme").removed()).isZero();
    }

    @Test
    void a19_old_messages_that_were_imported_just_now_stay_for_the_period() {
        Instant written = Instant.now().minus(IDLE.multipliedBy(1000));
        NewMessage old = new NewMessage("old", user("hello"), 1, "test", written);
        log.append(CONVERSATION, Append.under(Parent.root(), List.of(old)).asImport());
        assertThat(log.history(CONVERSATION, HistoryQuery.newest(1))
                        .messages()
                        .get(0)
                        .createdAt())
                .isBefore(Instant.now().minus(IDLE));
        Instant imported = later();

        CleanUp cleanUp = CleanUp.of(log).idleFor(IDLE);
        assertThat(cleanUp.run("acme")).isEqualTo(new CleanUp.Report(1, 0, 0, 0));
        assertThat(keys("acme")).containsExactly("c1");
        assertThat(cleanUp.at(clock(imported.plus(IDLE))).run("acme")).isEqualTo(new CleanUp.Report(1, 1, 1, 0));
    }

    @Test
    void a19_a_run_lists_in_batches_and_meets_each_memory_once() {
        for (int i = 0; i < 7; i++) {
            say(ConversationKey.of("acme", "c" + i));
        }
        CleanUp cleanUp = CleanUp.of(watched.log(), watched.log())
                .idleFor(IDLE)
                .inBatchesOf(3)
                .at(tomorrow());
        assertThat(cleanUp.run("acme")).isEqualTo(new CleanUp.Report(7, 7, 7, 0));
        assertThat(watched.calls("list")).isEqualTo(3);
        assertThat(keys("acme")).isEmpty();
    }

    @Test
    void a19_a_dry_run_tells_what_would_go_and_removes_nothing() {
        say(CONVERSATION);
        List<MemoryKey> told = new ArrayList<>();
        CleanUp cleanUp = CleanUp.of(watched.log())
                .idleFor(IDLE)
                .at(tomorrow())
                .telling(info -> told.add(info.key()))
                .dryRun();
        assertThat(cleanUp.run("acme")).isEqualTo(new CleanUp.Report(1, 1, 1, 0));
        assertThat(cleanUp.conversation(CONVERSATION).removed()).isEqualTo(1);
        assertThat(told).containsExactly(CONVERSATION, CONVERSATION);
        assertThat(watched.calls())
                .doesNotContain("erase", "eraseIfIdle", "removeTombstones")
                .contains("list");
        assertThat(keys("acme")).containsExactly("c1");
    }

    @Test
    void a19_a_conversation_goes_with_what_its_nodes_remember() {
        for (MemoryKey key : List.of(
                CONVERSATION,
                NodeKey.of("acme", "app", "c1", "writer"),
                NodeKey.of("acme", "other app", "c1", "critic"),
                NodeKey.of("acme", "app", "c2", "writer"),
                NodeKey.of("other", "app", "c1", "writer"),
                ConversationKey.of("acme", "c2"))) {
            say(key);
        }
        assertThat(CleanUp.of(log).conversation(CONVERSATION)).isEqualTo(new CleanUp.Report(5, 3, 3, 0));
        assertThat(keys("acme")).containsExactlyInAnyOrder("c2", "c2");
        assertThat(keys("other")).hasSize(1);
    }

    @Test
    void a19_what_was_used_since_it_was_listed_stays() {
        say(CONVERSATION);
        Instant between = later();
        MessageLog racing = new WatchedLog(log) {
            private boolean done;

            @Override
            protected void called(String method) {
                if (method.equals("eraseIfIdle") && !done) {
                    done = true;
                    say(CONVERSATION);
                }
            }
        }.log();
        assertThat(CleanUp.of(racing)
                        .idleFor(IDLE)
                        .at(clock(between.plus(IDLE)))
                        .run("acme"))
                .isEqualTo(new CleanUp.Report(1, 0, 0, 0));
        assertThat(keys("acme")).containsExactly("c1");
    }

    /** Runs a clean-up of a memory's tenant while something is said there, and returns how much it removed. */
    private long removedWhile(ConversationKey key, CleanUp cleanUp) throws Exception {
        CyclicBarrier start = new CyclicBarrier(2);
        CompletableFuture<CleanUp.Report> run = CompletableFuture.supplyAsync(() -> {
            meet(start);
            return cleanUp.run(key.tenant());
        });
        meet(start);
        log.append(key, Append.underHead(new NewMessage("late", user("late"), 1, "test", null)));
        return run.get().removed();
    }

    @Test
    void a19_what_is_said_while_it_is_cleaned_up_stays_with_what_was_made_of_its_memory() throws Exception {
        for (int i = 0; i < Counts.of(20, 2_000); i++) {
            ConversationKey key = ConversationKey.of("race " + i, "c");
            ConversationKey idle = ConversationKey.of("race " + i, "idle");
            say(key);
            say(idle);
            Instant between = later();
            List<MemoryKey> madeErased = new ArrayList<>();
            long removed = removedWhile(
                    key,
                    CleanUp.of(log).idleFor(IDLE).at(clock(between.plus(IDLE))).alsoErasing(madeErased::add));

            List<LoggedMessage> left = log.history(key, HistoryQuery.newest(5)).messages();
            assertThat(left.get(left.size() - 1).id()).as("race %s", i).isEqualTo("late");
            assertThat(left).as("race %s", i).hasSize(removed == 2 ? 1 : 2);
            assertThat(madeErased).as("race %s", i).hasSize((int) removed).contains(idle);
            assertThat(log.history(idle, HistoryQuery.newest(5)).messages())
                    .as("race %s", i)
                    .isEmpty();
            log.erase(key);
        }
    }

    @Test
    void a19_a_memory_expires_at_a_time_or_after_its_last_use() {
        NodeKey node = NodeKey.of("acme", "app", "timed", "writer");
        ConversationKey timed = ConversationKey.of("acme", "timed");
        ConversationKey used = ConversationKey.of("acme", "used");
        ConversationKey unused = ConversationKey.of("acme", "unused");
        List.of(timed, node, used, unused, CONVERSATION).forEach(this::say);
        Instant between = later();
        expire(timed, MemoryInfo.EXPIRE_AT, between.plusSeconds(60).toString());
        expire(used, MemoryInfo.EXPIRE_AFTER_USE, "PT1M");
        expire(unused, MemoryInfo.EXPIRE_AFTER_USE, "PT1M");
        List.of(timed, used).forEach(this::say);

        CleanUp cleanUp = CleanUp.of(log);
        assertThat(cleanUp.at(clock(between)).run("acme")).isEqualTo(new CleanUp.Report(5, 0, 0, 0));
        assertThat(log.list("acme", ListQuery.first(9)).memories())
                .extracting(info -> info.expiresAt() != null)
                .containsExactlyInAnyOrder(true, true, true, false, false);
        CleanUp later = cleanUp.at(clock(between.plusSeconds(60)));
        assertThat(later.dryRun().run("acme")).isEqualTo(new CleanUp.Report(5, 1, 1, 0));
        assertThat(later.run("acme")).isEqualTo(new CleanUp.Report(5, 1, 1, 0));
        assertThat(keys("acme")).containsExactlyInAnyOrder("timed", "timed", "used", "c1");
        CleanUp after = cleanUp.at(clock(between.plusSeconds(60).plusMillis(1)));
        assertThat(withoutLooked(after.dryRun().run("acme"))).isEqualTo(new CleanUp.Report(0, 2, 3, 0));
        assertThat(withoutLooked(after.run("acme"))).isEqualTo(new CleanUp.Report(0, 2, 3, 0));
        assertThat(keys("acme")).containsExactlyInAnyOrder("used", "c1");
        assertThat(cleanUp.at(tomorrow()).run("acme").removed()).isEqualTo(1);
        assertThat(keys("acme")).containsExactly("c1");
    }

    @Test
    void e8_a_node_that_was_used_since_stays_when_its_conversation_goes() {
        ConversationKey idle = ConversationKey.of("acme", "apollo");
        NodeKey node = NodeKey.of("acme", "app", "apollo", "writer");
        say(idle);
        say(node);
        Logs.describe(log, idle, null, Map.of(PROJECT, "apollo"));
        Instant between = later();
        say(node);
        CleanUp cleanUp =
                CleanUp.of(log).withMetadata(PROJECT, "apollo").idleFor(IDLE).at(clock(between.plus(IDLE)));

        assertThat(withoutLooked(cleanUp.run("acme"))).isEqualTo(new CleanUp.Report(0, 1, 1, 0));
        assertThat(log.history(idle, HistoryQuery.newest(1)).messages()).isEmpty();
        assertThat(log.history(node, HistoryQuery.newest(9)).messages()).hasSize(2);
    }

    @Test
    void e8_a_run_is_limited_to_the_memories_of_a_project_with_their_nodes() {
        List<ConversationKey> keys = new ArrayList<>();
        for (String id : List.of("apollo", "apollo, used", "apollo, moved", "gemini", "none")) {
            ConversationKey key = ConversationKey.of("acme", id);
            keys.add(key);
            say(key);
            say(NodeKey.of("acme", "app", id, "writer"));
            if (!id.equals("none")) {
                Logs.describe(log, key, null, Map.of(PROJECT, id.replaceAll(",.*", "")));
            }
        }
        Instant between = later();
        say(keys.get(1));
        List<String> counted = new ArrayList<>();
        CleanUp cleanUp = CleanUp.of(log, new InMemoryMessageLog())
                .withMetadata(PROJECT, "apollo")
                .idleFor(IDLE)
                .inBatchesOf(1)
                .metrics(new Metrics() {
                    @Override
                    public void memoryRemoved(String backend) {
                        counted.add(backend);
                    }
                })
                .at(clock(between.plus(IDLE)));

        assertThat(withoutLooked(cleanUp.dryRun().run("acme"))).isEqualTo(new CleanUp.Report(0, 4, 4, 0));
        assertThat(counted).isEmpty();
        // It moves to another project after it was listed.
        CleanUp moving = cleanUp.telling(info -> {
            if (info.key().equals(keys.get(2))) {
                Logs.describe(log, keys.get(2), null, Map.of(PROJECT, "gemini"));
            }
        });
        assertThat(withoutLooked(moving.run("acme"))).isEqualTo(new CleanUp.Report(0, 2, 2, 0));
        assertThat(counted).containsExactly(log.backend(), log.backend());
        assertThat(keys("acme"))
                .hasSize(8)
                .contains("apollo, used", "apollo, moved", "gemini", "none")
                .doesNotContain("apollo");
        assertThat(cleanUp.run("acme").removed()).isZero();
        assertThat(cleanUp.run("other")).isEqualTo(new CleanUp.Report(0, 0, 0, 0));
        assertThrown(
                InvalidInputException.class,
                () -> cleanUp.withMetadata("undeclared", "x").run("acme"),
                "undeclared");
    }

    @Test
    void a19_a_dry_run_counts_what_a_run_removes_in_pages_and_logs_of_any_size() {
        try (MessageLog nodes = new InMemoryMessageLog()) {
            for (int batch : List.of(1, 2, 100)) {
                for (MessageLog second : List.of(log, nodes)) {
                    List<NodeKey> ofNodes = List.of(
                            NodeKey.of("acme", "app", "c1", "first"), NodeKey.of("acme", "app", "c1", "second"));
                    say(second, ofNodes.get(0));
                    say(CONVERSATION);
                    say(second, ofNodes.get(1));
                    expire(CONVERSATION, MemoryInfo.EXPIRE_AT, Instant.EPOCH.toString());
                    second.change(
                            ofNodes.get(1),
                            Change.Describe.merging(Map.of(MemoryInfo.EXPIRE_AFTER_USE, "PT0.000001S")));
                    CleanUp cleanUp = CleanUp.of(log, second).inBatchesOf(batch).at(tomorrow());
                    CleanUp.Report dry = cleanUp.dryRun().run("acme");
                    CleanUp.Report report = cleanUp.run("acme");
                    assertThat(report.removed()).isEqualTo(3).isEqualTo(dry.removed());
                    assertThat(report.messages()).isEqualTo(3).isEqualTo(dry.messages());
                    assertThat(report.looked()).isBetween(3L, 5L);
                    assertThat(report.failed()).isZero();
                    assertThat(keys("acme")).isEmpty();
                }
            }
        }
    }

    @Test
    void a19_nodes_that_cannot_be_read_go_with_their_conversation_or_are_reported() {
        List<NodeKey> nodes =
                List.of(NodeKey.of("acme", "app", "c1", "first"), NodeKey.of("acme", "app", "c1", "second"));
        say(CONVERSATION);
        nodes.forEach(this::say);
        expire(CONVERSATION, MemoryInfo.EXPIRE_AT, Instant.EPOCH.toString());
        MessageLog failing = new ForwardingMessageLog(log) {
            @Override
            public long erase(MemoryKey key) {
                if (key.equals(nodes.get(0))) {
                    throw new UnreadableDataException("damaged", null);
                }
                return super.erase(key);
            }
        };
        assertThat(withoutLooked(CleanUp.of(failing).run("acme"))).isEqualTo(new CleanUp.Report(0, 2, 2, 1));
        assertThat(log.history(nodes.get(1), HistoryQuery.newest(1)).messages()).isEmpty();
        assertThat(log.history(CONVERSATION, HistoryQuery.newest(1)).messages()).isEmpty();
    }

    @Test
    void a19_an_outage_between_nodes_and_conversation_is_continued_by_the_next_run() {
        NodeKey node = NodeKey.of("acme", "app", "c1", "writer");
        say(CONVERSATION);
        say(node);
        expire(CONVERSATION, MemoryInfo.EXPIRE_AT, Instant.EPOCH.toString());
        MessageLog failing = new ForwardingMessageLog(log) {
            @Override
            public long erase(MemoryKey key) {
                if (key.equals(node)) {
                    throw new StorageUnavailableException("down", null);
                }
                return super.erase(key);
            }
        };
        assertThatThrownBy(() -> CleanUp.of(failing).run("acme")).isInstanceOf(StorageUnavailableException.class);
        assertThat(CleanUp.of(log).run("acme").removed()).isEqualTo(2);
        assertThat(keys("acme")).isEmpty();
    }

    @Test
    void a19_a_memory_whose_expiry_is_changed_or_which_is_used_meanwhile_stays() {
        ConversationKey used = ConversationKey.of("acme", "used");
        ConversationKey usedAtLast = ConversationKey.of("acme", "used at last");
        ConversationKey prolonged = ConversationKey.of("acme", "prolonged");
        ConversationKey kept = ConversationKey.of("acme", "kept");
        ConversationKey moved = ConversationKey.of("acme", "moved");
        List<ConversationKey> keys = List.of(used, usedAtLast, prolonged, kept, moved);
        keys.forEach(this::say);
        Instant between = later();
        keys.forEach(key -> expire(key, MemoryInfo.EXPIRE_AFTER_USE, "PT1H"));
        expire(moved, MemoryInfo.EXPIRE_AFTER_USE, null);
        expire(moved, MemoryInfo.EXPIRE_AT, between.toString());
        MessageLog racing = new WatchedLog(log) {
            @Override
            protected void called(String method) {
                if (method.equals("eraseIfIdle")) {
                    say(usedAtLast);
                }
            }
        }.log();
        List<MemoryKey> madeErased = new ArrayList<>();
        Map<MemoryKey, Runnable> meanwhile = Map.of(
                used, () -> say(used),
                usedAtLast, () -> {},
                prolonged, () -> expire(prolonged, MemoryInfo.EXPIRE_AFTER_USE, "PT2H"),
                kept, () -> expire(kept, MemoryInfo.EXPIRE_AFTER_USE, null),
                moved, () -> expire(moved, MemoryInfo.EXPIRE_AT, "9999-12-31T00:00:00Z"));
        CleanUp.Report report = CleanUp.of(racing)
                .at(clock(between.plus(IDLE)))
                .alsoErasing(madeErased::add)
                .telling(info -> meanwhile.get(info.key()).run())
                .run("acme");
        assertThat(report).isEqualTo(new CleanUp.Report(5, 0, 0, 0));
        assertThat(madeErased).isEmpty();
        assertThat(keys("acme")).hasSize(5);
    }

    @Test
    void a19_what_is_said_while_its_memory_expires_stays() throws Exception {
        for (int i = 0; i < Counts.of(20, 1_000); i++) {
            ConversationKey key = ConversationKey.of("race " + i, "c");
            say(key);
            expire(key, MemoryInfo.EXPIRE_AFTER_USE, "PT1H");
            Instant between = later();
            long removed = removedWhile(key, CleanUp.of(log).at(clock(between.plus(IDLE))));
            assertThat(log.history(key, HistoryQuery.newest(5)).messages())
                    .as("race %s", i)
                    .hasSize(removed == 1 ? 1 : 2)
                    .last()
                    .extracting(LoggedMessage::id)
                    .isEqualTo("late");
            log.erase(key);
        }
    }

    @Test
    void a19_an_expiry_that_cannot_be_read_is_refused() {
        say(CONVERSATION);
        for (Map<String, String> wrong : List.of(
                Map.of(MemoryInfo.EXPIRE_AT, "tomorrow"),
                Map.of(MemoryInfo.EXPIRE_AFTER_USE, "30d"),
                Map.of(MemoryInfo.EXPIRE_AFTER_USE, "PT0S"),
                Map.of(MemoryInfo.EXPIRE_AFTER_USE, "-P1D"),
                Map.of(MemoryInfo.EXPIRE_AFTER_USE, "P365001D"))) {
            assertThrown(
                    InvalidInputException.class,
                    () -> Logs.describe(log, CONVERSATION, null, wrong),
                    "keepsake.expire.");
            assertThrown(InvalidInputException.class, () -> Append.underHead(
                            new NewMessage("x", user("hello"), 1, "test", null))
                    .creating(wrong));
        }
        assertThat(log.list("acme", ListQuery.first(9)).memories().get(0).metadata())
                .isEmpty();
    }

    /** A node's memory counts twice if the list has it before its conversation. Buckets list in another order. */
    private static CleanUp.Report withoutLooked(CleanUp.Report report) {
        return new CleanUp.Report(0, report.removed(), report.messages(), report.failed());
    }

    @Test
    void clean_ups_at_once_count_each_memory_once() throws Exception {
        int conversations = Counts.of(10, 30);
        for (boolean atTime : List.of(true, false)) {
            for (int i = 0; i < conversations; i++) {
                ConversationKey key = ConversationKey.of("acme", "c" + i);
                say(key);
                say(NodeKey.of("acme", "app", "c" + i, "writer"));
                expire(
                        key,
                        atTime ? MemoryInfo.EXPIRE_AT : MemoryInfo.EXPIRE_AFTER_USE,
                        atTime ? Instant.EPOCH.toString() : "PT1M");
            }
            CleanUp cleanUp = CleanUp.of(log).at(tomorrow());
            Queue<CleanUp.Report> reports = new ConcurrentLinkedQueue<>();
            CyclicBarrier start = new CyclicBarrier(3);
            Threads.run(3, thread -> {
                start.await();
                reports.add(cleanUp.run("acme"));
            });
            CleanUp.Report all = reports.stream().reduce(CleanUp.Report.NOTHING, CleanUp.Report::and);
            assertThat(withoutLooked(all)).isEqualTo(new CleanUp.Report(0, 2L * conversations, 2L * conversations, 0));
            assertThat(keys("acme")).isEmpty();
        }
        List.of(CONVERSATION, NodeKey.of("acme", "app", "c1", "writer")).forEach(this::say);
        Queue<CleanUp.Report> reports = new ConcurrentLinkedQueue<>();
        Threads.run(3, thread -> reports.add(CleanUp.of(log).conversation(CONVERSATION)));
        assertThat(reports.stream().mapToLong(CleanUp.Report::removed).sum()).isEqualTo(2);
    }

    private void expire(MemoryKey key, String name, @Nullable String text) {
        log.change(key, Change.Describe.merging(Collections.singletonMap(name, text)));
    }

    private static void meet(CyclicBarrier start) {
        try {
            start.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void a19_a_turn_that_began_before_its_memory_went_is_refused() {
        say(CONVERSATION);
        long epoch = log.read(CONVERSATION, ReadQuery.newest(1)).epoch();
        CleanUp.of(log).idleFor(IDLE).at(tomorrow()).run("acme");
        NewMessage late = new NewMessage("late", user("late"), 1, "test", null);
        assertThrown(
                ErasedException.class,
                () -> log.append(CONVERSATION, Append.underHead(late).inEpoch(epoch)));
    }

    @Test
    void a19_a_memory_that_cannot_be_read_stays_and_the_others_go() {
        say(ConversationKey.of("acme", "c0"));
        say(CONVERSATION);
        MessageLog log1 = new WatchedLog(log) {
            private int looked;

            @Override
            protected void called(String method) {
                if (method.equals("eraseIfIdle") && looked++ == 0) {
                    throw new UnreadableDataException("damaged", null);
                }
            }
        }.log();
        List<String> logged = Logged.during(
                () -> assertThat(CleanUp.of(log1).idleFor(IDLE).at(tomorrow()).run("acme"))
                        .isEqualTo(new CleanUp.Report(2, 1, 1, 1)));
        assertThat(keys("acme")).hasSize(1);
        assertThat(logged).singleElement().asString().contains("is not removed", "UnreadableDataException");
    }

    @Test
    void a19_an_outage_ends_the_run_with_an_error() {
        say(CONVERSATION);
        watched.fail("eraseIfIdle", new StorageUnavailableException("down", null));
        CleanUp cleanUp = CleanUp.of(watched.log()).idleFor(IDLE).at(tomorrow());
        assertThatThrownBy(() -> cleanUp.run("acme")).isInstanceOf(StorageUnavailableException.class);
        watched.fail("eraseIfIdle", null);
        assertThat(cleanUp.run("acme").removed()).isEqualTo(1);
    }

    @Test
    void a19_what_is_removed_is_counted_by_backend_and_metrics_that_fail_do_no_harm() {
        say(CONVERSATION);
        say(ConversationKey.of("acme", "c2"));
        List<String> counted = new ArrayList<>();
        Metrics metrics = new Metrics() {
            @Override
            public void memoryRemoved(String backend) {
                counted.add(backend);
                throw new IllegalStateException("no metrics today");
            }
        };
        CleanUp cleanUp = CleanUp.of(log).idleFor(IDLE).at(tomorrow()).metrics(metrics);
        assertThat(cleanUp.run("acme").removed()).isEqualTo(2);
        assertThat(counted).containsExactly(log.backend(), log.backend());
    }

    @Test
    void a19_wrong_settings_are_refused() {
        assertThatThrownBy(CleanUp::of).isInstanceOf(InvalidInputException.class);
        for (Runnable wrong : List.<Runnable>of(
                () -> CleanUp.of(log).idleFor(Duration.ZERO),
                () -> CleanUp.of(log).idleFor(Duration.ofDays(-1)),
                () -> CleanUp.of(log).inBatchesOf(0),
                () -> CleanUp.of(log).inBatchesOf(1001))) {
            assertThatThrownBy(wrong::run).isInstanceOf(InvalidInputException.class);
        }
        Duration forever = ChronoUnit.FOREVER.getDuration();
        say(CONVERSATION);
        assertThat(CleanUp.of(log)
                        .idleFor(forever)
                        .tombstonesFor(forever)
                        .run("acme")
                        .removed())
                .isZero();
    }

    private void say(MemoryKey key) {
        say(log, key);
    }

    private void say(MessageLog into, MemoryKey key) {
        into.append(key, Append.underHead(new NewMessage("m" + said++, user("hello"), 1, "test", null)));
    }

    /** Returns a moment after all appends so far and before all later ones. */
    private static Instant later() {
        Instant between = Instant.now().plusMillis(1);
        Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> Instant.now()
                .isAfter(between.plusMillis(1)));
        return between;
    }

    private static Clock clock(Instant now) {
        return Clock.fixed(now, ZoneOffset.UTC);
    }

    private static Clock tomorrow() {
        return clock(Instant.now().plus(Duration.ofDays(1)));
    }

    private List<String> keys(String tenant) {
        return log.list(tenant, ListQuery.first(100)).memories().stream()
                .map(MemoryInfo::key)
                .map(key ->
                        key instanceof NodeKey node ? node.conversationId() : ((ConversationKey) key).conversationId())
                .toList();
    }
}

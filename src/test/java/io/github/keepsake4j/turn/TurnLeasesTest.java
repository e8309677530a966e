package io.github.keepsake4j.turn;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.BareMemories;
import io.github.keepsake4j.chat.ChatMemories;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.TestClock;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.FakeTime;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.tokens.TokenCounter;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lease of a turn: renewal, loss, release and waiting. The time is fixed until a test moves it. */
@Timeout(600)
class TurnLeasesTest {

    private static final MemoryKey KEY = ConversationKey.of("default", "alice");
    private static final Duration LEASE = Duration.ofSeconds(60);
    private static final Duration WAIT = Duration.ofSeconds(600);

    private static final Duration LIMIT = Duration.ofMinutes(30);

    private final TestClock clock = new TestClock();
    private final FakeTime time = new FakeTime(clock);
    private final WatchedLog log = new WatchedLog(new InMemoryMessageLog(clock));
    private final Process here = new Process();
    private final Process elsewhere = new Process();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** The state of one process. Two processes share only the log and the time. */
    private final class Process {

        final FakeTime.Timer timer = time.new Timer();
        final TurnLeases turns = new TurnLeases(
                key -> log.log(),
                TurnPolicy.KEEP,
                new TurnLeases.Times(LEASE, LIMIT, WAIT, timer::after, time::nanoTime));
        private final ChatMemories memories = BareMemories.of(
                key -> log.log(),
                id -> KEY,
                SlidingWindow.withMaxMessages(50),
                TokenCounter.standard(),
                Runnable::run,
                null,
                Metrics.NONE);

        KeepsakeChatMemory memory() {
            return memories.memory("alice", KEY);
        }

        boolean canBeginOnAnotherThread() {
            try {
                return threads.submit(this::canBegin).get();
            } catch (InterruptedException | ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }

        boolean canBegin() {
            try {
                turns.open(KEY, TurnPolicy.REJECT).close();
                return true;
            } catch (TurnConflictException e) {
                return false;
            }
        }
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
    }

    @Test
    void a_model_call_of_three_leases_keeps_others_out_all_the_time() throws Exception {
        TurnHandle turn = here.turns.open(KEY, TurnPolicy.REJECT);
        Future<String> waiting = threads.submit(() -> elsewhere.turns.run(KEY, TurnPolicy.WAIT, () -> "next"));
        log.awaitRefusal();
        for (Duration passed = Duration.ZERO;
                passed.compareTo(LEASE.multipliedBy(3)) < 0;
                passed = passed.plusSeconds(1)) {
            time.advance(Duration.ofSeconds(1));
            assertThat(elsewhere.canBegin()).as("after %s", passed).isFalse();
            assertThat(here.canBegin()).isFalse();
        }
        assertThat(waiting).isNotDone();
        turn.close();

        assertThat(waiting.get()).isEqualTo("next");
    }

    @Test
    void a_process_that_is_killed_in_a_long_model_call_blocks_others_no_longer_than_one_lease() {
        TurnHandle killed = here.turns.open(KEY, TurnPolicy.REJECT);
        assertThat(killed).isNotNull();
        time.advance(LEASE.multipliedBy(2));
        here.timer.suspend();
        assertThat(elsewhere.canBegin()).isFalse();

        time.advance(LEASE);

        assertThat(elsewhere.canBegin()).isTrue();
    }

    @Test
    void an_outage_of_five_seconds_at_the_end_blocks_others_no_longer_than_it_and_a_second() {
        String warnings = warnings(() -> {
            here.turns.run(KEY, TurnPolicy.REJECT, () -> {
                log.fail("releaseLease", new StorageUnavailableException("down", null));
                return null;
            });
            time.advance(Duration.ofSeconds(5));
        });
        log.fail("releaseLease", null);
        time.advance(Duration.ofMillis(750));

        assertThat(elsewhere.canBegin()).isTrue();
        assertThat(warnings).containsOnlyOnce("could not be released");
        time.advance(LEASE);
        assertThat(time.planned())
                .as("work that is planned when nothing is left")
                .isZero();
    }

    @Test
    void a_process_takes_over_from_its_own_turn_that_is_over_but_not_from_one_that_runs() {
        TurnHandle running = here.turns.open(KEY, TurnPolicy.REJECT);
        assertThat(here.canBegin()).as("a second click").isFalse();
        log.fail("releaseLease", new StorageUnavailableException("down", null));
        running.close();
        log.fail("releaseLease", null);

        assertThat(elsewhere.canBegin()).isFalse();
        assertThat(here.canBegin()).isTrue();
        assertThat(elsewhere.canBegin()).isTrue();
    }

    @Test
    void a_turn_whose_lease_was_taken_but_the_answer_was_lost_blocks_nobody() {
        log.loseAnswer("acquireLease");
        assertThrown(StorageUnavailableException.class, () -> here.turns.run(KEY, TurnPolicy.REJECT, () -> "not run"));
        assertThat(elsewhere.canBegin()).isFalse();
        time.advance(Duration.ofSeconds(1));

        assertThat(elsewhere.canBegin()).isTrue();
    }

    @Test
    void an_answer_that_is_lost_behind_a_call_that_failed_blocks_nobody() {
        log.fail("releaseLease", new StorageUnavailableException("down", null));
        log.fail("acquireLease", new StorageUnavailableException("down", null));
        assertThrown(StorageUnavailableException.class, () -> here.turns.open(KEY, TurnPolicy.REJECT));
        log.fail("acquireLease", null);
        log.loseAnswer("acquireLease");
        assertThrown(StorageUnavailableException.class, () -> here.turns.open(KEY, TurnPolicy.REJECT));
        log.fail("releaseLease", null);
        time.advance(Duration.ofSeconds(1));

        assertThat(time.planned()).isZero();
        assertThat(elsewhere.canBegin()).isTrue();
    }

    @Test
    void a_turn_whose_storage_hangs_does_not_wait_for_it_again_at_its_end() {
        StorageUnavailableException down = new StorageUnavailableException("down", null);
        log.fail("releaseLease", down);
        assertThatThrownBy(() -> here.turns.run(KEY, TurnPolicy.REJECT, () -> {
                    throw down;
                }))
                .isSameAs(down);
        assertThat(log.calls("releaseLease")).as("on the caller's thread").isZero();
        log.fail("releaseLease", null);
        time.advance(Duration.ofSeconds(1));

        assertThat(elsewhere.canBegin()).isTrue();
    }

    @Test
    void a_lease_that_could_not_be_released_is_not_waited_for_in_an_outage() {
        TurnHandle before = here.turns.open(KEY, TurnPolicy.REJECT);
        log.fail("releaseLease", new StorageUnavailableException("down", null));
        log.fail("acquireLease", new StorageUnavailableException("down", null));
        before.close();
        long released = log.calls("releaseLease");
        assertThrown(StorageUnavailableException.class, () -> here.turns.open(KEY, TurnPolicy.REJECT));

        assertThat(log.calls("releaseLease")).isEqualTo(released);
    }

    @Test
    void turns_with_a_long_lease_do_not_stay_in_memory_when_they_are_over() {
        TurnLeases turns = new TurnLeases(
                key -> log.log(),
                TurnPolicy.REJECT,
                new TurnLeases.Times(Duration.ofDays(1), LIMIT, WAIT, here.timer::after, time::nanoTime));
        for (int i = 0; i < 1_000; i++) {
            turns.run(KEY, null, () -> null);
        }
        TurnHandle running = turns.open(KEY, null);
        time.advance(Duration.ofSeconds(15));
        assertThat(time.planned()).as("the one that runs").isOne();
        assertThat(elsewhere.canBegin()).isFalse();
        time.advance(LIMIT);
        assertThat(log.calls("acquireLease")).as("not renewed in between").isEqualTo(1_002);
        assertThat(time.planned()).isZero();
        running.close();
    }

    @Test
    void many_turns_that_cannot_begin_plan_one_release() {
        log.fail("acquireLease", new StorageUnavailableException("down", null));
        log.fail("releaseLease", new StorageUnavailableException("down", null));
        for (int i = 0; i < 100; i++) {
            assertThrown(StorageUnavailableException.class, () -> here.turns.open(KEY, TurnPolicy.REJECT));
        }
        assertThat(time.planned()).isEqualTo(1);
        time.advance(LEASE.plusSeconds(1));
        assertThat(time.planned()).as("the lease has expired").isZero();
    }

    @Test
    void a_lease_is_renewed_when_a_quarter_of_it_has_passed_and_not_after_the_turn() {
        TurnHandle turn = here.turns.open(KEY, TurnPolicy.WAIT);
        time.advance(LEASE.dividedBy(4).minusMillis(1));
        assertThat(log.calls("acquireLease")).isEqualTo(1);
        time.advance(Duration.ofMillis(1));
        assertThat(log.calls("acquireLease")).isEqualTo(2);
        time.advance(LEASE);
        assertThat(log.calls("acquireLease")).isEqualTo(6);
        turn.close();
        time.advance(LEASE);
        assertThat(log.calls("acquireLease")).isEqualTo(6);
        assertThat(log.calls("releaseLease")).isEqualTo(1);
        assertThat(time.planned()).isZero();
    }

    @Test
    void a_turn_that_hangs_blocks_others_no_longer_than_its_limit() {
        TurnHandle hung = here.turns.open(KEY, TurnPolicy.REJECT);
        time.advance(LIMIT.minusMillis(1));
        assertThat(elsewhere.canBegin()).isFalse();
        String warnings = warnings(() -> time.advance(Duration.ofMillis(1)));

        assertThat(elsewhere.canBegin()).isTrue();
        assertThat(warnings).containsOnlyOnce("takes longer than its limit").contains("alice");
        time.advance(LEASE);
        assertThat(time.planned()).isZero();
        try (TurnHandle next = elsewhere.turns.open(KEY, TurnPolicy.REJECT)) {
            assertThat(next).isNotNull();
            hung.close();
            assertThat(here.canBegin()).as("the late end of the hung turn").isFalse();
        }
    }

    @Test
    void a_turn_of_a_process_that_slept_loses_its_lease_goes_on_and_does_not_take_it_back() {
        KeepsakeChatMemory mine = here.memory();
        KeepsakeChatMemory theirs = elsewhere.memory();
        String warnings = warnings(() -> here.turns.run(KEY, TurnPolicy.REJECT, () -> {
            mine.add(user("mine"));
            here.timer.suspend();
            time.advance(LEASE);
            return elsewhere.turns.run(KEY, TurnPolicy.REJECT, () -> {
                here.timer.resume();
                time.advance(LEASE.dividedBy(2));
                theirs.add(user("theirs"));
                mine.add(ai("to mine"));
                theirs.add(ai("to theirs"));
                time.advance(LEASE.multipliedBy(2));
                assertThat(here.canBeginOnAnotherThread())
                        .as("the others keep it")
                        .isFalse();
                return null;
            });
        }));

        assertThat(history()).containsExactly(user("mine"), user("theirs"), ai("to mine"), ai("to theirs"));
        assertThat(warnings.lines().filter(line -> line.contains("outlived its lease")))
                .hasSize(1)
                .allMatch(line -> line.contains("alice") && !line.contains("mine"));
        assertThat(here.canBegin()).isTrue();
    }

    @Test
    void within_one_process_a_turn_that_lost_its_lease_leaves_the_next_ones_alone() {
        TurnHandle stuck = here.turns.open(KEY, TurnPolicy.REJECT);
        here.timer.suspend();
        time.advance(LEASE);
        TurnHandle next = here.turns.open(KEY, TurnPolicy.REJECT);
        here.timer.resume();
        String warnings = warnings(() -> {
            stuck.close();
            stuck.close();
            assertThat(here.canBegin()).isFalse();
            time.advance(LEASE.multipliedBy(2));
            assertThat(elsewhere.canBegin()).as("the newer turn is renewed").isFalse();
            next.close();
        });
        assertThat(warnings).isEmpty();
        assertThat(elsewhere.canBegin()).isTrue();
    }

    @Test
    void a_turn_within_a_turn_only_runs_and_does_not_end_it() {
        for (TurnPolicy policy : List.of(TurnPolicy.REJECT, TurnPolicy.WAIT)) {
            String result = here.turns.run(KEY, policy, () -> {
                String inner = here.turns.run(KEY, policy, () -> here.turns.run(KEY, policy, () -> "inner"));
                assertThat(elsewhere.canBegin()).isFalse();
                return inner + " and outer";
            });
            assertThat(result).isEqualTo("inner and outer");
            assertThat(elsewhere.canBegin()).isTrue();
        }
        assertThat(log.calls("acquireLease"))
                .as("two turns, and those of elsewhere")
                .isEqualTo(2 + 4);
    }

    @Test
    void a_turn_within_a_turn_that_lost_its_lease_runs_too() {
        here.turns.run(KEY, TurnPolicy.REJECT, () -> {
            here.timer.suspend();
            time.advance(LEASE);
            try (TurnHandle other = elsewhere.turns.open(KEY, TurnPolicy.REJECT)) {
                assertThat(other).isNotNull();
                assertThat(here.turns.<String>run(KEY, TurnPolicy.REJECT, () -> "inner"))
                        .isEqualTo("inner");
            }
            return null;
        });
    }

    @Test
    void a_handle_that_was_opened_within_a_turn_prolongs_it_and_belongs_to_no_thread() {
        TurnHandle handle = here.turns.run(KEY, TurnPolicy.REJECT, () -> here.turns.open(KEY, TurnPolicy.REJECT));
        assertThat(elsewhere.canBegin()).as("while the handle is open").isFalse();
        assertThat(here.canBegin()).as("on the handle's thread").isFalse();
        handle.close();
        assertThat(elsewhere.canBegin()).isTrue();
    }

    @Test
    void an_error_of_the_body_comes_through_as_it_is_and_ends_the_turn() {
        for (Throwable error : List.of(new IllegalStateException("out of order"), new AssertionError("wrong"))) {
            assertThatThrownBy(() -> here.turns.run(KEY, TurnPolicy.WAIT, () -> {
                        throw sneaky(error);
                    }))
                    .isSameAs(error)
                    .hasNoSuppressedExceptions();
            assertThat(elsewhere.canBegin()).isTrue();
        }
    }

    @Test
    void a_lease_that_cannot_be_given_back_hides_neither_result_nor_error_and_expires() {
        IllegalStateException error = new IllegalStateException("out of order");
        log.fail("releaseLease", new StorageUnavailableException("down", null));
        String warnings = warnings(() -> {
            assertThat(here.turns.<String>run(KEY, TurnPolicy.REJECT, () -> "result"))
                    .isEqualTo("result");
            time.advance(LEASE);
            assertThatThrownBy(() -> here.turns.run(KEY, TurnPolicy.REJECT, () -> {
                        throw error;
                    }))
                    .isSameAs(error)
                    .hasNoSuppressedExceptions();
            assertThat(elsewhere.canBegin()).isFalse();
            time.advance(LEASE);
            assertThat(elsewhere.canBegin()).isTrue();
        });

        assertThat(warnings.split("could not be released", -1)).hasSizeGreaterThanOrEqualTo(3);
        assertThat(warnings).doesNotContain("outlived");
    }

    @Test
    void a_renewal_that_fails_is_tried_again_and_fails_nothing() {
        KeepsakeChatMemory memory = here.memory();
        String warnings = warnings(() -> here.turns.run(KEY, TurnPolicy.REJECT, () -> {
            log.fail("acquireLease", new StorageUnavailableException("down", null));
            time.advance(LEASE.minusSeconds(1));
            memory.add(user("during the outage"));
            log.fail("acquireLease", null);
            time.advance(Duration.ofMillis(500));
            memory.add(ai("after it"));
            time.advance(LEASE.multipliedBy(2));
            assertThat(elsewhere.canBegin()).isFalse();
            return null;
        }));
        assertThat(history()).containsExactly(user("during the outage"), ai("after it"));
        assertThat(warnings).containsOnlyOnce("could not be renewed");
    }

    @Test
    void a_body_whose_turn_could_not_begin_is_not_run() {
        log.fail("acquireLease", new StorageUnavailableException("down", null));
        for (TurnPolicy policy : List.of(TurnPolicy.REJECT, TurnPolicy.WAIT)) {
            assertThrown(
                    StorageUnavailableException.class,
                    () -> here.turns.run(KEY, policy, () -> {
                        throw new AssertionError("was run");
                    }));
        }
    }

    @Test
    void an_interrupted_wait_ends_at_once_and_leaves_nothing_behind() throws Exception {
        TurnHandle first = here.turns.open(KEY, TurnPolicy.REJECT);
        AtomicReference<Thread> waiting = new AtomicReference<>();
        CountDownLatch flag = new CountDownLatch(1);
        Future<?> second = threads.submit(() -> {
            waiting.set(Thread.currentThread());
            try {
                here.turns.run(KEY, TurnPolicy.WAIT, () -> {
                    throw new AssertionError("was run");
                });
            } finally {
                if (Thread.currentThread().isInterrupted()) {
                    flag.countDown();
                }
            }
        });
        log.awaitRefusal();
        waiting.get().interrupt();

        assertThrown(ExecutionException.class, second::get)
                .cause()
                .isInstanceOf(TurnConflictException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(flag.await(2, TimeUnit.MINUTES)).as("still interrupted").isTrue();
        first.close();
        assertThat(here.canBegin()).isTrue();
        assertThat(here.turns.<String>run(KEY, TurnPolicy.WAIT, () -> "next")).isEqualTo("next");
    }

    /** Connection pools such as HikariCP refuse an interrupted thread. */
    @Test
    void a_turn_that_was_interrupted_gives_its_lease_back_and_stays_interrupted() {
        AtomicReference<Boolean> during = new AtomicReference<>();
        WatchedLog picky = new WatchedLog(log.log()) {
            @Override
            protected void called(String method) {
                if (method.equals("releaseLease")) {
                    during.set(Thread.currentThread().isInterrupted());
                }
            }
        };
        Keepsake keepsake = Keepsake.builder().messageLog(picky.log()).build();
        keepsake.turn("alice", TurnPolicy.REJECT, () -> {
            Thread.currentThread().interrupt();
            return null;
        });
        assertThat(Thread.interrupted()).isTrue();
        assertThat(during).hasValue(false);
        assertThat(here.canBegin()).isTrue();
    }

    @Test
    void a_wait_ends_with_a_conflict_when_its_time_is_up() throws Exception {
        TurnHandle first = here.turns.open(KEY, TurnPolicy.REJECT);
        Future<?> second = threads.submit(() -> elsewhere.turns.run(KEY, TurnPolicy.WAIT, () -> "not run"));
        log.awaitRefusal();
        for (Duration passed = Duration.ZERO; passed.compareTo(WAIT) < 0; passed = passed.plusSeconds(30)) {
            assertThat(second).isNotDone();
            time.advance(Duration.ofSeconds(30));
        }
        assertThatThrownBy(second::get).cause().isInstanceOf(TurnConflictException.class);
        first.close();

        Keepsake impatient = Keepsake.builder()
                .messageLog(log.log())
                .turnPolicy(TurnPolicy.WAIT)
                .turnWait(Duration.ZERO)
                .build();
        assertThat(impatient.<String>turn("alice", () -> "free")).isEqualTo("free");
        TurnHandle again = here.turns.open(KEY, TurnPolicy.REJECT);
        assertThatThrownBy(() -> impatient.turn("alice", () -> "not run")).isInstanceOf(TurnConflictException.class);
        again.close();
    }

    @Test
    void who_waits_for_a_turn_that_died_begins_when_its_lease_expires() throws Exception {
        TurnHandle dead = here.turns.open(KEY, TurnPolicy.REJECT);
        assertThat(dead).isNotNull();
        here.timer.suspend();
        Future<String> next = threads.submit(() -> elsewhere.turns.run(KEY, TurnPolicy.WAIT, () -> "next"));
        log.awaitRefusal();
        time.advance(LEASE.minusMillis(1));
        log.awaitRefusal();
        log.awaitRefusal();
        assertThat(next).isNotDone();
        time.advance(Duration.ofMillis(1));
        assertThat(next.get()).isEqualTo("next");
    }

    @Test
    void turns_of_one_process_wait_in_order_of_arrival_and_only_the_first_asks_the_log() throws Exception {
        int waiters = 8;
        TurnHandle first = here.turns.open(KEY, TurnPolicy.REJECT);
        List<Integer> order = new CopyOnWriteArrayList<>();
        CountDownLatch done = new CountDownLatch(waiters);
        for (int i = 0; i < waiters; i++) {
            int number = i;
            Thread thread = new Thread(() -> here.turns.run(KEY, TurnPolicy.WAIT, () -> {
                order.add(number);
                done.countDown();
                return null;
            }));
            thread.start();
            if (i == 0) {
                log.awaitRefusal();
            } else {
                await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
            }
        }
        first.close();

        assertThat(done.await(2, TimeUnit.MINUTES)).isTrue();
        assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    }

    @Test
    void a_wait_does_not_spin() throws Exception {
        TurnHandle first = here.turns.open(KEY, TurnPolicy.REJECT);
        // The time is taken before the wait, so that a busy machine can only make the measured time longer.
        long begin = System.nanoTime();
        Future<?> second = threads.submit(() -> here.turns.run(KEY, TurnPolicy.WAIT, () -> null));
        log.awaitRefusal();
        await().until(() -> log.calls("acquireLease") >= 10);
        // The pauses are 10, 20, 40 ... 250 ms, and jitter leaves at least half of each.
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofMillis(500));
        first.close();
        second.get();
    }

    @Test
    void keep_asks_the_log_nothing() {
        Keepsake keepsake = Keepsake.builder().messageLog(log.log()).build();
        try (TurnHandle other = here.turns.open(KEY, TurnPolicy.REJECT)) {
            assertThat(other).isNotNull();
            log.calls().clear();
            assertThat(keepsake.<String>turn("alice", () -> "kept")).isEqualTo("kept");
            keepsake.openTurn("alice").close();
            assertThat(log.calls()).isEmpty();
        }
    }

    @Test
    void the_builder_sets_the_policy_and_42_is_one_conversation() {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log.log())
                .turnPolicy(TurnPolicy.REJECT)
                .build();
        try (TurnHandle turn = keepsake.openTurn(42L)) {
            assertThat(turn).isNotNull();
            assertThatThrownBy(() -> keepsake.turn("42", () -> "not run")).isInstanceOf(TurnConflictException.class);
            assertThatThrownBy(() -> keepsake.openTurn("42")).isInstanceOf(TurnConflictException.class);
            assertThat(keepsake.<String>turn("42", TurnPolicy.KEEP, () -> "kept"))
                    .isEqualTo("kept");
        }
        keepsake.openTurn("42").close();
    }

    @Test
    void durations_out_of_range_are_refused() {
        Keepsake.Builder builder = Keepsake.builder().messageLog(log.log());
        for (Duration lease : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofDays(2))) {
            assertThrown(
                    InvalidInputException.class, () -> builder.turnLease(lease).build(), "turnLease");
        }
        builder.turnLease(LEASE);
        for (Duration limit : List.of(Duration.ZERO, Duration.ofDays(2))) {
            assertThrown(
                    InvalidInputException.class, () -> builder.turnLimit(limit).build(), "turnLimit");
        }
        builder.turnLimit(LIMIT);
        for (Duration wait : List.of(Duration.ofMillis(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
            assertThrown(
                    InvalidInputException.class, () -> builder.turnWait(wait).build(), "turnWait");
        }
    }

    private List<ChatMessage> history() {
        return Dialogue.history(here.memories.conversation(KEY, KEY));
    }

    /** Returns the warnings that are logged during some work. */
    private static String warnings(Runnable work) {
        PrintStream before = System.err;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            work.run();
        } finally {
            System.setErr(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException sneaky(Throwable error) throws E {
        throw (E) error;
    }
}

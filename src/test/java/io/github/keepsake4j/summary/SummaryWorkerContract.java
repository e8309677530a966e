package io.github.keepsake4j.summary;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.SECRET;
import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.TestClock;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.summary.SummaryFailedException.Kind;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks that each summary is made exactly once, whichever process makes it and whatever fails in the meantime. Runs on
 * every kind of log.
 */
@Timeout(600)
abstract class SummaryWorkerContract {

    private static final String MARK = "[summary]";
    /** Only a hang takes so long. */
    static final Duration SOON = Duration.ofMinutes(2);

    /** A time limit that a call only exceeds if it hangs; who finds the lease taken looks again when it is over. */
    private static final Duration SHORT = Duration.ofSeconds(2);

    private static final Executor THREADS = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "summaries");
        thread.setDaemon(true);
        return thread;
    });

    final ScriptedSummarizer summarizer = new ScriptedSummarizer();
    final ConcurrentLinkedQueue<String> measured = new ConcurrentLinkedQueue<>();
    final Metrics metrics = new Metrics() {
        @Override
        public void summaryMade(String backend, long tokensFolded, long tokensSent) {
            measured.add("made " + tokensFolded);
            throw new IllegalStateException("a sink that throws costs nothing");
        }

        @Override
        public void summaryFailed(String backend, String kind) {
            measured.add("failed " + kind);
        }
    };

    MessageLog log;
    MessageLog other;

    /** Opens a log on the storage of this test, as another process would open it. */
    abstract MessageLog open() throws Exception;

    @BeforeEach
    void openLogs() throws Exception {
        log = open();
        other = open();
    }

    @AfterEach
    void closeLogs() {
        log.close();
        other.close();
    }

    @Test
    void a_summary_covers_what_was_planned_and_builds_on_the_one_before() throws Exception {
        append(1, 12);
        SummaryWorker worker = worker(log);

        worker.due(KEY, plan(4));
        ImpatientWorker.awaitIdle(worker);
        append(13, 20);
        worker.due(KEY, plan(4));
        ImpatientWorker.awaitIdle(worker);

        assertThat(covered()).containsExactly("m8", "m16");
        assertThat(Logs.summaries(log, KEY))
                .extracting(Summary::replacedMessages)
                .containsExactly(8L, 16L);
        assertThat(Logs.summaries(log, KEY)).extracting(Summary::replacedTokens).containsExactly(80L, 160L);
        assertThat(Logs.summaries(log, KEY)).extracting(Summary::model).containsOnly("scripted");
        assertThat(Logs.summaries(log, KEY)).extracting(Summary::tokens).containsOnly(2);
        assertThat(summarizer.allTexts()).isEqualTo(texts(1, 16));
        assertThat(measured).containsExactly("made 80", "made 80");
    }

    @Test
    void two_processes_make_each_summary_once() throws Exception {
        int rounds = Counts.of(4, 100);
        SummaryWorker.Options options = options(Duration.ofSeconds(5), 3);
        List<SummaryWorker> workers = List.of(worker(log, options), worker(other, options));
        List<Supplier<Optional<SummaryTask>>> plans =
                List.of(new AllButNewest(log, KEY, 4, 3), new AllButNewest(other, KEY, 4, 3));
        for (int round = 0; round < rounds; round++) {
            append(round * 5 + 1, round * 5 + 5);
            CompletableFuture<?>[] turns = IntStream.range(0, 8)
                    .mapToObj(turn -> CompletableFuture.runAsync(
                            () -> workers.get(turn % 2).due(KEY, plans.get(turn % 2)), THREADS))
                    .toArray(CompletableFuture[]::new);
            CompletableFuture.allOf(turns).join();
        }
        for (SummaryWorker worker : workers) {
            ImpatientWorker.awaitIdle(worker);
        }

        int last = rounds * 5 - 4;
        assertThat(summarizer.allTexts()).isEqualTo(texts(1, last));
        List<Summary> summaries = Logs.summaries(log, KEY);
        assertThat(summaries).hasSameSizeAs(summarizer.calls);
        assertThat(summaries.get(summaries.size() - 1).replacedMessages()).isEqualTo(last);
        assertThat(covered()).doesNotHaveDuplicates().endsWith("m" + last);
    }

    @ParameterizedTest
    @ValueSource(strings = {"throws", "error", "hangs", "deaf", "blank", "null", "long", "mark"})
    void a_summarizer_that_fails_changes_nothing_and_a_later_success_heals(String how) throws Exception {
        append(1, 12);
        boolean hangs = how.equals("hangs") || how.equals("deaf");
        SummaryWorker worker = worker(log, options(hangs ? Duration.ofMillis(200) : SOON, 2));
        AtomicBoolean broken = new AtomicBoolean(true);
        CountDownLatch end = new CountDownLatch(1);
        summarizer.script = () -> broken.get() ? broken(how, end) : "healed";

        String logged = logged(() -> {
            worker.due(KEY, plan(4));
            ImpatientWorker.awaitIdle(worker);
            worker.due(KEY, plan(4));
            ImpatientWorker.awaitIdle(worker);
        });

        assertThat(Logs.summaries(log, KEY)).isEmpty();
        String kind =
                switch (how) {
                    case "throws", "error" -> "thrown";
                    case "hangs", "deaf" -> "timeout";
                    case "blank", "null" -> "blank";
                    case "long" -> "too_long";
                    default -> "marked";
                };
        // There are two attempts at first, then one for each time that a summary becomes due.
        assertThat(measured).containsExactly("failed " + kind, "failed " + kind, "failed " + kind);
        // Work that another test has left behind may be logged meanwhile.
        assertThat(logged.lines().filter(line -> line.contains("WARN " + SummaryWorker.class.getName())))
                .singleElement()
                .asString()
                .contains(KEY.canonical(), kind);
        assertThat(logged).doesNotContain(SECRET).doesNotContain("\tat ");

        broken.set(false);
        do {
            worker.due(KEY, plan(4));
            ImpatientWorker.awaitIdle(worker);
            // A busy machine may exceed the short limit of a call, too.
        } while (hangs && Logs.summaries(log, KEY).isEmpty());
        end.countDown();
        assertThat(Logs.summaries(log, KEY)).extracting(Summary::text).containsExactly("healed");
        assertThat(covered()).containsExactly("m8");
    }

    @Test
    @ExpectedLog("was made (")
    void a_failure_is_tried_again_by_itself() throws Exception {
        append(1, 12);
        AtomicInteger tries = new AtomicInteger();
        summarizer.script = () -> {
            if (tries.incrementAndGet() < 3) {
                throw new IllegalStateException(SECRET);
            }
            return "third";
        };
        SummaryWorker worker = worker(log, options(SOON, 3));

        worker.due(KEY, plan(4));

        ImpatientWorker.awaitIdle(worker);
        assertThat(Logs.summaries(log, KEY)).extracting(Summary::text).containsExactly("third");
    }

    @Test
    @ExpectedLog("was made (too_long)")
    void a_summary_that_is_refused_as_too_long_is_followed_by_smaller_pieces() throws Exception {
        append(1, 44);
        summarizer.script = () -> {
            List<String> asked = summarizer.calls.get(summarizer.calls.size() - 1);
            if (asked.size() > 10) {
                throw new SummaryFailedException(Kind.TOO_LONG, "too long", null);
            }
            return "of " + asked.size();
        };
        SummaryWorker worker = worker(log, options(SOON, 3));

        worker.due(KEY, plan(4));
        ImpatientWorker.awaitIdle(worker);

        assertThat(summarizer.calls).extracting(List::size).containsExactly(40, 20, 10, 10, 10, 10);
        assertThat(measured).startsWith("failed too_long", "failed too_long", "made 100");
        assertThat(covered()).containsExactly("m10", "m20", "m30", "m40");
    }

    @Test
    @ExpectedLog("was made (too_long)")
    void a_model_that_answers_at_too_much_length_is_asked_for_less() throws Exception {
        append(1, 44);
        List<String> instructions = new CopyOnWriteArrayList<>();
        ModelSummarizer model = ModelSummarizer.builder(ChatModelMock.thatResponds(request -> {
                    String rules = ((SystemMessage) request.messages().get(0)).text();
                    instructions.add(rules);
                    return AiMessage.from(WordCounter.words("w", rules.contains("at most 100 tokens") ? 300 : 20));
                }))
                .maxSummaryTokens(100)
                .build();
        SummaryWorker worker = new SummaryWorker(key -> log, model, counter(), THREADS, metrics, options(SOON, 3));

        worker.due(KEY, plan(4));
        ImpatientWorker.awaitIdle(worker);

        assertThat(instructions.get(0)).contains("at most 100 tokens").doesNotContain("refused");
        assertThat(instructions.get(1)).contains("at most 50 tokens").contains("refused because it was too long");
        assertThat(covered()).containsExactly("m20", "m40");
    }

    @Test
    void what_arrives_while_the_summarizer_thinks_is_not_covered() throws Exception {
        append(1, 12);
        CountDownLatch arrived = new CountDownLatch(1);
        summarizer.script = () -> {
            arrived.await();
            return "short";
        };
        SummaryWorker worker = worker(log);
        worker.due(KEY, plan(4));
        summarizer.asked.await();
        append(13, 32);
        assertThat(covered()).isEmpty();
        // This is not reported again: the plan is called once more anyway, and its next task begins where this one
        // ended.
        arrived.countDown();

        ImpatientWorker.awaitIdle(worker);
        assertThat(covered()).containsExactly("m8", "m28");
        assertThat(summarizer.allTexts()).isEqualTo(texts(1, 28));
    }

    /** Has a summary made by one call of the summarizer, and returns what is logged. */
    final String loggedByOneCall() throws Exception {
        SummaryWorker worker = worker(log);
        String logged = logged(() -> {
            worker.due(KEY, plan(4));
            ImpatientWorker.awaitIdle(worker);
        });
        assertThat(summarizer.calls).hasSize(1);
        return logged;
    }

    @Test
    void a_memory_erased_meanwhile_gets_no_summary() throws Exception {
        append(1, 12);
        summarizer.script = () -> {
            other.erase(KEY);
            return "short";
        };
        String logged = loggedByOneCall();

        assertThat(Logs.summaries(log, KEY)).isEmpty();
        assertThat(logged).isEmpty();
    }

    @Test
    void an_answer_is_thrown_away_when_the_lease_is_lost() throws Exception {
        append(1, 12);
        AtomicInteger asked = new AtomicInteger();
        List<Integer> beforeSecondLook = new CopyOnWriteArrayList<>();
        MessageLog loses = intercepted((method, result) -> {
            if (!method.equals("acquireLease")) {
                return result;
            }
            int time = asked.incrementAndGet();
            if (time == 3) {
                beforeSecondLook.addAll(List.of(
                        summarizer.calls.size(), Logs.summaries(log, KEY).size()));
            }
            return time == 2 ? java.util.Optional.empty() : result;
        });
        SummaryWorker worker = worker(loses, options(SHORT, 2));

        worker.due(KEY, new AllButNewest(loses, KEY, 4));

        ImpatientWorker.awaitIdle(worker);
        assertThat(beforeSecondLook).as("calls and summaries").containsExactly(1, 0);
        // The second check finds that the previous holder of the lease did not make the summary.
        assertThat(covered()).containsExactly("m8");
    }

    @Test
    void an_answer_is_thrown_away_when_the_machine_slept_longer_than_the_lease() throws Exception {
        append(1, 12);
        TestClock clock = new TestClock();
        summarizer.script = () -> {
            clock.advance(Duration.ofHours(1));
            return "short";
        };
        SummaryWorker worker = worker(log, options(SHORT, 2, clock));

        worker.due(KEY, plan(4));

        ImpatientWorker.awaitIdle(worker);
        assertThat(Logs.summaries(log, KEY)).isEmpty();
        assertThat(summarizer.calls).hasSize(2);
    }

    @Test
    void work_of_a_holder_that_died_is_taken_over_when_its_lease_is_over() throws Exception {
        append(1, 12);
        SummaryWorker worker = worker(log, options(SHORT, 2));
        other.acquireLease(KEY, "summary", "dead", SHORT);

        worker.due(KEY, plan(4));

        ImpatientWorker.awaitIdle(worker);
        assertThat(covered()).containsExactly("m8");
        assertThat(measured).containsExactly("made 80");
    }

    @Test
    void a_lease_that_is_renewed_is_left_alone() throws Exception {
        append(1, 12);
        SummaryWorker worker = worker(log, options(Duration.ofMillis(100), 2));
        other.acquireLease(KEY, "summary", "alive", Duration.ofMinutes(5));

        worker.due(KEY, plan(4));

        ImpatientWorker.awaitIdle(worker);
        assertThat(summarizer.calls).isEmpty();
        assertThat(measured).isEmpty();
    }

    @Test
    void telling_that_one_is_due_touches_no_storage_and_never_throws() throws Exception {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        MessageLog watched = intercepted((method, result) -> {
            threads.add(Thread.currentThread());
            return result;
        });
        append(1, 12);
        SummaryWorker worker = worker(watched);
        worker.due(KEY, new AllButNewest(watched, KEY, 4));
        ImpatientWorker.awaitIdle(worker);
        assertThat(threads).isNotEmpty().doesNotContain(Thread.currentThread());

        SummaryWorker refused = new SummaryWorker(
                key -> log,
                summarizer,
                counter(),
                work -> {
                    throw new RejectedExecutionException("shut down");
                },
                metrics,
                options(SOON, 2));
        refused.due(KEY, plan(1));
        assertThat(refused.isIdle(KEY)).isTrue();
    }

    @Test
    @ExpectedLog("was made (")
    void a_broken_plan_does_not_ask_a_model_for_ever() throws Exception {
        append(1, 12);
        SummaryWorker worker = worker(log, options(SOON, 1));
        SummaryTask same = plan(4).get().orElseThrow();

        worker.due(KEY, () -> Optional.of(same));
        ImpatientWorker.awaitIdle(worker);

        assertThat(summarizer.calls).hasSize(1);
        assertThat(measured).containsExactly("made 80", "failed plan");
    }

    @Test
    @ExpectedLog("was made (")
    void a_plan_that_goes_back_and_forth_does_not_ask_a_model_for_ever() throws Exception {
        append(1, 12);
        SummaryWorker worker = worker(log, options(SOON, 1));
        List<SummaryTask> both =
                List.of(plan(4).get().orElseThrow(), plan(6).get().orElseThrow());
        AtomicInteger asked = new AtomicInteger();

        worker.due(KEY, () -> Optional.of(both.get(asked.getAndIncrement() % 2)));
        ImpatientWorker.awaitIdle(worker);

        assertThat(summarizer.calls).hasSize(2);
        assertThat(measured).last().isEqualTo("failed plan");
    }

    @Test
    void now_makes_all_that_is_due_and_says_how_many() {
        append(1, 12);
        SummaryWorker worker = worker(log);

        assertThat(worker.summarizeNow(KEY, new AllButNewest(log, KEY, 4, 3))).isEqualTo(3);
        assertThat(worker.summarizeNow(KEY, plan(4))).isZero();
        assertThat(covered()).containsExactly("m3", "m6", "m8");
        assertThat(worker.isIdle(KEY)).isTrue();
    }

    @Test
    void now_waits_for_a_job_in_the_background() throws Exception {
        append(1, 12);
        CountDownLatch go = new CountDownLatch(1);
        summarizer.script = () -> {
            go.await();
            return "short";
        };
        SummaryWorker worker = worker(log);
        worker.due(KEY, plan(4));
        summarizer.asked.await();
        CompletableFuture<Integer> now =
                CompletableFuture.supplyAsync(() -> worker.summarizeNow(KEY, plan(2)), THREADS);
        go.countDown();

        assertThat(now.get(2, TimeUnit.MINUTES)).isEqualTo(1);
        assertThat(covered()).containsExactly("m8", "m10");
        assertThat(summarizer.allTexts()).isEqualTo(texts(1, 10));
    }

    @Test
    @ExpectedLog("was made (")
    void now_does_not_wait_for_a_pause() throws Exception {
        append(1, 12);
        AtomicBoolean broken = new AtomicBoolean(true);
        summarizer.script = () -> {
            if (broken.get()) {
                throw new IllegalStateException(SECRET);
            }
            return "short";
        };
        SummaryWorker worker = worker(
                log, new SummaryWorker.Options(SOON, SOON, 3, Duration.ofHours(1), answer -> false, Clock.systemUTC()));
        worker.due(KEY, plan(4));
        await().until(() -> measured.size() == 1);
        assertThat(worker.isIdle(KEY)).isFalse();
        broken.set(false);

        assertThat(worker.summarizeNow(KEY, plan(4))).isEqualTo(1);
        assertThat(worker.isIdle(KEY)).isTrue();
    }

    @Test
    void now_says_what_went_wrong_and_that_a_retry_makes_sense() {
        append(1, 12);
        SummaryWorker worker = worker(log, options(SOON, 2));
        SummaryWorker impatient = worker(log, options(Duration.ofMillis(300), 2));
        IllegalStateException cause = new IllegalStateException(SECRET);
        summarizer.script = () -> {
            throw cause;
        };

        SummaryFailedException thrown =
                catchThrowableOfType(SummaryFailedException.class, () -> worker.summarizeNow(KEY, plan(4)));
        assertThat(thrown.kind()).isEqualTo(Kind.THROWN);
        assertThat(thrown.isRetryable()).isTrue();
        assertThat(thrown).hasCause(cause).hasMessageContaining(KEY.canonical());
        assertThat(thrown.getMessage()).doesNotContain(SECRET);

        summarizer.script = () -> {
            Thread.sleep(600_000);
            return "late";
        };
        assertThatThrownBy(() -> impatient.summarizeNow(KEY, plan(4)))
                .isInstanceOfSatisfying(
                        SummaryFailedException.class, e -> assertThat(e.kind()).isEqualTo(Kind.TIMEOUT));
        assertThat(Thread.currentThread().isInterrupted()).isFalse();

        summarizer.script = () -> "short";
        assertThat(worker.summarizeNow(KEY, plan(4))).isEqualTo(1);

        append(13, 14);
        other.acquireLease(KEY, "summary", "alive", Duration.ofMinutes(5));
        assertThatThrownBy(() -> impatient.summarizeNow(KEY, plan(4)))
                .isInstanceOfSatisfying(
                        SummaryFailedException.class, e -> assertThat(e.kind()).isEqualTo(Kind.BUSY));
        assertThat(worker.isIdle(KEY)).isTrue();
        assertThat(impatient.isIdle(KEY)).isTrue();
    }

    private static String broken(String how, CountDownLatch end) throws Exception {
        switch (how) {
            case "throws":
                throw new java.io.IOException(SECRET);
            case "error":
                throw new NoClassDefFoundError(SECRET);
            case "hangs":
                Thread.sleep(600_000);
                return "late";
            case "deaf":
                while (end.getCount() > 0) {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        // This summarizer ignores interrupts.
                    }
                }
                return "late";
            case "blank":
                return " \n\u2003";
            case "null":
                return null;
            case "long":
                return WordCounter.words(SECRET, 80);
            default:
                return MARK + " " + SECRET;
        }
    }

    void append(int first, int last) {
        log.append(
                KEY,
                batch(IntStream.rangeClosed(first, last).mapToObj(i -> "m" + i).toArray(String[]::new)));
    }

    private static List<String> texts(int first, int last) {
        List<String> texts = new ArrayList<>();
        IntStream.rangeClosed(first, last).forEach(i -> texts.add(SECRET + " m" + i));
        return texts;
    }

    private List<String> covered() {
        return Logs.summaries(log, KEY).stream().map(Summary::coversUpTo).toList();
    }

    Supplier<Optional<SummaryTask>> plan(int keep) {
        return new AllButNewest(log, KEY, keep);
    }

    SummaryWorker worker(MessageLog on) {
        return worker(on, options(SOON, 3));
    }

    private SummaryWorker worker(MessageLog on, SummaryWorker.Options options) {
        return new SummaryWorker(key -> on, summarizer, counter(), THREADS, metrics, options);
    }

    private static SummaryWorker.Options options(Duration callTimeout, int attempts) {
        return options(callTimeout, attempts, Clock.systemUTC());
    }

    private static SummaryWorker.Options options(Duration callTimeout, int attempts, Clock clock) {
        Predicate<String> reserved = answer -> answer.startsWith(MARK);
        return new SummaryWorker.Options(
                callTimeout, Duration.ofMillis(500), attempts, Duration.ofMillis(20), reserved, clock);
    }

    private static TokenCounter counter() {
        return TokenCounter.of(new WordCounter());
    }

    private interface Change {
        Object of(String method, Object result);
    }

    private MessageLog intercepted(Change change) {
        return Watched.log(log, call -> change.of(call.word(), call.proceed()));
    }

    interface Step {
        void run() throws Exception;
    }

    static String logged(Step step) throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            step.run();
        } finally {
            System.setErr(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}

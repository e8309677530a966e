package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.output.Response;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.MessageIndex.MessageVector;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.testing.ConceptModel;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.text.OwnText;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What recall finds with an embedding model, whatever log and index there are. */
public abstract class RecallByMeaningContract {

    private static final MemoryKey ALICE = ConversationKey.of("acme", "alice");
    private static final MemoryKey BOB = ConversationKey.of("acme", "bob");
    private static final MemoryKey OTHER_ALICE = ConversationKey.of("other", "alice");
    private static final Instant JANUARY = Instant.parse("2026-01-10T09:00:00Z");
    private static final String PARAPHRASE = "Describe Emma's hound";
    private static final String FACT = "We brought home a puppy called Luna.";

    private static final List<String> TOPICS = List.of(
            ("weather rain train market garden music letter window river kitchen holiday bread coffee lesson bicycle"
                            + " museum painting bridge cinema novel football kettle orchard ferry")
                    .split(" "));

    private final Random random = new Random(37);

    MessageLog log;
    MessageIndex index;
    private final List<String> failures = Collections.synchronizedList(new ArrayList<>());
    private int said;

    /** Returns an empty log. */
    protected abstract MessageLog log() throws Exception;

    /** Returns an empty index. */
    protected abstract MessageIndex index() throws Exception;

    @BeforeEach
    void openLogAndIndex() throws Exception {
        log = log();
        index = index();
    }

    @AfterEach
    void close() {
        log.close();
        index.close();
    }

    /** The searches of one process, whose background work is done when the test says so. */
    private final class Process {

        final Deque<Runnable> waiting = new ArrayDeque<>();
        final MessageSearch search;
        final MessageLog watched;
        final MessageRecall recall;

        Process(EmbeddingModel model) {
            this(model, "concepts", log, index);
        }

        Process(EmbeddingModel model, String name, MessageLog log, MessageIndex index) {
            this(model, name, log, index, Runnable::run, null, Duration.ofMinutes(10));
        }

        Process(
                EmbeddingModel model,
                String name,
                MessageLog log,
                MessageIndex index,
                Executor executor,
                Function<Duration, Executor> later,
                Duration limit) {
            Metrics metrics = new Metrics() {
                @Override
                public void recalledByWordsAlone(String backend) {
                    failures.add(backend);
                }
            };
            Executor threads = task -> new Thread(task).start();
            search = new MessageSearch(
                    index,
                    key -> log,
                    List.of(log),
                    Words.standard(),
                    executor,
                    later == null ? pause -> waiting::add : later,
                    model == null ? null : new MessageSearch.Embedding(model, name, threads, limit, metrics));
            watched = search.watched(log);
            recall = new MessageRecall(search, key -> MessageRecallContract.seen(log, key, Set.of()));
        }

        /** Does the work that waits, and the work that it leads to. */
        void work() {
            for (int i = 0; i < 8; i++) {
                for (int left = waiting.size(); left > 0; left--) {
                    waiting.remove().run();
                }
            }
        }

        List<String> recall(MemoryKey key, String question) {
            return texts(recall.recall(Scope.memory(key), question, RecallOptions.standard()));
        }
    }

    @Test
    void a_paraphrase_is_found_by_a_model_and_not_without() {
        Process process = new Process(new ConceptModel());
        say(process.watched, ALICE, "Good morning", "Good morning!", FACT, "What a sweet name!");
        chat(process.watched, ALICE, 30);
        process.work();

        assertThat(process.recall(ALICE, PARAPHRASE).get(0)).isIn(FACT, "Good morning!", "What a sweet name!");
        assertThat(process.recall(ALICE, PARAPHRASE)).contains(FACT);
        assertThat(new Process(null).recall(ALICE, PARAPHRASE)).isEmpty();
        assertThat(failures).isEmpty();
    }

    @Test
    void what_is_far_in_meaning_comes_behind_what_is_near_and_a_question_without_a_word_finds_nothing() {
        Process process = new Process(new ConceptModel());
        say(process.watched, ALICE, FACT, "What a sweet name!");
        chat(process.watched, ALICE, 30);
        process.work();

        List<String> recalled = process.recall(ALICE, PARAPHRASE);
        assertThat(recalled).hasSizeGreaterThan(2);
        assertThat(recalled.indexOf(FACT)).isBetween(0, 1);
        assertThat(process.recall(ALICE, "?!")).isEmpty();
        assertThat(process.recall(ALICE, "  ")).isEmpty();
    }

    @Test
    void a_typo_is_found_first_though_other_messages_have_a_meaning() {
        Process process = new Process(new ConceptModel());
        say(process.watched, ALICE, "The tournament in Wuppertal was cancelled", "I see.");
        chat(process.watched, ALICE, 30);
        process.work();

        assertThat(process.recall(ALICE, "Wupertall?").subList(0, 2))
                .contains("The tournament in Wuppertal was cancelled");
    }

    @Test
    void a_question_is_embedded_without_the_names_of_speakers() {
        ConceptModel model = new ConceptModel();
        Process process = new Process(model);
        say(process.watched, ALICE, UserMessage.from("Caroline", "I painted the boat."), AiMessage.from("Nice boat."));
        process.work();
        model.calls.clear();

        process.recall(ALICE, "Where is Caroline's boat that Caroline painted?");

        assertThat(model.calls).containsExactly(List.of("Where is my boat that I painted?"));
    }

    @Test
    void each_part_of_a_long_message_has_a_meaning_up_to_a_limit_but_only_the_first_part_of_an_answer() {
        Process process = new Process(new ConceptModel());
        say(process.watched, ALICE, "12345, ".repeat(500) + FACT, "I see.");
        say(process.watched, ALICE, "12345, ".repeat(600) + "He bought a car.", "Fine.");
        say(process.watched, ALICE, "Tell me more.", "12345, ".repeat(200) + "They sleep in a boat.");
        chat(process.watched, ALICE, 30);
        process.work();
        RecallOptions large = RecallOptions.standard().withMaxTokens(1_000_000).withNeighbours(0);

        assertThat(best(process, PARAPHRASE, large).message().message())
                .hasToString(UserMessage.from("12345, ".repeat(500) + FACT).toString());
        assertThat(meaningOf(process, "Any automobile?", "car.", large)).isLessThan(1);
        assertThat(meaningOf(process, "Any ship?", "boat.", large)).isLessThan(1);
    }

    private static Recalled.Passage best(Process process, String question, RecallOptions options) {
        return process.recall
                .recall(Scope.memory(ALICE), question, options)
                .passages()
                .get(0);
    }

    /** Returns how close in meaning a message is to a question; 0 if it is not recalled. */
    private static double meaningOf(Process process, String question, String end, RecallOptions options) {
        return process.recall.recall(Scope.memory(ALICE), question, options).passages().stream()
                .filter(passage -> OwnText.blanked(passage.message().message()).endsWith(end))
                .mapToDouble(passage -> passage.features().meaning())
                .findFirst()
                .orElse(0);
    }

    @Test
    void a_model_that_fails_leaves_the_words_and_vectors_are_made_later() {
        ConceptModel model = new ConceptModel() {
            @Override
            public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
                super.embedAll(segments);
                if (calls.size() < 3) {
                    throw new IllegalStateException(segments.get(0).text());
                }
                if (calls.size() == 3) {
                    throw new UnsatisfiedLinkError(segments.get(0).text());
                }
                return super.embedAll(segments);
            }
        };
        Process process = new Process(model);
        say(process.watched, ALICE, FACT, "What a sweet name!");

        assertThat(process.recall(ALICE, "Luna")).contains(FACT);
        assertThat(failures).containsExactly(index.backend());

        process.work();
        assertThat(mark(model, "concepts").sequence()).isEqualTo(2);
        assertThat(process.recall(ALICE, PARAPHRASE)).contains(FACT);
        assertThat(failures).hasSize(1);
    }

    @Test
    void a_model_that_hangs_on_a_question_leaves_the_words_and_is_interrupted() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        ConceptModel model = new ConceptModel() {
            @Override
            public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    interrupted.countDown();
                }
                throw new IllegalStateException();
            }
        };
        Process process =
                new Process(model, "concepts", log, index, Runnable::run, pause -> task -> {}, Duration.ofMillis(1));
        say(log, ALICE, FACT, "What a sweet name!");

        // A question whose time is over before a thread has begun with it does not reach the model.
        await().untilAsserted(() -> {
            failures.clear();
            assertThat(process.recall(ALICE, "Luna")).contains(FACT);
            assertThat(failures).hasSize(1);
            assertThat(interrupted.getCount()).isZero();
        });
    }

    @Test
    void questions_do_not_take_ever_more_threads_if_a_model_hangs() {
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> hanging = Collections.synchronizedList(new ArrayList<>());
        ConceptModel model = new ConceptModel() {
            @Override
            public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
                hanging.add(Thread.currentThread());
                while (end.getCount() > 0) {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        // A model may ignore it.
                    }
                }
                return super.embedAll(segments);
            }
        };
        Process process =
                new Process(model, "concepts", log, index, Runnable::run, pause -> task -> {}, Duration.ofNanos(1));
        say(log, ALICE, FACT, "What a sweet name!");
        int questions = Counts.of(100, 200);
        for (int i = 0; i < questions; i++) {
            assertThat(process.recall(ALICE, "Luna")).contains(FACT);
        }
        assertThat(hanging.size()).isLessThanOrEqualTo(64);
        assertThat(failures).hasSize(questions);
        end.countDown();
    }

    @Test
    void vectors_of_another_length_are_not_used() {
        ConceptModel model = new ConceptModel() {
            @Override
            protected Embedding vector(String text) {
                return Embedding.from(new float[] {1, 2, 3});
            }
        };
        Process process = new Process(model);
        say(process.watched, ALICE, FACT, "What a sweet name!");
        process.work();

        assertThat(process.recall(ALICE, "Luna")).contains(FACT);
        assertThat(index.vectorMarks("concepts 64 2", List.of(ALICE))).isEmpty();
        assertThat(failures).hasSize(1);
    }

    @Test
    void whatever_a_model_returns_words_serve() {
        int size = ConceptModel.DIMENSION;
        float[] notNumbers = new float[size];
        Arrays.fill(notNumbers, Float.NaN);
        List<Function<List<TextSegment>, Response<List<Embedding>>>> answers = List.of(
                texts -> null,
                texts -> Response.from((List<Embedding>) null),
                texts -> Response.from(Collections.nCopies(texts.size(), null)),
                texts -> Response.from(Collections.nCopies(texts.size() - 1, Embedding.from(new float[size]))),
                texts -> Response.from(Collections.nCopies(texts.size() + 1, Embedding.from(new float[size]))),
                texts -> Response.from(Collections.nCopies(texts.size(), Embedding.from(new float[0]))),
                texts -> Response.from(Collections.nCopies(texts.size(), Embedding.from(new float[size]))),
                texts -> Response.from(Collections.nCopies(texts.size(), Embedding.from(notNumbers))));
        say(log, ALICE, FACT, "What a sweet name!");
        for (Function<List<TextSegment>, Response<List<Embedding>>> answer : answers) {
            Process process = new Process(new ConceptModel() {
                @Override
                public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
                    return answer.apply(segments);
                }
            });
            process.search.start("acme");
            process.work();
            assertThat(process.recall(ALICE, "Luna")).contains(FACT);
            index.cosines(
                    "concepts 64 2", Scope.memory(ALICE), notNumbers, 100, Map.of(), (key, sequence, time, cosine) -> {
                        throw new AssertionError("a vector of " + sequence);
                    });
        }
    }

    @Test
    void a_memory_that_is_erased_while_it_is_embedded_keeps_no_vector() {
        for (boolean begunAgain : new boolean[] {false, true}) {
            ConceptModel model = new ConceptModel() {
                @Override
                public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
                    if (calls.isEmpty()) {
                        log.erase(ALICE);
                        if (begunAgain) {
                            say(log, ALICE, "one", "two");
                        }
                    }
                    return super.embedAll(segments);
                }
            };
            Process process = new Process(model);
            say(process.watched, ALICE, FACT, "What a sweet name!");
            process.work();

            assertThat(index.watermarks(List.of(ALICE))).isEmpty();
            assertThat(index.vectorMarks("concepts 64 2", List.of(ALICE))).isEmpty();
            assertThat(process.recall(ALICE, PARAPHRASE)).isEmpty();

            say(process.watched, ALICE, "three", "four");
            process.work();
            assertThat(mark(model, "concepts").sequence())
                    .isEqualTo(index.watermarks(List.of(ALICE)).get(ALICE).sequence());
            assertThat(process.recall(ALICE, PARAPHRASE)).doesNotContain(FACT, "What a sweet name!");
            log.erase(ALICE);
            index.remove(ALICE);
        }
    }

    @Test
    void vectors_of_a_changed_model_are_made_again_while_words_serve() {
        Process before = new Process(new ConceptModel());
        say(before.watched, ALICE, FACT, "What a sweet name!");
        before.work();

        ConceptModel model = new ConceptModel();
        Process after = new Process(model, "other", log, index);
        assertThat(after.recall(ALICE, PARAPHRASE)).isEmpty();
        assertThat(after.recall(ALICE, "Luna")).contains(FACT);

        after.search.start("acme");
        after.work();
        assertThat(after.recall(ALICE, PARAPHRASE)).contains(FACT);
        assertThat(mark(model, "other")).isEqualTo(mark(model, "concepts"));
        // A process with the model before works on.
        assertThat(before.recall(ALICE, PARAPHRASE)).contains(FACT);
    }

    @Test
    void tenants_do_not_see_each_others_meanings() {
        Process process = new Process(new ConceptModel());
        say(process.watched, OTHER_ALICE, FACT, "What a sweet name!");
        chat(process.watched, ALICE, 10);
        process.work();

        assertThat(process.recall(OTHER_ALICE, PARAPHRASE)).contains(FACT);
        assertThat(process.recall(ALICE, PARAPHRASE)).isNotEmpty().doesNotContain(FACT, "What a sweet name!");
    }

    @Test
    void an_append_calls_neither_the_model_nor_the_index() {
        List<String> requests = new ArrayList<>();
        ConceptModel model = new ConceptModel();
        Process process = new Process(model, "concepts", counted(log, requests), counted(index, requests));
        Process without = new Process(null, "concepts", counted(log, requests), counted(index, requests));

        say(without.watched, ALICE, FACT, "What a sweet name!");
        List<String> ofOne = List.copyOf(requests);
        requests.clear();
        say(process.watched, ALICE, FACT, "What a sweet name!");

        assertThat(requests).isEqualTo(ofOne);
        assertThat(model.calls).isEmpty();
    }

    /** Asks for Luna where words alone are recalled, and where meaning is too: three requests more, and no more than the most. */
    private Recalled costsThreeMore(Scope scope, int most, Consumer<Process> said) {
        List<String> requests = new ArrayList<>();
        Process process = new Process(new ConceptModel(), "concepts", counted(log, requests), counted(index, requests));
        Process without = new Process(null, "concepts", counted(log, requests), counted(index, requests));
        say(process.watched, ALICE, FACT, "What a sweet name!");
        said.accept(process);
        process.recall.recall(scope, "Luna", RecallOptions.standard());
        without.recall.recall(scope, "Luna", RecallOptions.standard());

        requests.clear();
        without.recall.recall(scope, "Luna", RecallOptions.standard());
        List<String> expected = new ArrayList<>(requests);
        requests.clear();
        Recalled recalled = process.recall.recall(scope, "Luna", RecallOptions.standard());

        assertThat(texts(recalled)).contains(FACT);
        // The second read is of messages that only their meaning found.
        expected.addAll(List.of("vectorMarks", "cosines", "find"));
        assertThat(requests).containsExactlyInAnyOrderElementsOf(expected).hasSizeLessThanOrEqualTo(most);
        return recalled;
    }

    @Test
    void a_question_costs_at_most_three_requests_more_and_eleven_in_all() {
        costsThreeMore(Scope.memory(ALICE), 11, process -> {
            chat(process.watched, ALICE, 30);
            process.work();
        });
    }

    @Test
    void beside_more_vectors_than_are_compared_a_question_costs_three_requests_more_too() {
        Recalled recalled = costsThreeMore(Scope.memories(List.of(ALICE, BOB)), 14, process -> {
            process.work();
            addVectors(BOB, 50_001);
        });
        // A candidate that is older than the vectors that are compared has a meaning.
        assertThat(recalled.passages().get(0).features().meaning()).isGreaterThan(1);
    }

    /** Adds vectors of no direction that means something, later than all that is said. Nothing is near to a question then. */
    private void addVectors(MemoryKey key, int vectors) {
        float[][] directions = new float[64][ConceptModel.DIMENSION];
        for (float[] direction : directions) {
            for (int i = 0; i < direction.length; i++) {
                direction[i] = (float) random.nextGaussian();
            }
        }
        index.add(key, null, new Watermark(1, vectors), List.of());
        VectorMark mark = new VectorMark(1, vectors, 1, 0);
        List<MessageVector> made = LongStream.rangeClosed(1, vectors)
                .mapToObj(sequence -> new MessageVector(
                        sequence, JANUARY.plus(Duration.ofDays(365)), directions[(int) (sequence % 64)]))
                .toList();
        assertThat(index.addVectors("concepts 64 2", key, null, mark, made)).isTrue();
    }

    @Test
    void a_long_history_is_embedded_in_few_calls_and_only_what_was_said() {
        ConceptModel model = new ConceptModel();
        Process process = new Process(model);
        chat(log, ALICE, 500);
        say(log, ALICE, ToolExecutionResultMessage.from("1", "tool", "result"), UserMessage.from("Thanks"));
        process.search.start("acme");
        process.work();

        assertThat(mark(model, "concepts").sequence()).isEqualTo(1_002);
        assertThat(model.calls).hasSizeLessThanOrEqualTo(33).allMatch(texts -> texts.size() <= 32);
        assertThat(model.texts()).isEqualTo(1_001);
        // Measured when the memory had doubled.
        assertThat(mark(model, "concepts").measured()).isEqualTo(511);
    }

    @Test
    void a_memory_that_grows_is_measured_again_when_it_has_doubled() {
        ConceptModel model = new ConceptModel();
        Process process = new Process(model);
        List<Long> measured = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            chat(process.watched, ALICE, 5);
            process.work();
            measured.add(mark(model, "concepts").measured());
        }
        assertThat(measured).containsExactly(10L, 20L, 20L, 40L, 40L, 40L, 40L, 80L);
    }

    @Test
    void a_process_continues_where_a_killed_one_ended() {
        ConceptModel killed = new ConceptModel() {
            @Override
            public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
                if (calls.size() == 10) {
                    throw new OutOfMemoryError();
                }
                return super.embedAll(segments);
            }
        };
        chat(log, ALICE, 250);
        Process first = new Process(killed);
        first.search.start("acme");
        first.work();
        assertThat(mark(killed, "concepts").sequence()).isEqualTo(255);

        ConceptModel model = new ConceptModel();
        Process second = new Process(model);
        second.search.start("acme");
        second.work();
        assertThat(mark(model, "concepts").sequence()).isEqualTo(500);
        assertThat(model.texts()).isEqualTo(500 - 255);

        // What is complete is not read again.
        Process third = new Process(model);
        third.search.start("acme");
        third.work();
        assertThat(model.texts()).isEqualTo(500 - 255);
    }

    @Test
    void two_processes_make_no_vector_twice() {
        ConceptModel model = new ConceptModel();
        Process first = new Process(model);
        Process second = new Process(model);
        ConceptModel interrupting = new ConceptModel() {
            @Override
            public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
                if (calls.isEmpty()) {
                    second.search.start("acme");
                    second.work();
                }
                return super.embedAll(segments);
            }
        };
        say(log, ALICE, FACT, "What a sweet name!");
        Process slow = new Process(interrupting);
        slow.search.start("acme");
        slow.work();

        List<Long> sequences = new ArrayList<>();
        index.cosines(
                "concepts 64 2",
                Scope.memory(ALICE),
                new float[ConceptModel.DIMENSION],
                100,
                Map.of(),
                (key, sequence, time, cosine) -> sequences.add(sequence));
        assertThat(sequences).containsExactlyInAnyOrder(1L, 2L);
        assertThat(first.recall(ALICE, PARAPHRASE)).contains(FACT);
    }

    @Test
    void words_do_not_wait_for_a_model() {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        ConceptModel model = new ConceptModel() {
            @Override
            public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
                begun.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return super.embedAll(segments);
            }
        };
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            Process process =
                    new Process(model, "concepts", log, index, threads, pause -> threads, Duration.ofMinutes(10));
            say(process.watched, ALICE, FACT, "What a sweet name!");
            await().until(() -> begun.getCount() == 0);
            say(process.watched, ALICE, "I sold the car.", "For how much?");
            await().until(() ->
                    new Watermark(1, 4).equals(index.watermarks(List.of(ALICE)).get(ALICE)));
            assertThat(index.vectorMarks("concepts 64 2", List.of(ALICE))).isEmpty();

            end.countDown();
            await().until(() -> {
                VectorMark mark =
                        index.vectorMarks("concepts 64 2", List.of(ALICE)).get(ALICE);
                return mark != null && mark.sequence() == 4;
            });
            assertThat(process.recall(ALICE, PARAPHRASE)).contains(FACT);
        } finally {
            end.countDown();
            threads.shutdown();
        }
    }

    private VectorMark mark(EmbeddingModel model, String name) {
        return index.vectorMarks(name + " " + model.dimension() + " 2", List.of(ALICE))
                .get(ALICE);
    }

    /** Returns a proxy that notes its requests. */
    @SuppressWarnings("unchecked")
    private static <T> T counted(T of, List<String> requests) {
        Class<?> type = of instanceof MessageLog ? MessageLog.class : MessageIndex.class;
        return (T) Watched.of((Class<Object>) type, of, call -> {
            if (!Set.of("backend", "hashCode").contains(call.name())) {
                requests.add(call.name());
            }
            return call.proceed();
        });
    }

    /** Says other things, in this number of questions and answers. Those with common words are close in meaning. */
    private void chat(MessageLog log, MemoryKey key, int turns) {
        for (int i = 0; i < turns; i++) {
            say(log, key, smallTalk(), smallTalk());
        }
    }

    private String smallTalk() {
        return random.ints(4, 0, TOPICS.size()).mapToObj(TOPICS::get).collect(Collectors.joining(" "));
    }

    private void say(MessageLog log, MemoryKey key, String... texts) {
        ChatMessage[] messages = new ChatMessage[texts.length];
        for (int i = 0; i < texts.length; i++) {
            messages[i] = i % 2 == 0 ? UserMessage.from(texts[i]) : AiMessage.from(texts[i]);
        }
        say(log, key, messages);
    }

    private void say(MessageLog log, MemoryKey key, ChatMessage... messages) {
        List<NewMessage> batch = new ArrayList<>();
        for (ChatMessage message : messages) {
            said++;
            batch.add(new NewMessage("s" + said, message, 10, "test", JANUARY.plus(Duration.ofHours(said))));
        }
        log.append(key, Append.under(Parent.head(), batch));
    }

    private static List<String> texts(Recalled recalled) {
        return recalled.passages().stream()
                .flatMap(passage -> passage.messages().stream())
                .map(message -> IndexedText.of(message).strip())
                .toList();
    }
}

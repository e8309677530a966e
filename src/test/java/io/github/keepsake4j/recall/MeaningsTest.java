package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.MessageIndex.CosineReader;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import io.github.keepsake4j.testing.ConceptModel;
import io.github.keepsake4j.testing.Watched;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class MeaningsTest {

    private static final MemoryKey ALICE = ConversationKey.of("acme", "alice");
    private static final MemoryKey BOB = ConversationKey.of("acme", "bob");
    private static final Map<MemoryKey, Set<Long>> BY_WORDS = Map.of(ALICE, Set.of(7L));

    private final Map<MemoryKey, VectorMark> marks = new HashMap<>();
    private final List<String> asked = new ArrayList<>();
    private final List<Object> named = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();

    /** An index with these marks, whose newest vectors are equally close. */
    private final MessageIndex index = Watched.of(MessageIndex.class, null, call -> {
        if (call.name().equals("backend")) {
            return "fake";
        }
        asked.add(call.name());
        if (call.name().equals("vectorMarks")) {
            return marks;
        }
        named.add(call.arguments()[4]);
        CosineReader reader = (CosineReader) call.arguments()[call.arguments().length - 1];
        for (int i = 0; i < 10; i++) {
            reader.read(ALICE, 1_000 + i, Instant.EPOCH, 0.5);
        }
        return null;
    });

    private Meaning meaning(String question) {
        Metrics metrics = new Metrics() {
            @Override
            public void recalledByWordsAlone(String backend) {
                failures.add(backend);
            }
        };
        return new Meanings(
                        index,
                        new Embeddings(new ConceptModel(), "concepts"),
                        Runnable::run,
                        Duration.ofMinutes(1),
                        metrics)
                .of(Scope.memories(List.of(ALICE, BOB)), question, BY_WORDS, Duration.ofHours(4));
    }

    @Test
    void messages_found_by_words_are_read_with_the_newest_vectors() {
        marks.put(ALICE, new VectorMark(1, 100_000, 1, 100));
        meaning("dog");
        assertThat(asked).containsExactly("vectorMarks", "cosines");
        assertThat(named).containsExactly(BY_WORDS);
    }

    @Test
    void the_weight_is_the_mean_of_the_memories() {
        marks.put(ALICE, new VectorMark(1, 30, 1, 30));
        marks.put(BOB, new VectorMark(1, 10, 0, 10));
        Meaning meaning = meaning("dog");
        assertThat(meaning.weight()).isCloseTo(0.75, within(1e-9));
        assertThat(meaning.has(ALICE, 1_000)).isTrue();
    }

    @Test
    void no_vector_is_read_where_the_model_has_no_weight_or_the_question_no_text() {
        assertThat(meaning("dog").weight()).isZero();
        marks.put(ALICE, new VectorMark(1, 30, 0, 30));
        assertThat(meaning("dog").weight()).isZero();
        assertThat(asked).hasSize(2);
        assertThat(meaning(" ").weight()).isZero();
        assertThat(asked).hasSize(2);
        assertThat(failures).isEmpty();
    }

    @Test
    void an_executor_that_refuses_a_call_and_an_interrupt_leave_the_words() {
        Metrics metrics = new Metrics() {
            @Override
            public void recalledByWordsAlone(String backend) {
                failures.add(backend);
            }
        };
        Embeddings embeddings = new Embeddings(new ConceptModel(), "concepts");
        Meanings refused = new Meanings(
                index,
                embeddings,
                task -> {
                    throw new RejectedExecutionException();
                },
                Duration.ofMinutes(1),
                metrics);
        for (int i = 0; i < 100; i++) {
            assertThat(refused.of(Scope.memory(ALICE), "dog", BY_WORDS, Duration.ofHours(4))
                            .weight())
                    .isZero();
        }
        Meanings waiting = new Meanings(index, embeddings, task -> {}, Duration.ofMinutes(1), metrics);
        Thread.currentThread().interrupt();
        assertThat(waiting.of(Scope.memory(ALICE), "dog", BY_WORDS, Duration.ofHours(4))
                        .weight())
                .isZero();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(failures).hasSize(101);
    }
}

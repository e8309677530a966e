package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.batchUnder;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which messages are before a place, compared with a read of the whole branch that ends there. */
class BeforeAPlaceTest {

    private static final int MESSAGES = 900;

    private final MessageLog log = new InMemoryMessageLog();

    /** A branch goes on for long, so that the way back takes several reads. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void any_place_in_any_tree(int seed) {
        Random random = new Random(seed);
        for (int i = 1; i <= MESSAGES; i++) {
            int parent = random.nextInt(100) == 0 ? 1 + random.nextInt(i) : i;
            log.append(
                    KEY,
                    parent == 1
                            ? Append.under(Parent.root(), List.of(LogTesting.user("m" + i)))
                            : batchUnder("m" + (parent - 1), "m" + i));
        }
        for (int i = 0; i < 40; i++) {
            String end = "m" + (1 + random.nextInt(MESSAGES));
            List<Long> asked = LongStream.rangeClosed(1 + random.nextInt(MESSAGES), MESSAGES)
                    .filter(place -> random.nextBoolean())
                    .boxed()
                    .toList();
            Set<Long> expected = log.read(KEY, ReadQuery.wholeBranch().endingIn(end)).messages().stream()
                    .map(LoggedMessage::sequence)
                    .collect(Collectors.toCollection(HashSet::new));
            expected.retainAll(Set.copyOf(asked));
            assertThat(Reads.onBranch(log, KEY, Parent.of(end), asked)).as(end).isEqualTo(expected);
        }
        List<Long> all = LongStream.rangeClosed(1, MESSAGES).boxed().toList();
        assertThat(Reads.onBranch(log, KEY, Parent.head(), all)).isEqualTo(log.onBranch(KEY, all));
    }

    @Test
    void nothing_is_before_a_beginning_or_a_place_that_was_erased() {
        log.append(KEY, LogTesting.batch("m1", "m2"));
        assertThat(Reads.onBranch(log, KEY, Parent.root(), List.of(1L))).isEmpty();
        assertThat(Reads.onBranch(log, KEY, Parent.of("m9"), List.of(1L))).isEmpty();
        assertThat(Reads.onBranch(log, ConversationKey.of("acme", "none"), Parent.of("m1"), List.of(1L)))
                .isEmpty();
        assertThat(Reads.onBranch(log, KEY, Parent.of("m2"), List.of())).isEmpty();
    }
}

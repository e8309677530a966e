package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Erasure: only an epoch stays, which refuses work that began before. */
public interface EraseContract extends LogUnderTest {

    private Summary summary(String coversUpTo) {
        return new Summary(coversUpTo, SECRET, 1, "test-counter", 1, 1, null, Instant.EPOCH);
    }

    @Test
    default void nothing_of_an_erased_memory_is_left() {
        log().append(KEY, batch("a", "b").withView(View.of(null, List.of(new View.Run(null, "a")))));
        log().append(KEY, batchUnder("a", "c"));
        Logs.putSummary(log(), KEY, summary("a"), epoch());
        Logs.describe(log(), KEY, SECRET, Map.of("name", SECRET));
        log().acquireLease(KEY, "work", "one", Duration.ofHours(1));

        log().erase(KEY);

        assertThat(log().read(KEY, ReadQuery.wholeBranch().upToSummary()))
                .usingRecursiveComparison()
                .isEqualTo(Tail.empty(new Position(
                        epoch(), log().read(KEY, ReadQuery.newest(0)).revision(), null)));
        assertThat(history(log(), KEY)).isEmpty();
        assertThat(log().branches(KEY)).isEmpty();
        assertThat(Logs.summaries(log(), KEY)).isEmpty();
        assertThat(list(log(), KEY.tenant(), 10)).isEmpty();
        assertThat(log().acquireLease(KEY, "work", "two", Duration.ofHours(1))).isPresent();
        assertThatThrownBy(() -> Logs.moveHead(log(), KEY, "a", null)).isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> log().append(KEY, batchUnder("a", "d"))).isInstanceOf(UnknownParentException.class);
    }

    @Test
    default void other_memories_stay() {
        MemoryKey other = ConversationKey.of("acme", "43");
        log().append(KEY, batch("a"));
        log().append(other, batch("a"));

        log().erase(KEY);

        assertThat(branch(log(), other)).containsExactly("a");
        assertThat(list(log(), "acme", 10)).extracting(MemoryInfo::key).containsExactly(other);
    }

    @Test
    default void an_erase_begins_aNew_epoch() {
        log().append(KEY, batch("a"));
        long before = epoch();

        long after = log().erase(KEY);

        assertThat(after).isGreaterThan(before);
        assertThat(epoch()).isEqualTo(after);
        assertThat(log().erase(KEY)).isGreaterThan(after);
    }

    @Test
    default void what_was_begun_before_the_erase_is_refused() {
        long old = log().append(KEY, batch("a", "b")).epoch();
        log().erase(KEY);

        assertThatThrownBy(() -> log().append(KEY, batch("c").inEpoch(old)))
                .isInstanceOf(ErasedException.class)
                .hasMessageContaining(KEY.canonical());
        assertThatThrownBy(() -> log().append(KEY, batch("a", "b").inEpoch(old)))
                .as("a retry of what was stored before")
                .isInstanceOf(ErasedException.class);
        assertThatThrownBy(() -> Logs.putSummary(log(), KEY, summary("a"), old)).isInstanceOf(ErasedException.class);
        assertThatThrownBy(() -> Logs.moveHead(log(), KEY, "a", old)).isInstanceOf(ErasedException.class);
        assertThat(history(log(), KEY)).isEmpty();
        assertThat(list(log(), KEY.tenant(), 10)).isEmpty();
    }

    @Test
    default void an_erase_of_what_was_never_written_counts_too() {
        long old = epoch();
        log().erase(KEY);

        assertThatThrownBy(() -> log().append(KEY, batch("a").inEpoch(old))).isInstanceOf(ErasedException.class);
        assertThat(list(log(), KEY.tenant(), 10)).isEmpty();
    }

    @Test
    default void work_in_the_epoch_in_force_goes_on() {
        log().append(KEY, batch("a").inEpoch(epoch()));
        Logs.moveHead(log(), KEY, "a", epoch());
        Logs.putSummary(log(), KEY, summary("a"), epoch());

        assertThat(branch(log(), KEY)).containsExactly("a");
    }

    @Test
    default void an_erased_memory_starts_afresh_and_its_ids_are_free() {
        log().append(KEY, batch("a", "b").withView(View.of(null, List.of())));
        Logs.putSummary(log(), KEY, summary("a"), epoch());
        Logs.describe(log(), KEY, "old title", Map.of());
        long epoch = log().erase(KEY);
        NewMessage other = message("a", UserMessage.from("else"), 3);

        AppendResult result = log().append(KEY, Append.under(Parent.head(), List.of(other)));

        assertThat(result.replayed()).isFalse();
        assertThat(result.previousHead()).isNull();
        assertThat(result.epoch()).isEqualTo(epoch);
        assertThat(log().append(KEY, batch("x").inEpoch(epoch)).previousHead()).isEqualTo("a");
        assertThat(branch(log(), KEY)).containsExactly("a", "x");
        assertThat(history(log(), KEY).get(0).message()).isEqualTo(UserMessage.from("else"));
        assertThat(history(log(), KEY, HistoryQuery.newest(1))).hasSize(2);
        Tail tail = log().read(KEY, ReadQuery.wholeBranch().upToSummary());
        assertThat(tail.view()).isNull();
        assertThat(tail.summary()).isNull();
        MemoryInfo info = list(log(), KEY.tenant(), 10).get(0);
        assertThat(info.title()).isNull();
        assertThat(info.messages()).isEqualTo(2);
        assertThat(info.tokens()).isEqualTo(13);
    }

    @Test
    default void the_revision_does_not_repeat_after_an_erase() {
        AppendResult before = log().append(KEY, batch("a"));
        log().erase(KEY);

        assertThat(log().append(KEY, batch("a")).revision()).isNotEqualTo(before.revision());
    }

    @Test
    default void another_process_sees_the_erase() throws Exception {
        MessageLog other = reopen();
        long old = other.append(KEY, batch("a")).epoch();
        log().erase(KEY);

        assertThat(branch(other, KEY)).isEmpty();
        assertThatThrownBy(() -> other.append(KEY, batch("b").inEpoch(old))).isInstanceOf(ErasedException.class);
    }

    @Test
    default void only_an_idle_memory_is_erased_as_idle() {
        MemoryKey absent = ConversationKey.of("acme", "absent");
        MemoryKey empty = ConversationKey.of("acme", "empty");
        log().append(KEY, batch("a"));
        // Appends that are held back are of a memory in use.
        log().flush(KEY);
        Logs.describe(log(), empty, "title", Map.of());
        Instant used = clock().instant().truncatedTo(ChronoUnit.MICROS);
        clock().advance(Duration.ofHours(1));

        for (MemoryKey key : List.of(KEY, empty, absent)) {
            assertThat(log().eraseIfIdle(key, used)).as("%s", key).isFalse();
        }
        assertThat(log().eraseIfIdle(absent, clock().instant())).isFalse();
        assertThat(log().eraseIfIdle(empty, clock().instant())).isTrue();
        assertThat(log().eraseIfIdle(KEY, clock().instant())).isTrue();
        assertThat(log().eraseIfIdle(KEY, clock().instant())).isFalse();
        assertThat(history(log(), KEY)).isEmpty();
    }

    @Test
    default void older_messages_that_are_imported_do_not_make_aMemory_idle() throws Exception {
        Instant used = clock().instant().truncatedTo(ChronoUnit.MICROS);
        MemoryKey batch = ConversationKey.of("acme", "batch");
        MemoryKey beside = ConversationKey.of("acme", "beside");
        MemoryKey first = ConversationKey.of("acme", "first");
        for (MemoryKey key : List.of(KEY, batch, beside)) {
            log().append(key, batch("a"));
        }
        Instant longAgo = used.minus(Duration.ofDays(400));
        log().append(KEY, imported(Parent.head(), longAgo, "b"));
        log().append(KEY, imported(Parent.head(), longAgo, "c", "d"));
        log().append(batch, imported(Parent.head(), longAgo, "b", "c"));
        log().append(beside, imported(Parent.of("a"), longAgo, "b"));
        log().append(beside, imported(Parent.of("a"), longAgo, "c"));
        log().append(
                        first,
                        Append.under(
                                        Parent.head(),
                                        List.of(importedAt(used.plusSeconds(5), "a"), importedAt(longAgo, "b")))
                                .asImport());
        clock().advance(Duration.ofSeconds(5));

        MessageLog other = reopen();
        for (MessageLog log : List.of(log(), other)) {
            assertThat(log.list("acme", ListQuery.first(10)).memories())
                    .hasSize(4)
                    .allSatisfy(info -> assertThat(info.lastUse())
                            .as("%s", info.key())
                            .isEqualTo(info.key().equals(first) ? used.plusSeconds(5) : used));
            for (MemoryKey key : List.of(KEY, batch, beside, first)) {
                assertThat(log.eraseIfIdle(key, used)).as("%s", key).isFalse();
            }
        }
        assertThat(other.eraseIfIdle(beside, used.plusSeconds(1))).isTrue();
        assertThat(other.eraseIfIdle(first, used.plusSeconds(1))).isFalse();
    }

    private static Append imported(Parent parent, Instant time, String... ids) {
        return Append.under(
                        parent, Stream.of(ids).map(id -> importedAt(time, id)).toList())
                .asImport();
    }

    private static NewMessage importedAt(Instant time, String id) {
        return new NewMessage(id, UserMessage.from(SECRET), 10, "test-counter", time);
    }

    @Test
    default void what_is_appended_while_aMemory_is_erased_as_idle_is_not_erased() throws Exception {
        MessageLog other = reopen();
        int races = Counts.of(30, 2_000);
        for (int i = 0; i < races; i++) {
            MemoryKey key = ConversationKey.of("acme", "race " + i);
            log().append(key, batch("old"));
            Instant since = clock().instant().plusSeconds(1);
            clock().advance(Duration.ofSeconds(2));
            CyclicBarrier start = new CyclicBarrier(2);
            CompletableFuture<Boolean> erasing = CompletableFuture.supplyAsync(() -> {
                meet(start);
                return other.eraseIfIdle(key, since);
            });
            meet(start);
            log().append(key, batch("new"));
            boolean erased = erasing.get();

            assertThat(ids(history(log(), key)))
                    .as("race %s, erased: %s", i, erased)
                    .isEqualTo(erased ? List.of("new") : List.of("old", "new"));
            log().erase(key);
        }
    }

    private static void meet(CyclicBarrier start) {
        try {
            start.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    private long epoch() {
        return log().read(KEY, ReadQuery.newest(0)).epoch();
    }
}

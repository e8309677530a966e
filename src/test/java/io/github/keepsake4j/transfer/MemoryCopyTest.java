package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.testing.WatchedLog;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** A copy holds all that its memory holds, whichever logs they are in, and however often the copy was interrupted. */
class MemoryCopyTest {

    private static final ConversationKey KEY = ConversationKey.of("acme", "c");
    private static final LocalDate FIRST = LocalDate.parse("2026-01-01");

    static MemoryKey key(int number) {
        return number % 3 == 0
                ? NodeKey.of("acme", "app", "c" + number, "writer")
                : ConversationKey.of("acme", "c" + number);
    }

    static MessageLog filled(long seed, int memories, int steps) {
        MessageLog log = new InMemoryMessageLog();
        for (int i = 0; i < memories; i++) {
            new RandomMemory(seed + i, log, key(i)).fill(steps);
        }
        return log;
    }

    @Tag("landing")
    @Test
    void e3_memories_are_the_same_after_they_went_through_every_home() throws Exception {
        long seed = Long.getLong("keepsake.seed", System.nanoTime());
        int memories = Counts.of(4, 60);
        MessageLog first = filled(seed, memories, Counts.of(30, 60));
        List<Home.Storage> open = new ArrayList<>();
        try {
            MessageLog from = first;
            for (Home home : List.of(
                    Home.SQLITE, Home.POSTGRESQL, Home.S3, Home.S3_TURNS, Home.FILES, Home.REDIS, Home.IN_MEMORY)) {
                Home.Storage storage = home.storage();
                open.add(storage);
                MessageLog to = storage.open();
                MemoryCopy.Report report = MemoryCopy.between(from, to).tenant("acme");
                assertThat(report.memories()).as("seed %d, %s", seed, home).isEqualTo(memories);
                assertThat(report.erased()).isEmpty();
                for (int i = 0; i < memories; i++) {
                    assertSame(first, to, key(i), "seed " + seed + ", " + home);
                }
                assertThat(Logs.usage(to, "acme", FIRST, FIRST.plusDays(30)))
                        .containsExactlyInAnyOrderElementsOf(Logs.usage(first, "acme", FIRST, FIRST.plusDays(30)));
                from = to;
            }
        } finally {
            open.forEach(Home.Storage::close);
        }
    }

    @Test
    void e3_several_tenants_are_copied_once_each() {
        MessageLog source = filled(1, 2, 10);
        source.append(
                ConversationKey.of("other", "c"),
                Append.underHead(NewMessage.of(UserMessage.from("hello"), 1, "words")));
        MessageLog target = new InMemoryMessageLog();
        MemoryCopy.Report report =
                MemoryCopy.between(source, target).tenants(List.of("other", "acme", "none", "other"));
        assertThat(report.memories()).isEqualTo(3);
        assertThat(target.list("other", ListQuery.first(9)).memories()).hasSize(1);
        assertThat(target.list("acme", ListQuery.first(9)).memories()).hasSize(2);
    }

    /** Compares by the port alone, since the copy compares by fingerprints. */
    static void assertSame(MessageLog one, MessageLog other, MemoryKey key, String what) {
        List<LoggedMessage> history =
                one.history(key, HistoryQuery.oldest(10_000)).messages();
        assertThat(other.history(key, HistoryQuery.oldest(10_000)).messages())
                .as(what)
                .isEqualTo(history);
        for (LoggedMessage message : history) {
            assertThat(Logs.made(other, key, message.id())).as(what).isEqualTo(Logs.made(one, key, message.id()));
            assertThat(shown(other, key, message.id())).as(what).isEqualTo(shown(one, key, message.id()));
        }
        MemoryDetails details = Logs.details(one, key);
        MemoryDetails copied = Logs.details(other, key);
        assertThat(copied.views()).as(what).isEqualTo(details.views());
        assertThat(copied.branches()).as(what).isEqualTo(details.branches());
        assertThat(copied.info().title()).as(what).isEqualTo(details.info().title());
        assertThat(copied.info().metadata()).as(what).isEqualTo(details.info().metadata());
        assertThat(Logs.summaries(other, key)).as(what).isEqualTo(Logs.summaries(one, key));
        assertThat(Set.copyOf(other.branches(key))).as(what).isEqualTo(Set.copyOf(one.branches(key)));
        assertThat(other.read(key, ReadQuery.newest(0)).head())
                .as(what)
                .isEqualTo(one.read(key, ReadQuery.newest(0)).head());
        assertSound(other, key);
    }

    /** A bucket reports an import that lacks its parent. */
    static void assertSound(MessageLog log, MemoryKey key) {
        assertThat(log.check(key)).allMatch(damage -> damage.problem().equals("the message's parent is missing"));
    }

    /** Returns what a read shows that ends in a message, except for the position. */
    private static List<Object> shown(MessageLog log, MemoryKey key, String end) {
        Tail tail = log.read(key, ReadQuery.newest(20).endingIn(end).upToSummary());
        List<Object> shown = new ArrayList<>();
        shown.add(tail.messages());
        shown.add(tail.system() == null ? "none" : tail.system());
        View view = tail.view();
        shown.add(view == null ? "none" : view);
        Summary summary = tail.summary();
        shown.add(summary == null ? "none" : summary);
        return shown;
    }

    @Test
    void e3_a_copy_that_broke_off_anywhere_goes_on() {
        long first = Long.getLong("keepsake.seed", System.nanoTime());
        for (int run = 0; run < Counts.of(10, 300); run++) {
            long seed = first + run;
            MessageLog source = filled(seed, 2, 40);
            MessageLog target = new InMemoryMessageLog();
            Random random = new Random(seed);
            boolean done = false;
            for (int tries = 0; !done && tries < 1_000; tries++) {
                try {
                    MemoryCopy.between(source, breaking(target, 1 + random.nextInt(30)))
                            .tenant("acme");
                    done = true;
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessage("broken off");
                }
            }
            for (int i = 0; i < 2; i++) {
                assertSame(source, target, key(i), "seed " + seed);
            }
        }
    }

    /** A log that fails at a change, before or after it was made. */
    static MessageLog breaking(MessageLog log, int after) {
        int[] left = {after};
        return Watched.log(log, call -> {
            boolean changes = Set.of(
                            "append", "putSummary", "moveHead", "moveBranch", "describe", "mergeMetadata", "setOutcome")
                    .contains(call.word());
            int now = changes ? left[0]-- : 9;
            if (now == 1 && after % 2 == 0) {
                throw new IllegalStateException("broken off");
            }
            Object result;
            result = call.proceed();
            if (now == 1) {
                throw new IllegalStateException("broken off");
            }
            return result;
        });
    }

    @Test
    void e3_a_memory_that_was_erased_in_the_target_stays_erased() {
        MessageLog source = filled(1, 2, 10);
        MessageLog target = new InMemoryMessageLog();
        target.erase(key(1));
        MemoryCopy.Report report = MemoryCopy.between(source, target).tenant("acme");
        assertThat(report.erased()).containsExactly(key(1));
        assertThat(report.memories()).isEqualTo(1);
        assertThat(target.history(key(1), HistoryQuery.oldest(10)).messages()).isEmpty();
    }

    /** Asserts that a copy fails when the memory is erased in its target, and later leaves it erased. */
    private static void assertErasedOnce(MemoryCopy copy, MessageLog target) {
        assertThatThrownBy(() -> copy.memory(key(1))).isInstanceOf(ErasedException.class);
        assertThat(Logs.details(target, key(1))).isEqualTo(MemoryDetails.NONE);
        assertThat(copy.memory(key(1)).erased()).containsExactly(key(1));
    }

    @Test
    void e3_a_memory_that_is_erased_in_the_target_while_it_is_copied_stays_erased() {
        for (int i = 0; i < 20; i++) {
            MessageLog source = filled(i, 2, 10);
            Logs.describe(source, key(1), "title", Map.of());
            MessageLog target = new InMemoryMessageLog();
            MemoryCopy copy = MemoryCopy.between(source, target).onProgress(progress -> target.erase(key(1)));
            assertErasedOnce(copy, target);
        }
    }

    @Test
    void e3_a_target_with_other_messages_is_refused_and_unchanged() {
        MessageLog source = filled(1, 2, 10);
        MessageLog target = new InMemoryMessageLog();
        target.append(key(1), Append.underHead(NewMessage.of(UserMessage.from("secret"), 1, "words")));
        assertThrown(
                        KeepsakeException.class,
                        () -> MemoryCopy.between(source, target).memory(key(1)),
                        key(1).toString())
                .hasMessageNotContaining("secret");
        assertThat(target.history(key(1), HistoryQuery.oldest(10)).messages()).hasSize(1);
    }

    @Test
    void e3_a_memory_that_grows_while_it_is_copied_is_copied_to_its_end() {
        MessageLog source = filled(1, 2, 10);
        MessageLog target = new InMemoryMessageLog();
        int[] more = {5};
        MemoryCopy.between(source, target)
                .onProgress(progress -> {
                    if (more[0]-- > 0) {
                        source.append(
                                progress.memory(),
                                Append.underHead(NewMessage.of(UserMessage.from("late"), 1, "words")));
                    }
                })
                .memory(key(1));
        assertSame(source, target, key(1), "grows");
    }

    @Test
    void e3_nothing_is_no_memory() {
        MessageLog target = new InMemoryMessageLog();
        MemoryCopy.Report report =
                MemoryCopy.between(new InMemoryMessageLog(), target).memory(KEY);
        assertThat(report.memories()).isZero();
        assertThat(Logs.details(target, KEY)).isEqualTo(MemoryDetails.NONE);
    }

    @Test
    void e3_an_outcome_that_changed_since_a_copy_is_copied() {
        MessageLog source = new InMemoryMessageLog();
        MessageLog target = new InMemoryMessageLog();
        source.append(
                KEY,
                Append.underHead(
                        new NewMessage("q", UserMessage.from("hello"), 1, "words", Instant.EPOCH)
                                .withOutcome(Outcome.incomplete("cancelled")),
                        new NewMessage("a", AiMessage.from("hi"), 1, "words", Instant.EPOCH)));
        MemoryCopy copy = MemoryCopy.between(source, target);
        copy.memory(KEY);
        Logs.setOutcome(source, KEY, "q", null, null);
        Logs.setOutcome(source, KEY, "a", Outcome.failed("timeout"), null);
        assertThat(copy.memory(KEY).messages()).isEqualTo(2);
        assertSame(source, target, KEY, "outcomes");
    }

    @Test
    void e3_a_memory_that_does_not_rest_is_told_at_the_end_and_the_others_are_copied() {
        MessageLog source = filled(1, 5, 3);
        MessageLog busy = new WatchedLog(source) {
            private int more;

            @Override
            protected void called(String method, Object[] arguments) {
                if (method.equals("history") && arguments[0].equals(key(3))) {
                    NewMessage next = new NewMessage("more " + more++, UserMessage.from("x"), 1, "test", null);
                    source.append(key(3), Append.underHead(next));
                }
            }
        }.log();
        MessageLog target = new InMemoryMessageLog();

        MemoryCopy.UnfinishedException unfinished =
                catchThrowableOfType(MemoryCopy.UnfinishedException.class, () -> MemoryCopy.between(busy, target)
                        .tenant("acme"));
        assertThat(unfinished).hasMessageContaining(key(3).toString());
        assertThat(unfinished.isRetryable()).isTrue();
        assertThat(unfinished.report().memories()).isEqualTo(4);
        for (int i : new int[] {0, 1, 2, 4}) {
            assertSame(source, target, key(i), "memory " + i);
        }
        assertThat(MemoryCopy.between(source, target).tenant("acme").memories()).isEqualTo(5);
    }

    @Test
    void e3_memories_that_are_erased_in_the_source_meanwhile_are_told_at_the_end_and_the_others_are_copied() {
        for (String at : List.of("history", "made", "details")) {
            MessageLog source = filled(1, 6, 30);
            for (int i = 0; i < 6; i++) {
                source.append(
                        key(i),
                        Append.underHead(
                                NewMessage.of(UserMessage.from("q"), 1, "words"),
                                NewMessage.of(AiMessage.from("a"), 1, "words")));
            }
            MessageLog erasing = new WatchedLog(source) {
                @Override
                protected void called(String method, Object[] arguments) {
                    MemoryKey key = Logs.key(arguments);
                    if (method.equals(at)
                            && key != null
                            && List.of(key(1), key(4)).contains(key)) {
                        source.erase(key);
                    }
                }
            }.log();
            MessageLog target = new InMemoryMessageLog();
            MemoryCopy copy = MemoryCopy.between(erasing, target);
            MemoryCopy.UnfinishedException unfinished =
                    catchThrowableOfType(MemoryCopy.UnfinishedException.class, () -> copy.tenant("acme"));
            assertThat(unfinished).as(at).isNotNull();
            assertThat(unfinished.isRetryable()).isFalse();
            assertThat(unfinished.report().memories()).as(at).isEqualTo(4);
            assertThat(List.of(unfinished.getSuppressed()))
                    .extracting(Throwable::getMessage)
                    .as(at)
                    .hasSize(2)
                    .anyMatch(text -> text.contains(key(1).toString()))
                    .anyMatch(text -> text.contains(key(4).toString()));
            for (int i : List.of(0, 2, 3, 5)) {
                assertSame(source, target, key(i), "memory " + i);
            }
        }
    }

    @Test
    void e3_a_memory_that_is_erased_in_the_target_meanwhile_is_reported_and_the_others_are_copied() {
        MessageLog source = filled(1, 4, 30);
        MessageLog target = new InMemoryMessageLog();
        MessageLog erasing = new WatchedLog(target) {
            @Override
            protected void called(String method, Object[] arguments) {
                if (method.equals("append") && arguments[0].equals(key(2))) {
                    target.erase(key(2));
                }
            }
        }.log();
        MemoryCopy.Report report = MemoryCopy.between(source, erasing).tenant("acme");
        assertThat(report.memories()).isEqualTo(3);
        assertThat(report.erased()).containsExactly(key(2));
    }

    /** Returns a log that erases a memory right before its n-th change of a title or of metadata. */
    static MessageLog erasing(MessageLog log, MemoryKey key, int nth) {
        int[] left = {nth};
        return Watched.log(log, call -> {
            boolean describes = Set.of("describe", "mergeMetadata").contains(call.word());
            if (describes && --left[0] == 0) {
                log.erase(key);
            }
            return call.proceed();
        });
    }

    @ParameterizedTest
    @Homes
    void e3_a_description_that_comes_behind_an_erasure_is_removed(Home home) throws Exception {
        MessageLog source = filled(1, 2, 10);
        Logs.describe(source, key(1), "private", Map.of("profile.name", "Ada"));
        try (Home.Storage storage = home.storage();
                MessageLog target = storage.open()) {
            MemoryCopy copy = MemoryCopy.between(source, erasing(target, key(1), 1));
            assertErasedOnce(copy, target);
        }
    }

    @Test
    void e3_a_memory_that_begins_anew_behind_an_erasure_keeps_its_messages_and_gets_no_old_description() {
        MessageLog source = filled(1, 2, 10);
        Logs.describe(source, key(1), "private", Map.of("profile.name", "Ada"));
        MessageLog target = new InMemoryMessageLog();
        MessageLog anew = Watched.log(target, call -> {
            if (call.word().equals("describe")) {
                target.erase(key(1));
                target.append(key(1), Append.underHead(NewMessage.of(UserMessage.from("anew"), 1, "words")));
            }
            return call.proceed();
        });
        assertThrown(
                ErasedException.class, () -> MemoryCopy.between(source, anew).memory(key(1)));
        assertThat(target.history(key(1), HistoryQuery.oldest(10)).messages()).hasSize(1);
        assertThat(Logs.details(target, key(1)).info().title()).isNull();
        assertThat(Logs.details(target, key(1)).info().metadata()).isEmpty();
    }

    @Test
    void e3_a_memory_that_is_gone_in_the_source_is_told_at_once() {
        MessageLog source = filled(1, 2, 10);
        MessageLog target = new InMemoryMessageLog();
        MemoryCopy copy = MemoryCopy.between(source, target);
        copy.tenant("acme");
        source.erase(key(1));
        assertThrown(KeepsakeException.class, () -> copy.memory(key(1)), key(1).toString(), "source");
        assertThat(copy.tenant("acme").memories()).isEqualTo(1);
        assertThat(Logs.details(target, key(1)).info()).isNotNull();
    }

    @Test
    void e3_a_memory_that_is_erased_in_the_source_while_it_is_copied_is_told_at_once() {
        for (boolean anew : List.of(false, true)) {
            MessageLog source = filled(1, 2, 10);
            int[] batches = {0};
            MemoryCopy copy = MemoryCopy.between(source, new InMemoryMessageLog())
                    .onProgress(progress -> {
                        batches[0]++;
                        source.erase(key(1));
                        if (anew) {
                            source.append(
                                    key(1), Append.underHead(NewMessage.of(UserMessage.from("anew"), 1, "words")));
                        }
                    });
            assertThrown(KeepsakeException.class, () -> copy.memory(key(1)), "erased in the source");
            assertThat(batches[0]).isEqualTo(1);
        }
    }

    @Test
    void e3_the_list_of_the_target_has_the_order_of_the_source() throws Exception {
        MessageLog source = new InMemoryMessageLog();
        for (int i = 0; i < 250; i++) {
            source.append(
                    ConversationKey.of("acme", "c" + (i * 7 % 250)),
                    Append.underHead(NewMessage.of(UserMessage.from("hello"), 1, "words")));
        }
        List<MemoryKey> listed = keys(source);
        assertThat(listed).hasSize(250);
        for (Home home : List.of(Home.IN_MEMORY, Home.SQLITE)) {
            try (Home.Storage storage = home.storage();
                    MessageLog target = storage.open()) {
                MemoryCopy.between(source, target).tenant("acme");
                assertThat(keys(target)).as("%s", home).isEqualTo(listed);
            }
        }
    }

    private static List<MemoryKey> keys(MessageLog log) {
        return log.list("acme", ListQuery.first(1_000)).memories().stream()
                .map(MemoryInfo::key)
                .toList();
    }
}

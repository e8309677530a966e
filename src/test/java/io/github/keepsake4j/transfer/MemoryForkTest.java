package io.github.keepsake4j.transfer;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Watched;
import java.time.Instant;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** A fork shows what its original shows at the message at which it was forked. */
class MemoryForkTest {

    private static final MemoryKey FROM = ConversationKey.of("acme", "c1");
    private static final MemoryKey INTO = ConversationKey.of("acme", "fork");
    private static final LocalDate FIRST = LocalDate.parse("2026-01-01");

    private static MessageLog log(String... texts) {
        MessageLog log = new InMemoryMessageLog();
        for (String text : texts) {
            log.append(FROM, Append.underHead(new NewMessage(text, UserMessage.from(text), 1, "words", Instant.EPOCH)));
        }
        return log;
    }

    private static List<String> texts(MessageLog log, MemoryKey key) {
        return log.history(key, HistoryQuery.oldest(1_000)).messages().stream()
                .map(message -> ((UserMessage) message.message()).singleText())
                .toList();
    }

    /** Returns what a message is, whatever its ids and its number are. */
    private static List<Object> told(LoggedMessage message) {
        return List.of(
                message.message(),
                message.tokens(),
                message.tokenCounter(),
                message.createdAt(),
                String.valueOf(message.outcome()));
    }

    private static List<List<Object>> branch(MessageLog log, MemoryKey key, String end) {
        return log.read(key, ReadQuery.wholeBranch().endingIn(end)).messages().stream()
                .map(MemoryForkTest::told)
                .toList();
    }

    @ParameterizedTest
    @Homes
    void g_a_fork_shows_what_its_original_shows(Home home) throws Exception {
        long first = Long.getLong("keepsake.seed", System.nanoTime());
        int runs = home == Home.IN_MEMORY ? Counts.of(20, 500) : Counts.of(1, home.counts(5, 500));
        for (int run = 0; run < runs; run++) {
            long seed = first + run;
            Random random = new Random(seed);
            try (Home.Storage storage = home.storage();
                    MessageLog log = storage.open()) {
                new RandomMemory(seed, log, FROM).fill(50);
                Logs.moveBranch(
                        log,
                        FROM,
                        "keepsake.left",
                        log.read(FROM, ReadQuery.newest(0)).head(),
                        null);
                List<LoggedMessage> history =
                        log.history(FROM, HistoryQuery.oldest(1_000)).messages();
                String end = history.get(random.nextInt(history.size())).id();
                List<Object> usage = List.copyOf(Logs.usage(log, "acme", FIRST, FIRST.plusDays(30)));
                MemoryFork.create(log, FROM, end, INTO);
                assertFork(log, end, "seed " + seed + ", " + home);
                assertThat(List.<Object>copyOf(Logs.usage(log, "acme", FIRST, FIRST.plusDays(30))))
                        .as("seed %d", seed)
                        .containsExactlyInAnyOrderElementsOf(usage);
                String fork = lines(log, INTO);
                MemoryFork.create(log, FROM, end, INTO);
                assertThat(lines(log, INTO)).as("again, seed %d", seed).isEqualTo(fork);
            }
        }
    }

    private static String lines(MessageLog log, MemoryKey key) {
        StringBuilder lines = new StringBuilder();
        MemoryLines.write(log, key, progress -> {}, line -> lines.append(line).append('\n'));
        return lines.toString();
    }

    private static void assertFork(MessageLog log, String end, String what) {
        String head = log.read(INTO, ReadQuery.newest(0)).head();
        List<LoggedMessage> original =
                log.read(FROM, ReadQuery.wholeBranch().endingIn(end)).messages();
        List<LoggedMessage> fork = log.read(INTO, ReadQuery.wholeBranch()).messages();
        assertThat(branch(log, INTO, head)).as(what).isEqualTo(branch(log, FROM, end));
        assertThat(log.history(INTO, HistoryQuery.oldest(1_000)).messages())
                .as(what)
                .isEqualTo(fork);
        Map<Long, Long> numbers = new HashMap<>();
        for (int i = 0; i < original.size(); i++) {
            numbers.put(original.get(i).sequence(), fork.get(i).sequence());
        }
        for (int i = 0; i < original.size(); i++) {
            assertMade(log, original.get(i), fork.get(i), numbers, what);
            assertThat(summary(log, INTO, fork.get(i).id()))
                    .as(what)
                    .isEqualTo(summary(log, FROM, original.get(i).id()));
        }
        Keepsake all = Keepsake.builder().messageLog(log).build();
        Keepsake limited = Keepsakes.on(log, SlidingWindow.withMaxMessages(5));
        String was = log.read(FROM, ReadQuery.newest(0)).head();
        Logs.moveHead(log, FROM, end, null);
        for (Keepsake keepsake : List.of(all, limited)) {
            assertThat(keepsake.conversation(INTO).messages())
                    .as(what)
                    .isEqualTo(keepsake.conversation(FROM).messages());
        }
        Logs.moveHead(log, FROM, was, null);
        MemoryDetails details = Logs.details(log, INTO);
        MemoryDetails before = Logs.details(log, FROM);
        assertThat(details.info().title()).as(what).isEqualTo(before.info().title());
        Map<String, String> metadata = new HashMap<>(before.info().metadata());
        metadata.put(MemoryFork.MEMORY, FROM.canonical());
        metadata.put(MemoryFork.MESSAGE, end);
        assertThat(details.info().metadata()).as(what).isEqualTo(metadata);
        MemoryCopyTest.assertSound(log, INTO);
        boolean sharesRoot = log.read(
                        FROM, ReadQuery.wholeBranch().endingIn(before.branches().get("keepsake.left")))
                .messages()
                .contains(original.get(0));
        assertThat(details.branches().containsKey("keepsake.left")).as(what).isEqualTo(sharesRoot);
    }

    private static List<String> summary(MessageLog log, MemoryKey key, String end) {
        Summary summary =
                log.read(key, ReadQuery.newest(0).endingIn(end).upToSummary()).summary();
        return summary == null
                ? List.of()
                : List.of(summary.text(), summary.createdAt().toString());
    }

    private static void assertMade(
            MessageLog log, LoggedMessage original, LoggedMessage fork, Map<Long, Long> numbers, String what) {
        Made before = Logs.made(log, FROM, original.id()).orElse(new Made(null, null));
        Made after = Logs.made(log, INTO, fork.id()).orElse(new Made(null, null));
        assertThat(after.request()).as(what).isEqualTo(before.request());
        assertThat(after.usage()).as(what).isNull();
        assertThat(after.seen() == null).as(what).isEqualTo(before.seen() == null);
        if (before.seen() != null) {
            assertThat(after.seen().sequences())
                    .as(what)
                    .isEqualTo(before.seen().sequences().stream()
                            .filter(numbers::containsKey)
                            .map(numbers::get)
                            .toList());
        }
    }

    @Test
    void g_a_fork_that_broke_off_anywhere_goes_on() {
        long first = Long.getLong("keepsake.seed", System.nanoTime());
        for (int run = 0; run < Counts.of(10, 300); run++) {
            long seed = first + run;
            MessageLog log = MemoryCopyTest.filled(seed, 2, 60);
            String end = log.read(FROM, ReadQuery.newest(0)).head();
            Random random = new Random(seed);
            boolean done = false;
            for (int tries = 0; !done && tries < 1_000; tries++) {
                try {
                    MemoryFork.create(MemoryCopyTest.breaking(log, 1 + random.nextInt(30)), FROM, end, INTO);
                    done = true;
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessage("broken off");
                }
            }
            assertThat(done).isTrue();
            MemoryKey whole = ConversationKey.of("acme", "whole");
            MemoryFork.create(log, FROM, end, whole);
            assertThat(branch(log, INTO, log.read(INTO, ReadQuery.newest(0)).head()))
                    .as("seed %d", seed)
                    .isEqualTo(branch(
                            log, whole, log.read(whole, ReadQuery.newest(0)).head()));
            assertThat(Logs.summaries(log, INTO)).as("seed %d", seed).hasSameSizeAs(Logs.summaries(log, whole));
            assertThat(Logs.details(log, INTO).views())
                    .as("seed %d", seed)
                    .hasSameSizeAs(Logs.details(log, whole).views());
            assertThat(Logs.details(log, INTO).branches().keySet())
                    .as("seed %d", seed)
                    .isEqualTo(Logs.details(log, whole).branches().keySet());
            assertThat(Logs.details(log, INTO).info().metadata())
                    .as("seed %d", seed)
                    .isEqualTo(Logs.details(log, whole).info().metadata());
        }
    }

    @Test
    void g_a_fork_and_its_original_go_on_by_themselves() {
        MessageLog log = log("q1", "q2", "q3");
        Keepsake keepsake = Keepsake.builder().messageLog(log).tenant("acme").build();
        Conversation fork = keepsake.conversation("c1").fork("q2", "fork");
        keepsake.chatMemory("fork").add(UserMessage.from("in the fork"));
        keepsake.chatMemory("c1").add(UserMessage.from("in the original"));
        assertThat(fork.messages())
                .containsExactly(UserMessage.from("q1"), UserMessage.from("q2"), UserMessage.from("in the fork"));
        assertThat(texts(log, FROM)).containsExactly("q1", "q2", "q3", "in the original");
        assertThat(keepsake.conversation("c1").fork("q2", "fork").messages()).hasSize(3);
        keepsake.conversation("c1").erase();
        assertThat(fork.messages()).hasSize(3);
    }

    @Test
    void g_a_fork_shows_the_list_that_was_set_on_its_branch() {
        MessageLog log = log("q1", "q2", "q3");
        log.append(FROM, Append.viewOnly(View.of(null, List.of(new View.Run("q1", "q2")))));
        log.append(FROM, Append.underHead(new NewMessage("q4", UserMessage.from("q4"), 1, "words", Instant.EPOCH)));
        log.append(FROM, Append.viewOnly(View.of(null, List.of())));
        log.append(FROM, Append.underHead(new NewMessage("q5", UserMessage.from("q5"), 1, "words", Instant.EPOCH)));
        Keepsake keepsake = Keepsake.builder().messageLog(log).tenant("acme").build();
        assertThat(keepsake.conversation("c1").fork("q5", "cleared").messages())
                .containsExactly(UserMessage.from("q5"));
        assertThat(keepsake.conversation("c1").fork("q2", "before").messages())
                .containsExactly(UserMessage.from("q1"), UserMessage.from("q2"));
        assertThat(keepsake.conversation("c1").fork("q3", "set").messages()).containsExactly(UserMessage.from("q2"));
    }

    @Test
    void g_a_memory_with_messages_of_its_own_is_no_fork() {
        MessageLog log = log("q1", "q2");
        log.append(INTO, Append.underHead(NewMessage.of(UserMessage.from("secret"), 1, "words")));
        assertThrown(KeepsakeException.class, () -> MemoryFork.create(log, FROM, "q1", INTO), INTO.toString())
                .hasMessageNotContaining("secret");
        assertThat(texts(log, INTO)).containsExactly("secret");
        assertThat(Logs.details(log, INTO).info().metadata()).isEmpty();
    }

    @Test
    void g_another_fork_into_the_same_memory_is_refused() {
        MessageLog log = log("q1", "q2");
        MemoryFork.create(log, FROM, "q1", INTO);
        assertThatThrownBy(() -> MemoryFork.create(log, FROM, "q2", INTO)).isInstanceOf(KeepsakeException.class);
        assertThat(texts(log, INTO)).containsExactly("q1");
    }

    @Test
    void g_a_fork_of_a_fork_tells_the_newer_origin() {
        MessageLog log = log("q1", "q2");
        MemoryFork.create(log, FROM, "q2", INTO);
        String end = log.read(INTO, ReadQuery.newest(0)).head();
        MemoryKey second = ConversationKey.of("acme", "second");
        MemoryFork.create(log, INTO, end, second);
        assertThat(texts(log, second)).containsExactly("q1", "q2");
        assertThat(Logs.details(log, second).info().metadata())
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of(MemoryFork.MEMORY, INTO.canonical(), MemoryFork.MESSAGE, end));
    }

    @Test
    void g_a_title_that_the_fork_has_already_stays() {
        MessageLog log = log("q1");
        Logs.describe(log, FROM, "original", Map.of("a", "1", "b", "2"));
        Logs.describe(log, INTO, "fork", Map.of("b", "3"));
        MemoryFork.create(log, FROM, "q1", INTO);
        assertThat(Logs.details(log, INTO).info().title()).isEqualTo("fork");
        assertThat(Logs.details(log, INTO).info().metadata())
                .containsEntry("a", "1")
                .containsEntry("b", "3")
                .containsEntry(MemoryFork.MESSAGE, "q1")
                .hasSize(4);
    }

    @Test
    void g_what_cannot_be_forked_is_refused() {
        MessageLog log = log("q1");
        Keepsake keepsake = Keepsake.builder().messageLog(log).tenant("acme").build();
        assertThrown(
                InvalidInputException.class, () -> keepsake.conversation("c1").fork("q1", "c1"));
        assertThrown(
                InvalidInputException.class,
                () -> keepsake.conversation("c1").fork("q1", ConversationKey.of("other", "x")),
                "tenant");
        assertThrown(InvalidInputException.class, () -> keepsake.conversation("c1")
                .fork("q1", NodeKey.of("acme", "a", "c", "n")));
        assertThrown(
                UnknownMessageException.class, () -> keepsake.conversation("c1").fork("gone", "fork"));
        assertThrown(UnknownMessageException.class, () -> keepsake.conversation("none")
                .fork("q1", "fork"));
        assertThat(Logs.details(log, INTO)).isEqualTo(MemoryDetails.NONE);
    }

    @Test
    void g_long_branches_are_forked_in_pages() {
        MessageLog log = new InMemoryMessageLog();
        for (int i = 0; i < 1_700; i++) {
            // Each other message is on another branch, so that the numbers of the fork are others.
            String id = "m" + i;
            Parent parent = i < 2 ? Parent.root() : Parent.of("m" + (i - 2));
            ChatMessage message = i % 4 == 0 ? UserMessage.from(id) : AiMessage.from(id);
            log.append(
                    FROM,
                    Append.under(
                            parent,
                            List.of(new NewMessage(id, message, 1, "words", Instant.EPOCH)
                                    .withUsage(i % 4 == 2 ? new Usage(1, 1, 0) : null))));
        }
        MemoryFork.create(log, FROM, "m1698", INTO);
        assertThat(branch(log, INTO, log.read(INTO, ReadQuery.newest(0)).head()))
                .hasSize(850)
                .isEqualTo(branch(log, FROM, "m1698"));
    }

    @ParameterizedTest
    @Homes
    void g_a_fork_that_is_erased_while_it_is_made_leaves_nothing(Home home) throws Exception {
        for (int nth = 1; nth <= 3; nth++) {
            MemoryKey into = ConversationKey.of("acme", "fork " + nth);
            try (Home.Storage storage = home.storage();
                    MessageLog log = storage.open()) {
                log.append(
                        FROM, Append.underHead(new NewMessage("q", UserMessage.from("q"), 1, "words", Instant.EPOCH)));
                Logs.describe(log, FROM, "private", Map.of("profile.name", "Ada"));
                MessageLog erasing = MemoryCopyTest.erasing(log, into, nth);
                assertThatThrownBy(() -> MemoryFork.create(erasing, FROM, "q", into))
                        .as("change %d", nth)
                        .isInstanceOf(ErasedException.class);
                assertThat(Logs.details(log, into)).as("change %d", nth).isEqualTo(MemoryDetails.NONE);
                MemoryFork.create(log, FROM, "q", into);
                assertThat(texts(log, into)).containsExactly("q");
            }
        }
    }

    @Test
    void g_a_fork_that_fails_has_no_description_of_its_original() {
        MessageLog log = log("q1");
        Logs.describe(log, FROM, "private", Map.of("profile.name", "Ada"));
        MessageLog failing = Watched.log(log, call -> {
            if (call.name().equals("append")) {
                throw new IllegalStateException("down");
            }
            return call.proceed();
        });
        assertThatThrownBy(() -> MemoryFork.create(failing, FROM, "q1", INTO)).hasMessage("down");
        assertThat(Logs.details(log, INTO).info().title()).isNull();
        assertThat(Logs.details(log, INTO).info().metadata().keySet())
                .allMatch(name -> name.startsWith("keepsake.fork."));
        MemoryFork.create(log, FROM, "q1", INTO);
        assertThat(Logs.details(log, INTO).info().title()).isEqualTo("private");
        assertThat(Logs.details(log, INTO).info().metadata()).containsEntry("profile.name", "Ada");
    }

    @Test
    void g_an_original_that_is_erased_while_it_is_forked_leaves_nothing() {
        MessageLog log = log("q1");
        MessageLog erasing = Watched.log(log, call -> {
            if (call.name().equals("details") && call.arguments()[0].equals(FROM)) {
                log.erase(FROM);
            }
            return call.proceed();
        });
        assertThrown(UnknownMessageException.class, () -> MemoryFork.create(erasing, FROM, "q1", INTO), "q1");
        assertThat(Logs.details(log, INTO)).isEqualTo(MemoryDetails.NONE);
    }
}

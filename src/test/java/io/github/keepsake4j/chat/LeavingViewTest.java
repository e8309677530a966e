package io.github.keepsake4j.chat;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageType;
import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns;
import io.github.keepsake4j.chat.turns.EndingTurns.TurnAssistant;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.turn.Turn;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A listener is told at least once which messages leave the view, and no turn waits for it or fails with it. */
class LeavingViewTest {

    @TempDir
    Path directory;

    private final MessageLog log = new InMemoryMessageLog();
    private final List<String> told = Collections.synchronizedList(new ArrayList<>());

    private Keepsake.Builder builder(ContextStrategy strategy) {
        return Keepsake.builder().messageLog(log).strategy(strategy).executor(Runnable::run);
    }

    private Keepsake keepsake(int window, LeavingViewListener listener) {
        return builder(SlidingWindow.withMaxMessages(window))
                .onLeavingView(listener)
                .build();
    }

    private LeavingViewListener telling() {
        return (key, messages) -> messages.forEach(message -> told.add(text(message)));
    }

    private static String text(LoggedMessage message) {
        return EndingTurns.text(List.of(message.message()));
    }

    private static void turn(Keepsake keepsake, String number) {
        KeepsakeChatMemory memory = keepsake.chatMemory("c");
        memory.messages();
        memory.add(user("q" + number));
        memory.messages();
        memory.add(ai("a" + number));
    }

    private static List<String> texts(String... numbers) {
        List<String> texts = new ArrayList<>();
        for (String number : numbers) {
            texts.add(EndingTurns.text(List.of(user("q" + number))));
            texts.add(EndingTurns.text(List.of(ai("a" + number))));
        }
        return texts;
    }

    @Test
    void what_the_next_view_leaves_out_is_told_once_and_in_order() {
        Keepsake keepsake = keepsake(4, telling());
        KeepsakeChatMemory memory = keepsake.chatMemory("c");
        memory.add(SystemMessage.from("rules"));
        memory.flush();
        turn(keepsake, "1");
        assertThat(told).isEmpty();
        turn(keepsake, "2");
        assertThat(told).isEqualTo(texts("1"));
        turn(keepsake, "3");
        turn(keepsake, "4");
        keepsake.chatMemory("c").messages();

        assertThat(told).isEqualTo(texts("1", "2", "3"));
    }

    @Test
    void another_process_goes_on_where_it_was_told() {
        turn(keepsake(2, telling()), "1");
        turn(keepsake(2, telling()), "2");
        turn(keepsake(2, telling()), "3");
        keepsake(2, telling()).chatMemory("c").messages();

        assertThat(told).isEqualTo(texts("1", "2"));
    }

    @Test
    void a_turn_does_not_wait_for_the_listener() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(4);
        Keepsake keepsake = builder(SlidingWindow.withMaxMessages(2))
                .executor(threads)
                .onLeavingView((key, messages) -> {
                    called.countDown();
                    waitFor(released);
                    telling().leaving(key, messages);
                    messages.forEach(message -> done.countDown());
                })
                .build();
        try {
            turn(keepsake, "1");
            turn(keepsake, "2");
            waitFor(called);
            turn(keepsake, "3");
            assertThat(told).isEmpty();
            released.countDown();
            waitFor(done);
            assertThat(told).isEqualTo(texts("1", "2"));
        } finally {
            released.countDown();
            threads.shutdown();
        }
    }

    private static void waitFor(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void a_listener_that_throws_breaks_no_turn_and_is_told_again() {
        List<Throwable> errors =
                new ArrayList<>(List.of(new IllegalStateException("secret"), new AssertionError("secret")));
        Keepsake keepsake = keepsake(2, (key, messages) -> {
            telling().leaving(key, messages);
            if (!errors.isEmpty() && errors.remove(0) instanceof RuntimeException e) {
                throw e;
            } else if (errors.isEmpty() && told.size() == 4) {
                throw new AssertionError("secret");
            }
        });
        turn(keepsake, "1");
        turn(keepsake, "2");
        keepsake.chatMemory("c").messages();
        keepsake.chatMemory("c").messages();
        keepsake.chatMemory("c").messages();

        assertThat(told).isEqualTo(texts("1", "1", "1"));
        assertThat(keepsake.conversation("c").messages()).hasSize(2);
    }

    @Test
    void what_was_not_told_before_the_process_ended_is_told_after_the_next_read() {
        // The executor of a process that is killed before it comes to its tasks.
        Keepsake killed = builder(SlidingWindow.withMaxMessages(2))
                .executor(task -> {})
                .onLeavingView(telling())
                .build();
        turn(killed, "1");
        turn(killed, "2");
        turn(killed, "3");
        assertThat(told).isEmpty();

        keepsake(2, telling()).chatMemory("c").messages();

        assertThat(told).isEqualTo(texts("1", "2"));
    }

    @Test
    void a_long_memory_is_told_in_parts_and_goes_on_behind_the_last_one() {
        KeepsakeChatMemory memory = Keepsake.builder().messageLog(log).build().chatMemory("c");
        List<ChatMessage> all = new ArrayList<>();
        for (int i = 0; i < 350; i++) {
            all.add(user("q" + i));
            all.add(ai("a" + i));
        }
        memory.add(all);
        List<Integer> sizes = new ArrayList<>();
        LeavingViewListener fails = (key, messages) -> {
            sizes.add(messages.size());
            if (sizes.size() == 2) {
                throw new IllegalStateException("later");
            }
            telling().leaving(key, messages);
        };
        Keepsake keepsake = keepsake(10, fails);
        keepsake.chatMemory("c").messages();
        assertThat(sizes).hasSize(2).allMatch(size -> size <= LeavingMessages.MOST);
        keepsake.chatMemory("c").messages();

        assertThat(told)
                .isEqualTo(all.subList(0, 690).stream()
                        .map(message -> EndingTurns.text(List.of(message)))
                        .toList());
    }

    @Test
    void another_branch_is_told_from_where_it_forks() {
        Keepsake keepsake = keepsake(2, telling());
        for (String number : List.of("1", "2", "3", "4")) {
            turn(keepsake, number);
        }
        assertThat(told).isEqualTo(texts("1", "2", "3"));
        LoggedMessage second = EndingTurns.logged(keepsake, "c").get(3);
        keepsake.conversation("c").switchTo(second.id());
        turn(keepsake, "5");
        turn(keepsake, "6");

        assertThat(told).isEqualTo(texts("1", "2", "3", "5"));
    }

    @Test
    void two_tabs_do_not_tell_the_same_again() {
        Keepsake keepsake = keepsake(2, telling());
        TurnAssistant assistant = keepsake.aiServices(TurnAssistant.class)
                .chatModel(new Script("fine"))
                .build();
        for (int i = 0; i < 5; i++) {
            assistant.chat("c", "here " + i, Turn.next());
            assistant.chat("c", "there " + i, Turn.on("tab"));
        }
        keepsake.chatMemory("c").messages();

        // The first turn is on both branches, and is told once for each.
        Set<String> questions = new HashSet<>(told);
        assertThat(questions).hasSize(1 + 4 + 4);
        assertThat(told.stream()
                        .filter(text -> text.contains("here ") && !text.contains("here 0") && !text.contains("there")))
                .doesNotHaveDuplicates();
        assertThat(told.stream().filter(text -> text.contains("there "))).doesNotHaveDuplicates();
    }

    @Test
    void nothing_is_told_of_an_erased_memory() {
        List<Runnable> tasks = new ArrayList<>();
        Keepsake keepsake = builder(SlidingWindow.withMaxMessages(2))
                .executor(tasks::add)
                .onLeavingView(telling())
                .build();
        turn(keepsake, "1");
        turn(keepsake, "2");
        keepsake.conversation("c").erase();
        List.copyOf(tasks).forEach(Runnable::run);
        tasks.clear();
        assertThat(told).isEmpty();

        turn(keepsake, "3");
        turn(keepsake, "4");
        tasks.forEach(Runnable::run);
        assertThat(told).isEqualTo(texts("3"));
    }

    @Test
    void a_turn_calls_the_log_as_often_as_without_a_listener() {
        List<List<String>> calls = new ArrayList<>();
        for (boolean listens : List.of(true, false)) {
            List<String> called = new ArrayList<>();
            MessageLog inner = new InMemoryMessageLog();
            MessageLog counting = Watched.log(inner, call -> {
                called.add(call.word());
                return call.proceed();
            });
            Keepsake.Builder builder = Keepsake.builder()
                    .messageLog(counting)
                    .strategy(SlidingWindow.withMaxMessages(4))
                    .executor(task -> {});
            Keepsake keepsake = (listens ? builder.onLeavingView(telling()) : builder).build();
            for (int i = 0; i < 5; i++) {
                turn(keepsake, "" + i);
            }
            calls.add(called);
        }
        assertThat(calls.get(0)).isNotEmpty().isEqualTo(calls.get(1));
    }

    @Test
    @ExpectedLog("could not be reported")
    void nothing_that_left_the_view_is_missed_with_any_strategy() {
        long seed = new Random().nextLong();
        Tell.line("LeavingViewTest seed " + seed);
        Random random = new Random(seed);
        int turns = 0;
        int again = 0;
        try (MessageLog file = SqliteMessageLog.open(directory.resolve("chat.db"))) {
            for (int run = 0; run < Counts.of(30, 1_000); run++) {
                ContextStrategy strategy = strategy(random);
                List<String> ids = new ArrayList<>();
                LeavingViewListener listener = (key, messages) -> {
                    int until = random.nextInt(5) == 0 ? random.nextInt(messages.size() + 1) : messages.size() + 1;
                    messages.stream().limit(until).forEach(message -> ids.add(message.id()));
                    if (until <= messages.size()) {
                        throw new IllegalStateException("killed");
                    }
                };
                Keepsake keepsake = null;
                for (int i = random.nextInt(30); i >= 0; i--) {
                    if (keepsake == null || random.nextInt(6) == 0) {
                        keepsake = Keepsake.builder()
                                .messageLog(file)
                                .tenant("t" + run)
                                .strategy(strategy)
                                .summarizer((previous, messages) -> "what was said")
                                .executor(Runnable::run)
                                .onLeavingView(listener)
                                .build();
                    }
                    turn(keepsake, i + " word".repeat(random.nextInt(20)));
                    turns++;
                }
                Keepsake last = Keepsake.builder()
                        .messageLog(file)
                        .tenant("t" + run)
                        .strategy(strategy)
                        .summarizer((previous, messages) -> "what was said")
                        .executor(Runnable::run)
                        .onLeavingView((key, messages) -> messages.forEach(message -> ids.add(message.id())))
                        .build();
                last.chatMemory("c").messages();

                List<String> left = new ArrayList<>();
                last.conversation("c").history(HistoryQuery.oldest(1_000)).messages().stream()
                        .filter(message -> message.message().type() != ChatMessageType.SYSTEM)
                        .forEach(message -> left.add(message.id()));
                last.conversation("c").context().logged().forEach(shown -> left.remove(shown.id()));
                assertThat(new HashSet<>(ids)).as("seed %d, run %d", seed, run).isEqualTo(new HashSet<>(left));
                again += ids.size() - left.size();
            }
        }
        Tell.line("%d turns, %d messages told again", turns, again);
    }

    private static ContextStrategy strategy(Random random) {
        WordCounter words = new WordCounter();
        return switch (random.nextInt(4)) {
            case 0 -> SlidingWindow.withMaxMessages(2 + random.nextInt(10));
            case 1 -> SlidingWindow.withMaxTurns(1 + random.nextInt(5));
            case 2 -> TokenLimit.withMaxTokens(100 + random.nextInt(200), words);
            default -> Summarization.triggerMessages(8).keepMessages(4);
        };
    }
}

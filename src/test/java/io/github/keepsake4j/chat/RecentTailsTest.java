package io.github.keepsake4j.chat;

import static io.github.keepsake4j.testing.Dialogue.call;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.image.Image;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.ContextTurn;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.view.ViewReader;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is read with the help of what was read before, against a read of everything. */
class RecentTailsTest {

    private static final MemoryKey KEY = ConversationKey.of("default", "x");

    private static final List<ReadQuery> QUERIES = List.of(
            ReadQuery.newest(20),
            ReadQuery.newest(20).upToSummary(),
            ReadQuery.newest(45),
            ReadQuery.newest(45).upToTokens(60),
            ReadQuery.wholeBranch(),
            ReadQuery.wholeBranch().upToSummary(),
            ReadQuery.wholeBranch().upToTokens(40),
            ReadQuery.wholeBranch().upToTokens(150).upToSummary(),
            ReadQuery.newest(5),
            ReadQuery.newest(20).alsoOldest(3));

    @ParameterizedTest
    @Homes
    void each_read_returns_what_the_log_returns(Home home) throws Exception {
        // In files, a copy that is older than what this process has seen is an error.
        boolean hasCopies = home == Home.SQLITE;
        for (int seed = 0; seed < home.counts(15, 1_700); seed++) {
            try (Home.Storage storage = home.storage();
                    MessageLog log = storage.open()) {
                Random random = new Random(seed);
                Steps steps = new Steps(log, random);
                RecentTails tails = new RecentTails();
                Set<ChatMessage> given = Collections.newSetFromMap(new IdentityHashMap<>());
                Home.Restore backup = null;
                steps.begin();
                // Mostly the same query, as in an application.
                ReadQuery usual = QUERIES.get(random.nextInt(QUERIES.size()));
                for (int step = 0; step < 60; step++) {
                    if (hasCopies && step > 0 && random.nextInt(20) == 0) {
                        backup = storage.copy();
                    }
                    if (backup != null && random.nextInt(20) == 0) {
                        backup.run();
                    } else {
                        steps.next();
                    }
                    // A number that is wrong costs a read, and nothing else.
                    tails.appended(KEY, random.nextInt(4));
                    ReadQuery query = random.nextInt(5) > 0 ? usual : QUERIES.get(random.nextInt(QUERIES.size()));
                    Tail tail = tails.read(log, KEY, query);
                    assertThat(tail)
                            .as("seed %d, step %d, %s", seed, step, query)
                            .isEqualTo(ViewReader.read(log, KEY, query));
                    if (home != Home.IN_MEMORY) {
                        continue;
                    }
                    tail.messages().forEach(message -> assertThat(given.add(message.message()))
                            .as("an instance of its own")
                            .isTrue());
                }
            } catch (AssertionError e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError("seed " + seed, e);
            }
            if (home == Home.POSTGRESQL && !Counts.isFull() && seed >= 1) {
                break;
            }
        }
    }

    @Test
    void a_turn_reads_a_few_messages_of_a_wide_window_in_one_call() {
        List<Integer> asked = new ArrayList<>();
        try (MessageLog inner = new InMemoryMessageLog()) {
            MessageLog log = asking(inner, asked);
            RecentTails tails = new RecentTails();
            Steps steps = new Steps(log, new Random(1));
            steps.append(2_000);
            for (int turn = 0; turn < 5; turn++) {
                assertThat(tails.read(log, KEY, ReadQuery.newest(1_000)).messages())
                        .hasSize(1_000);
                steps.append(3);
            }
            assertThat(asked).containsExactly(1_000, 10, 10, 10, 10);
            asked.clear();
            steps.append(30);
            tails.read(log, KEY, ReadQuery.newest(1_000));
            assertThat(asked).as("more are new than were read").containsExactly(10, 1_000);
            asked.clear();
            steps.append(30);
            tails.read(log, KEY, ReadQuery.newest(1_000));
            assertThat(asked).as("about as many are new as the last time").containsExactly(66);
        }
    }

    @Test
    void what_this_process_alone_appends_is_read_once() {
        List<Integer> asked = new ArrayList<>();
        try (MessageLog inner = new InMemoryMessageLog()) {
            MessageLog log = asking(inner, asked);
            Keepsake keepsake = keepsake(log);
            KeepsakeChatMemory memory = keepsake.chatMemory(KEY);
            memory.add(UserMessage.from("q"), AiMessage.from("a"));
            memory.messages();
            asked.clear();
            for (int turn = 1; turn <= 3; turn++) {
                for (int i = 0; i < turn; i++) {
                    memory.add(UserMessage.from("q"), AiMessage.from("a"));
                }
                assertThat(memory.messages()).hasSize(Math.min(20, turn * (turn + 1) + 2));
            }
            assertThat(asked)
                    .as("as many as were appended, behind one that is compared")
                    .containsExactly(3, 5, 7);
            asked.clear();
            memory.messages();
            assertThat(asked).as("nothing was appended here").containsExactly(10);
            asked.clear();
            for (int turn = 0; turn < 3; turn++) {
                keepsake(inner).chatMemory(KEY).add(UserMessage.from("q"), AiMessage.from("a"));
                memory.add(UserMessage.from("q"), AiMessage.from("a"));
                memory.messages();
            }
            assertThat(asked.subList(0, 2)).as("another process appends").containsExactly(3, 24);
            assertThat(asked.subList(2, asked.size()))
                    .as("it is expected to do so again")
                    .containsExactly(10, 10);
        }
    }

    @ParameterizedTest
    @Homes
    void two_processes_in_turns_see_what_a_fresh_read_shows(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open();
                MessageLog other = storage.open()) {
            Random random = new Random(1);
            List<MessageLog> logs = List.of(log, other);
            List<KeepsakeChatMemory> memories =
                    logs.stream().map(each -> keepsake(each).chatMemory(KEY)).toList();
            for (int turn = 0; turn < home.counts(300, 10_000); turn++) {
                int process = random.nextInt(20) == 0 ? random.nextInt(2) : turn % 2;
                KeepsakeChatMemory memory = memories.get(process);
                if (turn % 7 == 0) {
                    memory.add(SystemMessage.from("system " + random.nextInt(3)));
                }
                memory.add(UserMessage.from("q" + turn));
                assertThat(memory.messages())
                        .as("turn %d", turn)
                        .isEqualTo(keepsake(logs.get(process)).chatMemory(KEY).messages());
                memory.add(AiMessage.from("a" + turn));
            }
        }
    }

    @Test
    void a_tail_is_divided_into_turns_once() {
        try (MessageLog log = new InMemoryMessageLog()) {
            new Steps(log, new Random(1)).append(30);
            TailLoader loader =
                    new TailLoader(SlidingWindow.withMaxMessages(20), false, Runnable::run, System::nanoTime);
            Tail tail = log.read(KEY, ReadQuery.newest(20));
            List<ContextTurn> turns = loader.context("x", KEY, tail).turns();
            assertThat(loader.context("x", KEY, tail).turns()).isSameAs(turns);
            assertThat(loader.context("y", KEY, tail).memoryId()).isEqualTo("y");
            assertThat(loader.context("y", KEY, log.read(KEY, ReadQuery.newest(20)))
                            .turns())
                    .as("another read")
                    .isNotSameAs(turns);
        }
    }

    /** A log whose positions do not tell of changes other than appends under the head. */
    @Test
    void a_stale_tail_is_found() {
        int found = 0;
        for (int seed = 0; seed < 20; seed++) {
            try (MessageLog log = new InMemoryMessageLog()) {
                MessageLog planted = new ForwardingMessageLog(log) {
                    @Override
                    public Tail read(MemoryKey key, ReadQuery query) {
                        Tail tail = super.read(key, query);
                        Position same = new Position(1, 1, tail.head());
                        return new Tail(
                                same,
                                tail.messages(),
                                tail.oldest(),
                                tail.system(),
                                tail.user(),
                                tail.view(),
                                tail.summary(),
                                tail.complete(),
                                tail.missingParent());
                    }
                };
                Random random = new Random(seed);
                Steps steps = new Steps(log, random);
                RecentTails tails = new RecentTails();
                for (int step = 0; step < 60; step++) {
                    steps.next();
                    tails.appended(KEY, random.nextInt(4));
                    Tail tail = tails.read(planted, KEY, ReadQuery.newest(45));
                    if (!tail.equals(ViewReader.read(planted, KEY, ReadQuery.newest(45)))) {
                        found++;
                        break;
                    }
                }
            }
        }
        assertThat(found).as("schedules that find it").isPositive();
    }

    private static Keepsake keepsake(MessageLog log) {
        return Keepsakes.on(log, SlidingWindow.withMaxMessages(20));
    }

    private static MessageLog asking(MessageLog inner, List<Integer> asked) {
        return new WatchedLog(inner) {
            @Override
            protected void called(String method, Object[] arguments) {
                if (method.equals("read")) {
                    asked.add(((ReadQuery) arguments[1]).maxMessages());
                }
            }
        }.log();
    }

    @Test
    void a_caller_that_changes_an_attribute_changes_its_own_message_only() {
        try (MessageLog log = new InMemoryMessageLog()) {
            log.append(
                    KEY,
                    Append.underHead(NewMessage.of(
                            UserMessage.builder()
                                    .addContent(TextContent.from("q"))
                                    .attributes(Map.of("a", "stored"))
                                    .build(),
                            1,
                            "words")));
            RecentTails tails = new RecentTails();
            for (int i = 0; i < 3; i++) {
                UserMessage read = (UserMessage) tails.read(log, KEY, ReadQuery.newest(20))
                        .messages()
                        .get(0)
                        .message();
                assertThat(read.attributes()).containsExactly(Map.entry("a", "stored"));
                read.attributes().put("a", "changed");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = "SQLITE")
    void after_a_restored_backup_an_equal_position_does_not_tell_what_is_there(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open()) {
            Steps steps = new Steps(log, new Random(1));
            steps.append(50);
            Home.Restore backup = storage.copy();
            List<LoggedMessage> all = log.read(KEY, ReadQuery.newest(5)).messages();
            RecentTails tails = new RecentTails();
            Logs.setOutcome(log, KEY, all.get(0).id(), Outcome.failed("before"), null);
            tails.read(log, KEY, ReadQuery.newest(40));
            backup.run();
            Logs.setOutcome(log, KEY, all.get(1).id(), Outcome.failed("after"), null);

            assertThat(tails.read(log, KEY, ReadQuery.newest(40))).isEqualTo(log.read(KEY, ReadQuery.newest(40)));
        }
    }

    /** As after an erasure whose tombstone was removed, when the same ids are imported again. */
    @Test
    void another_text_under_the_same_id_and_position_is_shown() {
        RecentTails tails = new RecentTails();
        for (String text : List.of("erased", "new")) {
            try (MessageLog log = new InMemoryMessageLog()) {
                log.append(
                        KEY, Append.underHead(new NewMessage("id", UserMessage.from(text), 1, "words", Instant.EPOCH)));
                assertThat(tails.read(log, KEY, ReadQuery.newest(40)).messages())
                        .extracting(LoggedMessage::message)
                        .containsExactly(UserMessage.from(text));
            }
        }
    }

    @Test
    void a_class_of_a_users_own_log_is_returned_each_time() {
        final class Own extends UserMessage {
            Own() {
                super("q");
            }
        }
        try (MessageLog inner = new InMemoryMessageLog()) {
            new Steps(inner, new Random(1)).append(1);
            Tail stored = inner.read(KEY, ReadQuery.newest(40));
            LoggedMessage own = stored.messages().get(0).withMessage(new Own());
            Tail tail = new Tail(stored.position(), List.of(own), List.of(), null, own, null, null, true, null);
            MessageLog log = Watched.log(null, call -> tail);
            RecentTails tails = new RecentTails();
            for (int i = 0; i < 3; i++) {
                assertThat(tails.read(log, KEY, ReadQuery.newest(40))
                                .messages()
                                .get(0)
                                .message())
                        .isInstanceOf(Own.class);
            }
        }
    }

    /** Random changes of one memory. */
    private static final class Steps {
        private final MessageLog log;
        private final Random random;
        private int texts;

        Steps(MessageLog log, Random random) {
            this.log = log;
            this.random = random;
        }

        /** Some memories begin with a message whose parent is not there. */
        void begin() {
            if (random.nextBoolean()) {
                log.append(
                        KEY,
                        Append.under(Parent.of("missing"), List.of(message())).asImport());
            }
            append(3);
        }

        void next() {
            switch (random.nextInt(24)) {
                case 0 -> moveHead();
                case 1 -> appendElsewhere();
                case 2 -> setView();
                case 3 -> setOutcome();
                case 4, 5 -> summarize();
                case 6 -> {
                    if (random.nextInt(4) == 0) {
                        log.erase(KEY);
                    }
                }
                case 7 -> append(9 + random.nextInt(40));
                case 8 -> {}
                default -> append(1 + random.nextInt(4));
            }
        }

        void append(int count) {
            List<NewMessage> batch = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                batch.add(message());
            }
            log.append(KEY, Append.under(Parent.head(), batch));
        }

        private NewMessage message() {
            String text = "m" + texts++;
            ChatMessage message =
                    switch (random.nextInt(12)) {
                        case 0 -> SystemMessage.from(text);
                        case 1 ->
                            UserMessage.from(ImageContent.from(Image.builder()
                                    .base64Data("AAAA")
                                    .mimeType("image/png")
                                    .build()));
                        case 2 -> AiMessage.from(call(text, "tool", "{}"));
                        case 3 -> ToolExecutionResultMessage.from(text, "tool", "result");
                        case 4, 5, 6, 7 -> UserMessage.from(text);
                        default -> AiMessage.from(text);
                    };
            return new NewMessage(Ids.next(), message, random.nextInt(9), "words", null);
        }

        private List<LoggedMessage> all() {
            return log.history(KEY, HistoryQuery.newest(100)).messages();
        }

        private String any() {
            List<LoggedMessage> all = all();
            return all.isEmpty() ? null : all.get(random.nextInt(all.size())).id();
        }

        private void moveHead() {
            String any = any();
            if (any != null) {
                Logs.moveHead(log, KEY, any, null);
            }
        }

        private void appendElsewhere() {
            String any = any();
            Parent parent = any == null ? Parent.root() : Parent.of(any);
            Append append = Append.under(parent, List.of(message()));
            log.append(KEY, random.nextBoolean() ? append.onBranch("aside") : append);
        }

        private void setView() {
            String head = log.read(KEY, ReadQuery.newest(0)).head();
            if (head != null) {
                log.append(KEY, Append.under(Parent.head(), List.of(message())).withView(View.of(null, List.of())));
            }
        }

        private void setOutcome() {
            String any = any();
            if (any != null) {
                Logs.setOutcome(log, KEY, any, random.nextBoolean() ? Outcome.failed("test") : null, null);
            }
        }

        private void summarize() {
            Tail tail = log.read(KEY, ReadQuery.newest(60));
            if (tail.messages().isEmpty()) {
                return;
            }
            String covered =
                    tail.messages().get(random.nextInt(tail.messages().size())).id();
            Summary summary = new Summary(covered, "summary", 1, "words", 1, 1, null, Instant.EPOCH, 0);
            Logs.putSummary(log, KEY, summary, tail.epoch());
        }
    }
}

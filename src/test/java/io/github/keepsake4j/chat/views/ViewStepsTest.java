package io.github.keepsake4j.chat.views;

import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryPage;
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
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Keepsakes;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.WatchedLog;
import io.github.keepsake4j.view.ViewReader;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** A list is set in one step, whatever other writers do between the calls of the log within it. */
class ViewStepsTest {

    private static final MemoryKey KEY = ConversationKey.of("default", "x");

    private static final int WINDOW = 10_000;

    /**
     * Random schedules of writers, with changes between any two calls of the log. A reader reads before each call. It
     * must see a list that was current, and never one that was not set.
     */
    @ParameterizedTest
    @Homes
    @Timeout(value = 40, unit = TimeUnit.MINUTES)
    void a_reader_sees_only_lists_that_were_current(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open()) {
            for (int seed = 0; seed < home.counts(100, 2_000); seed++) {
                Schedule schedule = new Schedule(log, ConversationKey.of("default", "s" + seed), seed);
                try {
                    schedule.run();
                } catch (Throwable e) {
                    throw new AssertionError("seed " + seed + " after " + schedule.trace, e);
                }
            }
        }
    }

    @Test
    void what_is_shown_is_of_one_epoch_although_the_memory_is_erased_between_two_reads() {
        List<Function<MessageLog, Tail>> reads = List.of(
                log -> ViewReader.read(log, KEY, ReadQuery.newest(3)),
                log -> ViewReader.read(
                        log, KEY, ReadQuery.newest(9).upToSummary().alsoOldest(2)),
                log -> ViewReader.everything(log, KEY, 1, 0));
        for (int covered : new int[] {0, 4}) {
            for (Function<MessageLog, Tail> read : reads) {
                Set<List<String>> shown = new HashSet<>();
                for (int erasedBefore = 1; erasedBefore < 8; erasedBefore++) {
                    for (boolean isBegunAnew : new boolean[] {true, false}) {
                        MessageLog log = new InMemoryMessageLog();
                        write(log, "old", covered);
                        List<String> old = texts(read.apply(log));
                        AtomicInteger left = new AtomicInteger(erasedBefore);
                        WatchedLog watched = new WatchedLog(log) {
                            @Override
                            protected void called(String method) {
                                if (left.decrementAndGet() == 0) {
                                    log.erase(KEY);
                                    if (isBegunAnew) {
                                        write(log, "new", covered);
                                    }
                                }
                            }
                        };
                        List<String> seen = texts(read.apply(watched.log()));
                        assertThat(List.of(old, texts(read.apply(log)))).contains(seen);
                        shown.add(seen);
                    }
                }
                assertThat(shown).hasSize(3);
            }
        }
    }

    /** Writes ten messages, a view of some of the first eight, and a summary. */
    private static void write(MessageLog log, String name, int covered) {
        for (int i = 0; i < 10; i++) {
            NewMessage message = new NewMessage("m" + i, user(name + i), 1, "words", null);
            log.append(KEY, Append.underHead(message));
            if (i == 7) {
                View view = View.of(null, List.of(new View.Run("m1", "m3"), new View.Run("m5", "m6")));
                log.append(KEY, Append.viewOnly(covered == 0 ? view : view.behindSummary("m0")));
            }
        }
        for (int end : new int[] {0, covered}) {
            String text = name + " summary " + end;
            long epoch = log.read(KEY, ReadQuery.newest(0)).epoch();
            Logs.putSummary(log, KEY, new Summary("m" + end, text, 1, "words", 1, 1, null, Instant.EPOCH, 0), epoch);
        }
    }

    private static List<String> texts(Tail tail) {
        List<String> texts = new ArrayList<>();
        Stream.concat(tail.oldest().stream(), tail.messages().stream())
                .forEach(message -> texts.add(((UserMessage) message.message()).singleText()));
        texts.add(tail.summary() == null ? "" : tail.summary().text());
        return texts;
    }

    @ParameterizedTest
    @Homes
    @Timeout(120)
    void a_set_comes_through_while_sixteen_adders_never_pause(Home home) throws Exception {
        try (Home.Storage storage = home.storage();
                MessageLog log = storage.open()) {
            Keepsake keepsake = Keepsakes.on(log, SlidingWindow.withMaxMessages(Integer.MAX_VALUE));
            KeepsakeChatMemory memory = keepsake.chatMemory("x");
            memory.add(user("a"), user("b"), user("c"));
            AtomicBoolean done = new AtomicBoolean();
            CountDownLatch running = new CountDownLatch(16);
            ExecutorService threads = Executors.newFixedThreadPool(16);
            List<Future<Integer>> adders = new ArrayList<>();
            for (int t = 0; t < 16; t++) {
                int thread = t;
                adders.add(threads.submit(() -> {
                    KeepsakeChatMemory own = keepsake.chatMemory("x");
                    int added = 0;
                    while (!done.get()) {
                        own.add(user(thread + ":" + added++));
                        running.countDown();
                    }
                    return added;
                }));
            }
            running.await();
            // Where nothing is synced, other writers add so many messages in the meantime that each list is long.
            int sets =
                    switch (home) {
                        case SQLITE -> 20;
                        case POSTGRESQL -> Counts.of(3, 20);
                        case IN_MEMORY -> Counts.of(1, 3);
                        default -> 3;
                    };
            try {
                for (int i = 0; i < sets; i++) {
                    List<ChatMessage> list = memory.messages();
                    list.remove(0);
                    list.add(user("set " + i));
                    memory.set(list);
                }
            } finally {
                done.set(true);
            }
            int added = 3 + sets;
            for (Future<Integer> adder : adders) {
                added += adder.get();
            }
            threads.shutdown();
            List<String> history = texts(history(log, ConversationKey.of("default", "x")));
            List<String> shown = texts(memory.messages());
            // Sizes only: in memory, the lists are too long to be printed.
            assertThat(history.size()).isEqualTo(added);
            assertThat(new HashSet<>(history).size()).isEqualTo(added);
            assertThat(shown.size()).isEqualTo(added - sets);
            assertThat(new HashSet<>(shown).size()).isEqualTo(added - sets);
        }
    }

    @ParameterizedTest
    @Homes
    void an_unchanged_list_costs_one_read_of_the_position_and_no_write(MessageLog inner) throws Exception {
        WatchedLog watched = new WatchedLog(inner);
        Keepsake keepsake = Keepsake.builder().messageLog(watched.log()).build();
        KeepsakeChatMemory memory = keepsake.chatMemory("x");
        memory.add(user("1"), user("2"), user("3"));
        for (int round = 0; round < 3; round++) {
            List<ChatMessage> list = memory.messages();
            watched.calls().clear();
            memory.set(list);
            assertThat(watched.calls()).containsExactly("read");
            keepsake.chatMemory("x").add(user("another " + round));
        }
        KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
        List<ChatMessage> list = store.getMessages("x");
        watched.calls().clear();
        store.updateMessages("x", list);
        assertThat(watched.calls()).containsExactly("read");
        list.add(user("new"));
        store.updateMessages("x", list);
        watched.calls().clear();
        store.updateMessages("x", list);
        assertThat(watched.calls()).as("a list that was set, set again").containsExactly("read");
    }

    private static List<ChatMessage> history(MessageLog log, MemoryKey key) {
        List<ChatMessage> all = new ArrayList<>();
        HistoryQuery query = HistoryQuery.oldest(500);
        while (query != null) {
            HistoryPage page = log.history(key, query);
            page.messages().forEach(message -> all.add(message.message()));
            query = page.next().orElse(null);
        }
        return all;
    }

    private static List<String> texts(List<ChatMessage> messages) {
        return messages.stream()
                .map(message -> ((UserMessage) message).singleText())
                .toList();
    }

    /** Writers on one memory. Each message has a text of its own, so that a text names a row. */
    private static final class Schedule {

        private static final int STEPS = 12;
        private static final int MOST_MEETINGS = 3;

        private final MessageLog log;
        private final MemoryKey key;
        private final Random random;
        private final List<Writer> writers = new ArrayList<>();
        private final List<String> trace = new ArrayList<>();

        /** The texts that the memory shows. */
        private List<String> current = List.of();

        /** The order in which texts were stored. */
        private final Map<String, Integer> sequences = new HashMap<>();

        private final Map<String, String> ids = new HashMap<>();

        /** The texts that the reader saw during a step. */
        private final List<List<String>> seen = new ArrayList<>();

        private int texts;
        private int depth;

        Schedule(MessageLog log, MemoryKey key, int seed) {
            this.log = log;
            this.key = key;
            this.random = new Random(seed);
            for (int i = 0; i < 3; i++) {
                writers.add(new Writer());
            }
        }

        void run() {
            for (int i = 0; i < STEPS; i++) {
                step();
            }
            List<String> history = ViewStepsTest.texts(history(log, key));
            assertThat(history).doesNotHaveDuplicates().hasSize(texts);
            assertThat(history).containsExactlyInAnyOrderElementsOf(sequences.keySet());
        }

        private void step() {
            Writer writer = writers.get(random.nextInt(writers.size()));
            if (writer.busy) {
                return;
            }
            writer.busy = true;
            depth++;
            try {
                switch (random.nextInt(10)) {
                    case 0, 1 -> writer.add();
                    case 2 -> writer.clear();
                    case 3 -> writer.switchTo();
                    case 4 -> writer.appendUnder();
                    case 5 -> writer.read();
                    default -> writer.set();
                }
            } finally {
                depth--;
                writer.busy = false;
            }
            assertThat(shown(null)).as("after the step").isEqualTo(current);
        }

        /** Runs before each call of a writer's log: a reader reads, and other writers make changes. */
        private void meet(Writer writer, String method) {
            assertThat(shown(null)).as("between calls").isEqualTo(current);
            for (int i = 0; depth < MOST_MEETINGS && i < 2 && random.nextInt(3) == 0; i++) {
                step();
            }
            writer.before(method);
        }

        private List<String> shown(String end) {
            ReadQuery query = ReadQuery.wholeBranch();
            List<LoggedMessage> messages = ViewReader.read(log, key, end == null ? query : query.endingIn(end))
                    .messages();
            messages.forEach(message -> ids.put(((UserMessage) message.message()).singleText(), message.id()));
            return ViewStepsTest.texts(
                    messages.stream().map(LoggedMessage::message).toList());
        }

        private Position position() {
            return log.read(key, ReadQuery.newest(0)).position();
        }

        /** Returns the sequence of the newest message of the current branch. */
        private int newest() {
            String head = position().head();
            if (head == null) {
                return 0;
            }
            ChatMessage message = Logs.find(log, key, List.of(head)).get(0).message();
            return sequences.get(((UserMessage) message).singleText());
        }

        private String newText() {
            return "m" + texts++;
        }

        private void stored(String text) {
            sequences.put(text, sequences.size() + 1);
        }

        /** What a writer received or set: the texts, the sequence of the newest one, and the position of the memory. */
        private record Sight(long number, int newest, List<String> texts, Position position) {}

        private final class Writer {
            private final boolean usesStore = random.nextBoolean();
            private final KeepsakeChatMemory memory;
            private final KeepsakeChatMemoryStore store;
            private final IdentityHashMap<ChatMessage, Sight> sights = new IdentityHashMap<>();
            private List<ChatMessage> last = List.of();
            private boolean busy;

            /** The state at each read of the current step: the newest message and the shown texts. */
            private final List<Sight> looks = new ArrayList<>();

            /** The number of messages that each of these reads requested. */
            private final List<Integer> asked = new ArrayList<>();

            /** The message to which the current step moves the head, and the texts of its branch. */
            private String target;

            private List<String> branch = List.of();

            /** The position of the memory before the newest append. */
            private Position appendedAt;

            Writer() {
                MessageLog watched = new WatchedLog(log) {
                    @Override
                    protected void called(String method, Object[] arguments) {
                        meet(Writer.this, method);
                        if (method.equals("read")) {
                            asked.add(((ReadQuery) arguments[1]).maxMessages());
                        }
                    }
                }.log();
                Keepsake keepsake = Keepsakes.on(watched, SlidingWindow.withMaxMessages(WINDOW));
                memory = keepsake.chatMemory(key);
                store = keepsake.chatMemoryStore();
            }

            void before(String method) {
                if (target != null && (method.equals("append") || method.equals("moveHead"))) {
                    branch = shown(target);
                }
                if (method.equals("append")) {
                    appendedAt = position();
                }
                if (method.equals("read")) {
                    looks.add(new Sight(0, newest(), current, position()));
                }
            }

            void add() {
                String text = newText();
                trace.add("add " + text);
                memory.add(user(text));
                stored(text);
                current = with(current, text);
            }

            void clear() {
                trace.add("clear");
                looks.clear();
                if (usesStore) {
                    store.deleteMessages(key);
                } else {
                    memory.clear();
                }
                // Messages that arrive between the last read and the step stay.
                int newest = looks.get(looks.size() - 1).newest();
                current = current.stream()
                        .filter(text -> sequences.get(text) > newest)
                        .toList();
                last = List.of();
            }

            void switchTo() {
                if (ids.isEmpty()) {
                    return;
                }
                List<String> all = new ArrayList<>(ids.keySet());
                Collections.sort(all);
                String text = all.get(random.nextInt(all.size()));
                trace.add("switch to " + text);
                target = ids.get(text);
                try {
                    conversation().switchTo(target);
                } finally {
                    target = null;
                }
                current = branch;
            }

            void appendUnder() {
                if (ids.isEmpty()) {
                    return;
                }
                List<String> all = new ArrayList<>(ids.keySet());
                Collections.sort(all);
                String parent = all.get(random.nextInt(all.size()));
                String text = newText();
                trace.add("append " + text + " under " + parent);
                target = ids.get(parent);
                try {
                    conversation().append(Parent.of(target), Ids.next(), user(text));
                } finally {
                    target = null;
                }
                stored(text);
                current = with(branch, text);
            }

            private Conversation conversation() {
                MessageLog watched = new WatchedLog(log) {
                    @Override
                    protected void called(String method) {
                        meet(Writer.this, method);
                    }
                }.log();
                return Keepsake.builder().messageLog(watched).build().conversation(key);
            }

            void read() {
                trace.add("read");
                looks.clear();
                asked.clear();
                last = usesStore ? store.getMessages(key) : memory.messages();
                Sight look = look();
                assertThat(ViewStepsTest.texts(last)).isEqualTo(look.texts());
                Sight sight = new Sight(++numbers, look.newest(), look.texts(), look.position());
                last.forEach(message -> sights.put(message, sight));
            }

            /**
             * Returns what the current step has seen. A first short read tells whether what was read last is still
             * current. If not, everything is read anew.
             */
            private Sight look() {
                boolean isShort = asked.get(0) < (usesStore ? 1 : WINDOW);
                boolean isAnew = isShort && asked.size() > 1 && (usesStore || asked.get(1) >= WINDOW);
                return looks.get(isAnew ? 1 : 0);
            }

            /** Sets some of the messages that were received or set last, in order, and new ones. */
            void set() {
                if (random.nextBoolean()) {
                    read();
                }
                List<ChatMessage> list = new ArrayList<>();
                last.forEach(message -> {
                    if (random.nextInt(4) > 0) {
                        list.add(message);
                    }
                });
                List<String> added = new ArrayList<>();
                for (int i = random.nextInt(3); i >= 0 || list.isEmpty(); i--) {
                    String text = newText();
                    added.add(text);
                    list.add(random.nextInt(4) == 0 ? random.nextInt(list.size() + 1) : list.size(), user(text));
                }
                Sight saw = null;
                for (ChatMessage message : list) {
                    Sight sight = sights.get(message);
                    saw = sight != null && (saw == null || saw.number() < sight.number()) ? sight : saw;
                }
                List<String> texts = ViewStepsTest.texts(list);
                trace.add("set " + texts);
                looks.clear();
                asked.clear();
                appendedAt = null;
                if (usesStore) {
                    store.updateMessages(key, list);
                } else {
                    memory.set(list);
                }
                // A list without a returned instance is compared with the messages that the memory shows when it is
                // read.
                Sight sighted = saw == null ? look() : saw;
                int newest = sighted.newest();
                List<String> knownTexts = sighted.texts();
                List<String> next = new ArrayList<>(texts);
                current.stream()
                        .filter(text ->
                                sequences.get(text) > newest && !knownTexts.contains(text) && !texts.contains(text))
                        .forEach(next::add);
                List<String> order = new ArrayList<>(texts);
                order.retainAll(added);
                order.forEach(Schedule.this::stored);
                current = next;
                boolean unmet = appendedAt != null && appendedAt.equals(sighted.position());
                Sight sight = unmet
                        ? new Sight(++numbers, newest(), texts, position())
                        : new Sight(++numbers, newest, texts, appendedAt == null ? sighted.position() : null);
                list.forEach(message -> sights.put(message, sight));
                last = list;
            }
        }

        private static long numbers;

        private static List<String> with(List<String> list, String text) {
            List<String> more = new ArrayList<>(list);
            more.add(text);
            return more;
        }
    }
}

package io.github.keepsake4j.chat.store;

import static io.github.keepsake4j.testing.Dialogue.user;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A process whose four threads add to one conversation and set its list, through one memory object, one of their own, and
 * the store, until the process is killed. It prints each text that was acknowledged. Arguments: a name for the texts, and
 * a SQLite file, or the port and name of a database.
 */
final class SetLoad {

    private final Keepsake keepsake;
    private final KeepsakeChatMemory shared;
    private final String name;

    private SetLoad(MessageLog log, String name) {
        this.keepsake = Keepsake.builder()
                .messageLog(log)
                .tokenCountEstimator(new WordCounter())
                .strategy(SlidingWindow.withMaxMessages(40))
                .build();
        this.shared = keepsake.chatMemory("load");
        this.name = name;
    }

    public static void main(String[] arguments) throws Exception {
        MessageLog log = arguments.length == 2
                ? SqliteMessageLog.open(Path.of(arguments[1]))
                : PostgresMessageLog.open(Postgres.trustingPool(
                        Postgres.database(arguments[2], Integer.parseInt(arguments[1])), 4, true));
        SetLoad load = new SetLoad(log, arguments[0]);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            threads.add(new Thread(() -> load.run(number)));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void run(int thread) {
        KeepsakeChatMemory memory = thread < 2 ? shared : keepsake.chatMemory("load");
        KeepsakeChatMemoryStore store = keepsake.chatMemoryStore();
        Random random = new Random();
        for (int number = 0; ; number++) {
            String text = name + "-" + thread + "-" + number;
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> memory.add(user(text));
                case 3 -> {
                    List<ChatMessage> list = store.getMessages("load");
                    List<ChatMessage> window = list.subList(Math.max(0, list.size() - 20), list.size());
                    window.add(user(text));
                    store.updateMessages("load", new ArrayList<>(window));
                }
                case 4 -> {
                    // To clear and to add again are several calls, so each thread does it on a memory object of its
                    // own.
                    KeepsakeChatMemory own = keepsake.chatMemory("load");
                    List<ChatMessage> list = own.messages();
                    own.clear();
                    list.stream().limit(5).forEach(own::add);
                    own.add(user(text));
                }
                default -> {
                    List<ChatMessage> list = memory.messages();
                    if (!list.isEmpty()) {
                        list.remove(random.nextInt(list.size()));
                    }
                    memory.messages();
                    list.add(user(text));
                    memory.set(list);
                }
            }
            acknowledge(text);
        }
    }

    private static void acknowledge(String text) {
        synchronized (System.out) {
            System.out.println(text);
        }
    }

    static String text(ChatMessage message) {
        return ((UserMessage) message).singleText();
    }
}

package io.github.keepsake4j.transfer.jdbc;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Threads;
import io.github.keepsake4j.testing.WordCounter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import javax.sql.DataSource;

/**
 * A process whose threads use conversations for the first time, in an order of their own, while one of them erases. It prints
 * the id of each that it added to. Arguments: a name for the texts, the port and the name of a database, a table's name, the
 * number of conversations.
 */
final class ImportProcess {

    private ImportProcess() {}

    public static void main(String[] arguments) throws Exception {
        run(
                arguments[0],
                Postgres.kept(arguments[2], Integer.parseInt(arguments[1])),
                arguments[3],
                Integer.parseInt(arguments[4]),
                System.out::println);
    }

    static void run(String name, DataSource pool, String table, int conversations, Consumer<String> used)
            throws Exception {
        try (MessageLog log = Postgres.log(pool)) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .tokenCountEstimator(new WordCounter())
                    .importFrom(
                            table.equals("chat_memory")
                                    ? JdbcImportSource.langChain4j(pool)
                                    : JdbcImportSource.springAi(pool))
                    .build();
            Threads.run(8, thread -> use(keepsake, name, thread, conversations, used));
        }
    }

    private static void use(Keepsake keepsake, String name, int thread, int conversations, Consumer<String> used) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < conversations; i++) {
            order.add(i);
        }
        Collections.shuffle(order, new Random());
        for (int i : order) {
            KeepsakeChatMemory memory = keepsake.chatMemory(id(i));
            if (isErased(i) && thread == 0) {
                keepsake.conversation(id(i)).erase();
                continue;
            }
            try {
                if (thread % 2 == 0) {
                    memory.messages();
                }
                if (!isErased(i)) {
                    memory.add(UserMessage.from("new " + name + " " + thread));
                    used.accept(id(i));
                }
            } catch (ErasedException e) {
                if (!isErased(i)) {
                    throw e;
                }
            }
        }
    }

    /** Returns the id of a conversation. */
    static String id(int number) {
        return "c" + number;
    }

    /** Returns whether a conversation is erased by one thread of each process while others use it. */
    static boolean isErased(int number) {
        return number % 10 == 7;
    }
}

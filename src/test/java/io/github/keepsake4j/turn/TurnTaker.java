package io.github.keepsake4j.turn;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * A process that takes turns in the conversation "shared". Arguments: the log ("sqlite:file" or
 * "postgres:port:database"), the process's name, the policy, the number of turns or "stop", and the lease in
 * milliseconds. Each turn counts on from the last answer that it is shown. With "stop", the process begins one turn,
 * prints that it did, and never ends it. The process takes more turns than requested while the other process was next
 * in fewer than a tenth of them.
 */
final class TurnTaker {

    private TurnTaker() {}

    public static void main(String[] arguments) throws Exception {
        String name = arguments[1];
        TurnPolicy policy = TurnPolicy.valueOf(arguments[2]);
        Duration lease = Duration.ofMillis(Long.parseLong(arguments[4]));
        try (Place place = Place.open(arguments[0])) {
            Keepsake keepsake = keepsake(place.log(), lease);
            if (arguments[3].equals("stop")) {
                warmUp(keepsake);
                keepsake.turn("shared", policy, () -> stop(keepsake, name));
            }
            System.out.println("ready");
            take(keepsake, name, policy, Integer.parseInt(arguments[3]), System.out::println);
        }
    }

    static void take(Keepsake keepsake, String name, TurnPolicy policy, int count, Consumer<String> asked)
            throws InterruptedException {
        for (int i = 0; i < count || changes(keepsake) <= count / 10; i++) {
            // This is the time that a user thinks. Without it, the process that has just had a turn usually gets
            // the next one too.
            Thread.sleep(ThreadLocalRandom.current().nextInt(30));
            String question = name + "-" + i;
            keepsake.turn("shared", policy, () -> countOn(keepsake.chatMemory("shared"), question));
            asked.accept(question);
        }
    }

    static Keepsake keepsake(MessageLog log, Duration lease) {
        return Keepsake.builder()
                .messageLog(log)
                .tokenCountEstimator(new WordCounter())
                .turnLease(lease)
                .turnWait(Duration.ofMinutes(10))
                .build();
    }

    /** Does what an AI service does in a turn, with a model that adds one to the last answer. */
    static Void countOn(KeepsakeChatMemory memory, String question) {
        List<ChatMessage> shown = memory.messages();
        int last = shown.stream()
                .filter(AiMessage.class::isInstance)
                .mapToInt(message -> Integer.parseInt(((AiMessage) message).text()))
                .reduce(0, (before, newer) -> newer);
        memory.add(user(question));
        memory.add(ai(String.valueOf(last + 1)));
        return null;
    }

    /** Returns how often a turn was taken by another process than the turn before it. */
    static int changes(Keepsake keepsake) {
        List<String> names = new ArrayList<>();
        for (ChatMessage message : everything(keepsake)) {
            if (message instanceof UserMessage question) {
                names.add(question.singleText().split("-")[0]);
            }
        }
        return (int) IntStream.range(1, names.size())
                .filter(i -> !names.get(i).equals(names.get(i - 1)))
                .count();
    }

    static List<ChatMessage> everything(Keepsake keepsake) {
        List<ChatMessage> all = new ArrayList<>();
        HistoryQuery next = HistoryQuery.oldest(1000);
        while (next != null) {
            HistoryPage page = keepsake.conversation("shared").history(next);
            page.messages().stream().map(LoggedMessage::message).forEach(all::add);
            next = page.next().orElse(null);
        }
        return all;
    }

    /** Does everything once, because the slow first calls must not use up a short lease. */
    static void warmUp(Keepsake keepsake) {
        keepsake.turn("another", TurnPolicy.WAIT, () -> countOn(keepsake.chatMemory("another"), "first"));
    }

    private static Void stop(Keepsake keepsake, String name) {
        keepsake.chatMemory("shared").add(user(name));
        System.out.println("in its turn");
        while (true) {
            LockSupport.park();
        }
    }

    /** A log that two processes open by its name. */
    record Place(MessageLog log, AutoCloseable pool) implements AutoCloseable {

        static Place open(String name) {
            String[] parts = name.split(":", 3);
            if (parts[0].equals("sqlite")) {
                return new Place(SqliteMessageLog.open(Path.of(parts[1])), () -> {});
            }
            HikariDataSource pool =
                    Postgres.trustingPool(Postgres.database(parts[2], Integer.parseInt(parts[1])), 4, true);
            JdbcMessageLog log = Postgres.log(pool);
            return new Place(log, pool);
        }

        @Override
        public void close() throws Exception {
            log.close();
            pool.close();
        }
    }
}

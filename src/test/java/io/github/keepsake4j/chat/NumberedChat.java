package io.github.keepsake4j.chat;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A process that chats in the conversation "numbered". Its messages are numbered from one on, and it prints each number
 * when the message is stored. Its summaries contain the numbers that they were made from. Arguments: the SQLite file,
 * and the number of turns, or 0 to chat until the process is killed.
 */
final class NumberedChat implements Summarizer {

    static final Summarization STRATEGY = Summarization.triggerMessages(6).keepMessages(2);

    public static void main(String[] arguments) throws Exception {
        int turns = Integer.parseInt(arguments[1]);
        try (MessageLog log = SqliteMessageLog.open(Path.of(arguments[0]))) {
            // A killed process leaves a short lease behind. A process that ends by itself has more time.
            Keepsake keepsake = keepsake(log, Duration.ofMillis(turns == 0 ? 600 : 5_000));
            int number = last(keepsake) + 1;
            for (int turn = 0; turns == 0 || turn < turns; turn++) {
                KeepsakeChatMemory memory = keepsake.chatMemory("numbered");
                memory.messages();
                memory.add(user(text(number)));
                System.out.println(number++);
                memory.add(ai(text(number)));
                System.out.println(number++);
            }
            while (turns > 0 && !keepsake.conversation("numbered").isSummarized()) {
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    static Keepsake keepsake(MessageLog log, Duration summarizerTimeout) {
        return Keepsake.builder()
                .messageLog(log)
                .tokenCountEstimator(new WordCounter())
                .strategy(STRATEGY)
                .summarizer(new NumberedChat())
                .summarizerTimeout(summarizerTimeout)
                .build();
    }

    @Override
    public String summarize(@Nullable String previous, List<ChatMessage> messages) {
        StringBuilder covered = new StringBuilder(previous == null ? "0-0" : previous);
        for (ChatMessage message : messages) {
            int number = number(message);
            int dash = covered.lastIndexOf("-");
            if (number == Integer.parseInt(covered.substring(dash + 1)) + 1) {
                covered.replace(dash + 1, covered.length(), String.valueOf(number));
            } else {
                covered.append(',').append(number).append('-').append(number);
            }
        }
        LockSupport.parkNanos(1_000_000L * ThreadLocalRandom.current().nextInt(60));
        return covered.toString();
    }

    static int number(ChatMessage message) {
        String text = message instanceof UserMessage user ? user.singleText() : ((AiMessage) message).text();
        return Integer.parseInt(text.substring(0, text.indexOf(' ')));
    }

    private static String text(int number) {
        return number + " of many messages, each of which is longer than the summary that replaces it";
    }

    private static int last(Keepsake keepsake) {
        return keepsake.conversation("numbered").branch(1).messages().stream()
                .mapToInt(message -> number(message.message()))
                .findFirst()
                .orElse(0);
    }
}

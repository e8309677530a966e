package io.github.keepsake4j.chat;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A chat with summaries whose process is repeatedly killed at random points and started again. */
@Tag("landing")
@Timeout(600)
class KilledChatTest {

    @TempDir
    Path directory;

    @Test
    void whatever_it_was_doing_it_goes_on_with_nothing_lost_repeated_or_out_of_sight() throws Exception {
        Path file = directory.resolve("chat.db");
        long seed = Long.getLong("keepsake.seed", System.nanoTime());
        Tell.line("KilledChatTest -Dkeepsake.seed=" + seed);
        Random random = new Random(seed);
        int said = 0;
        int kills = Counts.of(2, 100);
        int leases = 0;
        // The process is killed more often if no lease was left behind, or if the lease was noticed too late.
        for (int kill = 0; kill < kills || (leases == 0 && kill < 20 * kills); kill++) {
            try (Child child = Child.start(NumberedChat.class, file, 0)) {
                for (int line = 5 + random.nextInt(40); line > 0; line--) {
                    said = Integer.parseInt(child.line());
                }
                // The pause is random because the process must be killed at random points. It waits for no event.
                LockSupport.parkNanos(random.nextInt(20_000_000));
                List<String> rest = child.kill();
                said = rest.isEmpty() ? said : Integer.parseInt(rest.get(rest.size() - 1));
            }
            try (MessageLog log = SqliteMessageLog.open(file)) {
                leases += log.acquireLease(
                                        new ConversationKey("default", "numbered"),
                                        "summary",
                                        "a look",
                                        Duration.ofMillis(1))
                                .isEmpty()
                        ? 1
                        : 0;
            }
        }
        try (Child child = Child.start(NumberedChat.class, file, 3)) {
            child.awaitEnd();
        }

        try (MessageLog log = SqliteMessageLog.open(file)) {
            Keepsake keepsake = NumberedChat.keepsake(log, Duration.ofSeconds(5));
            Conversation conversation = keepsake.conversation("numbered");
            List<LoggedMessage> history = conversation.branch(Integer.MAX_VALUE).messages();
            assertThat(conversation.branches())
                    .as("else there is more than this branch")
                    .hasSize(1);
            assertThat(history)
                    .extracting(one -> NumberedChat.number(one.message()))
                    .isEqualTo(numbers(1, history.size()));
            assertThat(history.size()).isGreaterThanOrEqualTo(said + 6);
            List<Summary> summaries = conversation.summaries();
            for (Summary summary : summaries) {
                int covered = Integer.parseInt(summary.text().substring("0-".length()));
                assertThat(history.get(covered - 1).id()).isEqualTo(summary.coversUpTo());
                assertThat(summary.replacedMessages()).isEqualTo(covered);
            }
            int covered = (int) summaries.get(summaries.size() - 1).replacedMessages();
            assertThat(conversation.messages().stream().filter(message -> !Summarization.isSummary(message)))
                    .extracting(NumberedChat::number)
                    .isEqualTo(numbers(covered + 1, history.size()));
            assertThat(leases).isPositive();
        }
    }

    private static List<Integer> numbers(int first, int last) {
        return IntStream.rangeClosed(first, last).boxed().toList();
    }
}

package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.turns.EndingTurns.Assistant;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process with slow tools that is killed in any phase of a turn. */
@Tag("landing")
@Timeout(1800)
class KilledToolsTest {

    /** A result is written half a second after its tool returned. A busy machine, as in quick runs, may take longer. */
    private static final long WRITTEN_WITHIN_MILLIS = Counts.of(2_500, 1_000);

    private static final int LONGEST_PAUSE_MILLIS = 5_000;

    @TempDir
    Path directory;

    @Test
    void what_a_tool_returned_before_is_there_and_the_next_turn_is_valid() throws Exception {
        Path file = directory.resolve("chat.db");
        long seed = Long.getLong("keepsake.seed", System.nanoTime());
        Tell.line("KilledToolsTest -Dkeepsake.seed=" + seed);
        Random random = new Random(seed);
        int kills = Counts.of(1, 50);
        int due = 0;
        int unfinished = 0;
        for (int kill = 0; kill < kills; kill++) {
            List<String> lines = new ArrayList<>();
            long killed;
            try (Child child = Child.start(SlowToolChat.class, file)) {
                for (int line = 1 + random.nextInt(6); line > 0; line--) {
                    lines.add(child.line());
                }
                // The process must be killed at random points. It waits for no event.
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(LONGEST_PAUSE_MILLIS)));
                killed = System.currentTimeMillis();
                lines.addAll(child.kill());
            }
            try (MessageLog log = SqliteMessageLog.open(file)) {
                Keepsake keepsake = Keepsake.builder().messageLog(log).build();
                Set<String> results = EndingTurns.logged(keepsake, "c").stream()
                        .map(logged -> logged.message())
                        .filter(ToolExecutionResultMessage.class::isInstance)
                        .map(message -> ((ToolExecutionResultMessage) message).text())
                        .collect(Collectors.toSet());
                for (String line : lines) {
                    String[] words = line.split(" ");
                    if (words[0].equals("returned") && Long.parseLong(words[2]) < killed - WRITTEN_WITHIN_MILLIS) {
                        due++;
                        assertThat(results).as("kill %d, seed %d", kill, seed).contains(words[1]);
                    }
                }
                unfinished += EndingTurns.view(keepsake, "c").endsWith("U(question)") ? 1 : 0;
                nextTurn(keepsake, seed);
            }
        }
        Tell.line(
                "%d kills, %d of them within a tool round; %d results were due, and all are there",
                kills, unfinished, due);
    }

    private static void nextTurn(Keepsake keepsake, long seed) {
        Script.Step model = request -> {
            assertThat(ProviderRules.request(request.messages()))
                    .as("seed %d", seed)
                    .isEmpty();
            return Script.response(ai("done"));
        };
        keepsake.aiServices(Assistant.class)
                .chatModel(new Script(model))
                .build()
                .chat("c", "after the kill");
    }
}

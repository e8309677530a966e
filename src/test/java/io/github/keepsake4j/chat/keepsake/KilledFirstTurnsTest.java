package io.github.keepsake4j.chat.keepsake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Threads;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that begins conversations is killed at random points. Each conversation that exists has its owner. */
@Tag("landing")
@Timeout(1_200)
class KilledFirstTurnsTest {

    @TempDir
    Path directory;

    private static MessageLog open(Path directory, boolean files) {
        return files
                ? FileMessageLog.in(directory.resolve("files"))
                : SqliteMessageLog.open(directory.resolve("chat.db"));
    }

    /**
     * Begins conversations on two homes from a number on, and prints the home and the number of each one that was
     * acknowledged.
     */
    static final class Beginner {
        public static void main(String[] args) {
            Threads.endIfOneFails();
            for (boolean files : new boolean[] {false, true}) {
                new Thread(() -> begin(open(Path.of(args[0]), files), files, Integer.parseInt(args[1]))).start();
            }
        }

        private static void begin(MessageLog log, boolean files, int from) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .tokenCountEstimator(new WordCounter())
                    .metadataAtCreation(key -> Map.of("owner", "of " + key))
                    .build();
            for (int i = from; ; i++) {
                keepsake.chatMemory("c" + i).add(UserMessage.from("Hello"));
                System.out.println(files + " " + i);
                keepsake.chatMemory("c" + i).add(AiMessage.from("Hi"));
            }
        }
    }

    @Test
    void no_conversation_is_without_its_owner() throws Exception {
        Random random = new Random(Counts.seed());
        int begun = 0;
        for (int kill = 0; kill < Counts.of(2, 100); kill++) {
            try (Child child = Child.start(Beginner.class, directory, begun)) {
                Set<String> homes = new HashSet<>();
                for (int lines = 2 + random.nextInt(80); lines > 0 || homes.size() < 2; lines--) {
                    String[] line = child.line().split(" ");
                    homes.add(line[0]);
                    begun = Math.max(begun, Integer.parseInt(line[1]));
                }
                child.kill();
            }
            // A conversation that was not acknowledged may exist. Its id is not used again.
            begun += 1_000;
        }
        for (boolean files : new boolean[] {false, true}) {
            try (MessageLog log = open(directory, files)) {
                int checked = 0;
                for (MemoryPage page : Reads.pages(log, "default", ListQuery.first(100))) {
                    for (MemoryInfo info : page.memories()) {
                        assertThat(info.metadata()).isEqualTo(Map.of("owner", "of " + info.key()));
                        checked++;
                    }
                }
                assertThat(checked).isPositive();
            }
        }
    }
}

package io.github.keepsake4j.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Tell;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The process that moves memories is killed, and another one goes on. */
@Tag("landing")
@Timeout(600)
class MovingProcessesTest {

    private static final int MEMORIES = Counts.of(6, 126);

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"copy", "import"})
    void e3_memories_are_the_same_after_kills(String what) throws Exception {
        long seed = Long.getLong("keepsake.seed", System.nanoTime());
        int kills = Counts.of(1, 20);
        Random random = new Random(seed);
        MessageLog original = MemoryCopyTest.filled(seed, MEMORIES, 60);
        Path source = source(what, original);
        Path database = directory.resolve("chat.db");
        int killed = 0;
        for (int kill = 0; kill < kills; kill++) {
            // A copy tells of each memory, also of one that is there; an import of what it appends.
            int step = MEMORIES / (kills + 1);
            int lines = 1 + random.nextInt(step - 1) + (what.equals("copy") ? kill * step : 0);
            // It waits a little later, so that it is killed at any time up to there.
            try (Child child = Child.start(MovingProcess.class, what, source, database, lines + random.nextInt(2))) {
                String line = "";
                for (int i = 0; i < lines && line != null; i++) {
                    line = child.line();
                }
                child.kill();
                killed += line == null ? 0 : 1;
            }
        }
        MovingProcess.move(what, source, database, progress -> {});
        try (MessageLog log = SqliteMessageLog.open(database)) {
            for (int i = 0; i < MEMORIES; i++) {
                MemoryCopyTest.assertSame(original, log, MemoryCopyTest.key(i), what + ", seed " + seed);
            }
        }
        assertThat(killed).as("seed %d", seed).isEqualTo(kills);
        Tell.line("%s of %d memories: killed %d times in the middle, and the same", what, MEMORIES, killed);
    }

    private Path source(String what, MessageLog original) throws IOException {
        Path source = directory.resolve("source");
        if (what.equals("copy")) {
            try (MessageLog log =
                    FileMessageLog.builder().directory(source).fsync(false).build()) {
                MemoryCopy.between(original, log).tenant("acme");
            }
        } else {
            try (OutputStream out = Files.newOutputStream(source)) {
                NdjsonExport.of(original).writeTenant("acme", out);
            }
        }
        return source;
    }
}

package io.github.keepsake4j.chat.store;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SequencesFileTest extends SequencesContract {

    @TempDir
    Path directory;

    @Override
    MessageLog newLog() {
        return FileMessageLog.builder()
                .directory(directory.resolve("log"))
                .fsync(false)
                .build();
    }
}

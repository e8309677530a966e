package io.github.keepsake4j.retention;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class FileCleanUpTest extends CleanUpContract {

    @TempDir
    Path directory;

    @Override
    protected MessageLog open() {
        return FileMessageLog.builder()
                .directory(directory.resolve("log"))
                .fsync(false)
                .listedMetadata(PROJECT)
                .build();
    }
}

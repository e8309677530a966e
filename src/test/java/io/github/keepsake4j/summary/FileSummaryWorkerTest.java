package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

@Tag("landing")
class FileSummaryWorkerTest extends SummaryWorkerContract {

    @TempDir
    Path directory;

    @Override
    MessageLog open() {
        return FileMessageLog.builder()
                .directory(directory.resolve("log"))
                .fsync(false)
                .build();
    }
}

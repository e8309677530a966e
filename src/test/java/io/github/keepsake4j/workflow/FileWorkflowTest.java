package io.github.keepsake4j.workflow;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

@Tag("landing")
class FileWorkflowTest extends WorkflowContract {

    @TempDir
    Path directory;

    private int opened;

    @Override
    MessageLog open() {
        return FileMessageLog.builder()
                .directory(directory.resolve("log" + opened++))
                .fsync(false)
                .build();
    }
}

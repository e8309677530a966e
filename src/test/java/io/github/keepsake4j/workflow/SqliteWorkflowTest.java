package io.github.keepsake4j.workflow;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteWorkflowTest extends WorkflowContract {

    @TempDir
    Path directory;

    private int opened;

    @Override
    MessageLog open() {
        return JdbcMessageLog.sqlite(directory.resolve("log" + opened++ + ".db"));
    }
}

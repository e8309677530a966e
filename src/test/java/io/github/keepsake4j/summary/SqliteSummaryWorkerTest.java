package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteSummaryWorkerTest extends SummaryWorkerContract {

    @TempDir
    Path directory;

    @Override
    MessageLog open() {
        return JdbcMessageLog.sqlite(directory.resolve("chat.db"));
    }
}

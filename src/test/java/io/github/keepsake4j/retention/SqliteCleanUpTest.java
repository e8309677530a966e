package io.github.keepsake4j.retention;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteCleanUpTest extends CleanUpContract {

    @TempDir
    Path directory;

    @Override
    protected MessageLog open() {
        return SqliteMessageLog.open(directory.resolve("log.db"), PROJECT);
    }
}

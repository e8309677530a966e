package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageSearchContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteSearchTest extends MessageSearchContract {

    @TempDir
    Path directory;

    @Override
    protected MessageIndex newIndex() {
        return JdbcMessageIndex.sqlite(directory.resolve("index.db"));
    }

    @Override
    protected MessageLog newLog() {
        return SqliteMessageLog.open(directory.resolve("chat.db"));
    }
}

package io.github.keepsake4j.recall;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteRecallTest extends MessageRecallContract {

    @TempDir
    Path directory;

    @Override
    protected MessageLog log() {
        return SqliteMessageLog.open(directory.resolve("chat.db"));
    }

    @Override
    protected MessageIndex index() {
        return JdbcMessageIndex.sqlite(directory.resolve("index.db"));
    }
}

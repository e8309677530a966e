package io.github.keepsake4j.chat.store;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SequencesSqliteTest extends SequencesContract {

    @TempDir
    Path directory;

    @Override
    MessageLog newLog() {
        return SqliteMessageLog.open(directory.resolve("chat.db"));
    }
}

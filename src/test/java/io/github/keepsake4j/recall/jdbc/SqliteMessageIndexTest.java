package io.github.keepsake4j.recall.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndexContract;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqliteMessageIndexTest extends MessageIndexContract {

    @TempDir
    Path directory;

    @Override
    protected MessageIndex newIndex() {
        return JdbcMessageIndex.sqlite(directory.resolve("index.db"));
    }

    @Override
    protected MessageIndex sameIndex() {
        return newIndex();
    }

    @Test
    void a_damaged_file_says_what_to_do() throws Exception {
        Path file = directory.resolve("damaged.db");
        Files.writeString(file, "no database ".repeat(1_000));
        try (MessageIndex damaged = JdbcMessageIndex.sqlite(file)) {
            assertThatThrownBy(damaged::tenants)
                    .isInstanceOf(UnreadableDataException.class)
                    .hasMessageContaining("delete it");
        }
        assertThat(Files.readString(file)).startsWith("no database");
    }
}

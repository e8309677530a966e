package io.github.keepsake4j.workflow;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SqliteWorkflowTest extends WorkflowContract {

    @TempDir
    Path directory;

    private int opened;

    @Override
    MessageLog open() {
        return SqliteMessageLog.open(directory.resolve("log" + opened++ + ".db"));
    }

    @Test
    void a13_a_row_that_cannot_be_read_is_an_error_and_its_bytes_survive() throws Exception {
        String url = "jdbc:sqlite:" + directory.resolve("log" + opened + ".db");
        try (MessageLog log = open();
                Connection connection = DriverManager.getConnection(url);
                Statement sql = connection.createStatement()) {
            WorkflowMemories memories = WorkflowMemories.builder().nodeLog(log).build();
            NodeKey key = NodeKey.of("acme", "app", "c1", "writer");
            NodeTokenBufferMemory memory = memories.node(key);
            memory.addMessages("m1", null, "q1", List.of(), "r1", List.of());
            memory.flush();
            sql.executeUpdate("UPDATE keepsake_message SET message = '{\"v\":1,\"type\":\"US' WHERE id = 'm1#user'");

            assertThrown(
                    UnreadableDataException.class,
                    () -> memories.node(key).getHistoryPromptMessages("m2", "acme"),
                    "writer");
            memory.addMessages("m2", "m1", "q2", List.of(), "r2", List.of());
            assertThatThrownBy(memory::flush).isInstanceOf(UnreadableDataException.class);
            try (ResultSet row = sql.executeQuery("SELECT message FROM keepsake_message WHERE id = 'm1#user'")) {
                assertThat(row.next()).isTrue();
                assertThat(row.getString(1)).isEqualTo("{\"v\":1,\"type\":\"US");
            }
        }
    }
}

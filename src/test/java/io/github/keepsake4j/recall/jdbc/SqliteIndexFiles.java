package io.github.keepsake4j.recall.jdbc;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Reads the rows of an index in SQLite without the library. */
final class SqliteIndexFiles {

    private SqliteIndexFiles() {}

    /** Returns all rows, with the memories' keys in place of their numbers, which tell only the order of their making. */
    static List<String> rows(Path file) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement()) {
            for (String query : List.of(
                    """
                    SELECT t.tenant, hex(m.memory_key), p.term, p.segment, p.messages, hex(p.postings)
                    FROM keepsake_index_posting p
                    JOIN keepsake_index_memory m ON m.number = p.memory
                    JOIN keepsake_index_tenant t ON t.number = p.tenant
                    ORDER BY 1, 2, 3, 4
                    """,
                    """
                    SELECT t.tenant, w.term, w.messages
                    FROM keepsake_index_term w JOIN keepsake_index_tenant t ON t.number = w.tenant
                    ORDER BY 1, 2
                    """,
                    """
                    SELECT hex(memory_key), conversation_id, epoch, sequence, messages, length
                    FROM keepsake_index_memory ORDER BY 1
                    """,
                    """
                    SELECT hex(m.memory_key), d.model, k.epoch, k.sequence, k.weight, k.floor, k.measured
                    FROM keepsake_index_vector_mark k
                    JOIN keepsake_index_memory m ON m.number = k.memory
                    JOIN keepsake_index_model d ON d.number = k.model
                    ORDER BY 1, 2
                    """,
                    """
                    SELECT hex(m.memory_key), d.model, v.sequence, v.newest, v.amount, hex(v.vectors)
                    FROM keepsake_index_vector v
                    JOIN keepsake_index_memory m ON m.number = v.memory
                    JOIN keepsake_index_model d ON d.number = v.model
                    ORDER BY 1, 2, 3
                    """,
                    "SELECT COUNT(*) FROM keepsake_index_vector",
                    "SELECT tenant, messages, length FROM keepsake_index_tenant ORDER BY 1",
                    "SELECT COUNT(*) FROM keepsake_index_posting")) {
                try (ResultSet row = statement.executeQuery(query)) {
                    while (row.next()) {
                        StringBuilder text = new StringBuilder();
                        for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                            text.append(row.getString(i)).append(' ');
                        }
                        rows.add(text.toString());
                    }
                }
            }
        }
        return rows;
    }
}

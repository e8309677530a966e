package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.sql.KeyColumns;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The stored data of a memory. */
record MemoryRow(long number, long tenant, MemoryKey key, Watermark watermark, long messages, long length) {

    /** The columns that {@link #of} reads, up to the condition. */
    static final String COLUMNS =
            """
            m.number, m.tenant, t.tenant, m.app_id, m.conversation_id, m.node_id, m.epoch, m.sequence, m.messages, m.length
             FROM keepsake_index_memory m JOIN keepsake_index_tenant t ON t.number = m.tenant
             WHERE\s""";

    /**
     * The progress of the index for a memory, and for its tenant. A search reads this for each memory of its scope,
     * without creating a key.
     */
    record Size(long number, long messages, long length, long tenant, long inTenant) {

        /** The columns that {@link #of} reads, up to the condition. */
        static final String COLUMNS =
                """
                m.number, m.messages, m.length, t.number, t.messages
                FROM keepsake_index_memory m JOIN keepsake_index_tenant t ON t.number = m.tenant
                """;

        static Size of(ResultSet row) throws SQLException {
            return new Size(row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4), row.getLong(5));
        }
    }

    static MemoryRow of(ResultSet row) throws SQLException {
        KeyColumns columns = new KeyColumns(row.getString(3), row.getString(4), row.getString(5), row.getString(6));
        return new MemoryRow(
                row.getLong(1),
                row.getLong(2),
                columns.key(),
                new Watermark(row.getLong(7), row.getLong(8)),
                row.getLong(9),
                row.getLong(10));
    }
}

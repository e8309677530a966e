package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import io.github.keepsake4j.sql.KeyColumns;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * How far a memory has vectors of a model.
 *
 * @param used the last day on which the model added vectors, in days since 1970
 */
record VectorMarkRow(KeyColumns key, long model, String name, long used, VectorMark mark) {

    /** The columns that {@link #of} reads, up to the condition. */
    static final String COLUMNS =
            """
            t.tenant, m.app_id, m.conversation_id, m.node_id, d.number, d.model, d.used,
              k.epoch, k.sequence, k.weight, k.measured
            FROM keepsake_index_vector_mark k
            JOIN keepsake_index_model d ON d.number = k.model
            JOIN keepsake_index_memory m ON m.number = k.memory
            JOIN keepsake_index_tenant t ON t.number = m.tenant
            WHERE\s""";

    static VectorMarkRow of(ResultSet row) throws SQLException {
        return new VectorMarkRow(
                new KeyColumns(row.getString(1), row.getString(2), row.getString(3), row.getString(4)),
                row.getLong(5),
                row.getString(6),
                row.getLong(7),
                new VectorMark(row.getLong(8), row.getLong(9), row.getDouble(10), row.getLong(11)));
    }
}

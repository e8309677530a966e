package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.vectors.VectorRow;
import io.github.keepsake4j.sql.KeyColumns;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * A row of vectors with its memory.
 *
 * @param most how many of the newest vectors of the row are read
 */
record StoredVectors(MemoryKey key, long most, VectorRow row) {

    static StoredVectors of(ResultSet row) throws SQLException {
        KeyColumns columns = new KeyColumns(row.getString(1), row.getString(2), row.getString(3), row.getString(4));
        return new StoredVectors(columns.key(), row.getLong(5), row(row, 6));
    }

    /** Reads the columns sequence, newest, amount and vectors. */
    static VectorRow row(ResultSet row, int first) throws SQLException {
        return new VectorRow(
                row.getLong(first), row.getLong(first + 1), row.getInt(first + 2), row.getBytes(first + 3));
    }
}

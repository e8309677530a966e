package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.DamagedException;
import io.github.keepsake4j.sql.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The newest message of a named branch. */
record Reference(long seq, String id) {

    /** Returns where a named branch ends, or null if it has not begun, so that it is the current branch. */
    static @Nullable Reference find(Session session, byte[] hash, @Nullable String name) throws SQLException {
        return name == null ? null : session.first(Sql.REFERENCE, Reference::of, hash, hash, name);
    }

    /** Reads a row, and throws if the branch ends in no message. */
    static Reference of(ResultSet row) throws SQLException {
        if (Rows.nullableNumber(row, "there") == null) {
            throw new DamagedException(
                    "the named branch ends in message " + row.getLong("seq") + ", which is not there");
        }
        return new Reference(Rows.number(row, "seq"), Rows.text(row, "id"));
    }
}

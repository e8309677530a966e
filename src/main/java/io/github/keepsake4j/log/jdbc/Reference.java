package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.DamagedException;
import io.github.keepsake4j.sql.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The newest message of a named branch. */
record Reference(long seq, String id) {

    /** Returns the end of a named branch, or null if it has not begun and is therefore the current branch. */
    static @Nullable Reference find(Session session, byte[] hash, @Nullable String name) throws SQLException {
        return name == null ? null : session.first(Sql.REFERENCE, Reference::of, hash, hash, name);
    }

    /** Reads a row, and throws if the branch's last message is missing. */
    static Reference of(ResultSet row) throws SQLException {
        if (Rows.nullableNumber(row, "there") == null) {
            throw new DamagedException("the named branch ends in message " + row.getLong("seq") + ", which is missing");
        }
        return new Reference(Rows.number(row, "seq"), Rows.text(row, "id"));
    }
}

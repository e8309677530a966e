package io.github.keepsake4j.sql;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A set of tables, in PostgreSQL and in SQLite, and the scripts that create them. A table of one row has the version of
 * the tables, which each script raises, and the oldest version of the library that may write them.
 *
 * @param what the name of the store, for errors
 * @param folder the folder of the scripts in {@code io/github/keepsake4j/schema}, above those of the databases; empty for none
 * @param table the table of the versions
 * @param lock the key of PostgreSQL's advisory lock for the creation of tables: any number that no other program locks.
 * All processes that create these tables must use the same one
 * @param whenDamaged what to do about damage, for errors
 * @param foreign a table that shows that the file holds something else, or null
 * @param scripts the scripts, in order
 */
public record SqlSchema(
        String what,
        String folder,
        String table,
        long lock,
        String whenDamaged,
        @Nullable Foreign foreign,
        List<Script> scripts) {

    /**
     * The key of the lock of indexes and of long-term memories. It differs from the key of logs, because both may be
     * created at the same time.
     */
    public static final long BESIDE_LOGS = 0x6B65657073616B78L;

    /**
     * A script.
     *
     * @param name its name in the folder
     * @param version the version of the tables after it
     */
    public record Script(String name, int version) {}

    /**
     * A table of another program. It shows that the file belongs to that program if there is no table of versions.
     *
     * @param table its name
     * @param problem the problem, and what to do
     */
    public record Foreign(String table, String problem) {}

    /** Returns the version of tables to which all scripts were applied, which is the library's own. */
    int version() {
        return scripts.get(scripts.size() - 1).version();
    }

    /** Returns how the names of the tables begin. */
    String prefix() {
        return table.substring(0, table.lastIndexOf('_') + 1);
    }
}

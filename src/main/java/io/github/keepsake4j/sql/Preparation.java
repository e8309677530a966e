package io.github.keepsake4j.sql;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.function.Predicate;

/**
 * Decides which statements the driver prepares on the server, outside of transactions. Behind a transaction pooler, the
 * name of a prepared statement may belong to another statement; see {@link SqlConnection}. So the server must refuse
 * the values of each of them for any other, none of them deletes, and each is planned again while the tables grow.
 */
public final class Preparation {

    private final Predicate<String> isPrepared;
    private final PlanRenewal renewal = new PlanRenewal();

    /**
     * Creates the object.
     *
     * @param isPrepared returns whether a statement is prepared on the server
     */
    public Preparation(Predicate<String> isPrepared) {
        this.isPrepared = isPrepared;
    }

    /**
     * Counts rows that were added.
     *
     * @param rows their number
     */
    public void added(int rows) {
        renewal.added(rows);
    }

    /** Creates a statement. The driver prepares it according to the data source's settings, if it may be prepared. */
    PreparedStatement create(SqlConnection connection, String sql) throws SQLException {
        return connection.preparesOnServer() && isPrepared.test(sql)
                ? connection.prepareOnServer(renewal.text(sql))
                : connection.prepare(sql);
    }
}

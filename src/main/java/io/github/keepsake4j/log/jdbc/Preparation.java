package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.KeepsakeException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;

/**
 * Decides what the driver prepares on the server, on one connection while it is in use. This is the only class that requires
 * the driver's own types.
 *
 * <p>The driver names what it prepares S_1, S_2 and so on. Behind a transaction pooler that does not track these names, a name
 * may be that of another client's statement in the session that a call got. The server then runs the other statement with
 * this call's values. So only statements that are sent often are prepared, and only such that the server refuses the values
 * of one of them for any other. A test tries all pairs. A statement that looks up ids is not prepared
 * either, unless it asks for an ordered range: a plan that was made while the tables were small stays, and may look up an id
 * by reading the whole memory. Nothing that deletes or moves is prepared, and nothing in a transaction, whose end would be
 * prepared too: what is sent as a commit could be another client's rollback.
 */
final class Preparation {

    static final Set<String> PREPARED = prepared();

    private static Set<String> prepared() {
        Set<String> texts = new HashSet<>();
        PostgresReadSql.READS.values().forEach(read -> texts.add(read.text()));
        List.of(
                        PostgresSql.RUNS_OF_HEAD,
                        PostgresSql.APPEND_ONE,
                        PostgresSql.APPEND_ONE_WITH_NOTES,
                        PostgresSql.APPEND_ONE_AND_VIEW,
                        PostgresSql.APPEND_MANY)
                .forEach(one -> texts.add(one.text()));
        texts.addAll(List.of(Sql.HISTORY_BACK, Sql.HISTORY_FORWARD));
        return Set.copyOf(texts);
    }

    private final @Nullable PGConnection connection;
    private final int threshold;
    private final PlanRenewal renewal;

    private Preparation(@Nullable PGConnection connection, int threshold, PlanRenewal renewal) {
        this.connection = connection;
        this.threshold = threshold;
        this.renewal = renewal;
    }

    /**
     * Stops preparing on a connection.
     *
     * @param required whether it is an error if the connection is not one of the driver's
     * @param renewal says what text a statement that is prepared has at the moment
     */
    static Preparation stop(Connection connection, boolean required, PlanRenewal renewal) throws SQLException {
        if (!connection.isWrapperFor(PGConnection.class)) {
            if (required) {
                throw new KeepsakeException(
                        "transactionPooler() requires connections that unwrap to org.postgresql.PGConnection; these are "
                                + connection.getClass().getName(),
                        null);
            }
            return new Preparation(null, 0, renewal);
        }
        PGConnection driver = connection.unwrap(PGConnection.class);
        int threshold = driver.getPrepareThreshold();
        driver.setPrepareThreshold(0);
        return new Preparation(driver, threshold, renewal);
    }

    /** Creates a statement that the driver prepares as often as the data source says, if it is one of those that may be. */
    PreparedStatement create(Connection session, String sql) throws SQLException {
        if (threshold == 0 || !PREPARED.contains(sql)) {
            return session.prepareStatement(sql);
        }
        PreparedStatement statement = session.prepareStatement(renewal.text(sql));
        statement.unwrap(PGStatement.class).setPrepareThreshold(threshold);
        return statement;
    }

    /** Lets the driver prepare on the connection as before. */
    void restore() {
        if (connection != null) {
            connection.setPrepareThreshold(threshold);
        }
    }
}

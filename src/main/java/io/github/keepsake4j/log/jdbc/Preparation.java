package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.SqlConnection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Decides what the driver prepares on the server. Behind a transaction pooler a name of what was prepared may be that of another
 * statement, as {@link SqlConnection} tells. So only statements that are sent often are prepared, and only such that the server
 * refuses the values of one of them for any other. A test tries all pairs. A statement that looks up ids is not prepared
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

    private final PlanRenewal renewal;

    /**
     * Creates the object.
     *
     * @param renewal says what text a statement that is prepared has at the moment
     */
    Preparation(PlanRenewal renewal) {
        this.renewal = renewal;
    }

    /** Creates a statement that the driver prepares as often as the data source says, if it is one of those that may be. */
    PreparedStatement create(SqlConnection connection, String sql) throws SQLException {
        return connection.preparesOnServer() && PREPARED.contains(sql)
                ? connection.prepareOnServer(renewal.text(sql))
                : connection.prepare(sql);
    }
}

package io.github.keepsake4j.sql;

import io.github.keepsake4j.base.Unreachable;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Classifies errors of PostgreSQL by their SQLSTATE (PostgreSQL, "Appendix A. Error Codes"). */
public final class SqlStates {

    /** Parts of the errors with which PgBouncer refuses a connection for good. */
    private static final List<String> REFUSED_BY_POOLER =
            List.of("authentication failed", "no such user", "unsupported startup parameter");

    private static final String READ_ONLY = "25006";

    /** States, and the beginnings of states. */
    private static final List<String> UNAVAILABLE = List.of("08", READ_ONLY, "40", "53", "55P03", "57", "58");

    private static final String MISSING = "a table or column is missing; check the search path, and ";

    /** SQLite's general error code, for example for a missing table. Its driver provides no SQLSTATE. */
    private static final int SQLITE_ERROR = 1;

    /** How the pools of application servers refuse what only the owner of a transaction may do. They give no SQLSTATE. */
    private static final Pattern IN_A_TRANSACTION = Pattern.compile("(?i)autocommit.* transaction");

    private static final String CACHED_PLAN = "cached plan";

    private static final String READ_ONLY_BY_SETTING =
            """
            SELECT NOT pg_catalog.pg_is_in_recovery() AND pg_catalog.current_setting('transaction_read_only') = 'on'
            """;

    private SqlStates() {}

    /**
     * Returns the SQLSTATE of an error, or an empty text.
     *
     * @param e the error
     * @return the state
     */
    public static String of(SQLException e) {
        @Nullable String state = e.getSQLState();
        return state == null ? "" : state;
    }

    /**
     * Returns the SQLSTATE of an error for the end of a message, or an empty text.
     *
     * @param e the error
     * @return the text
     */
    public static String inBrackets(SQLException e) {
        String state = of(e);
        return state.isEmpty() ? "" : " (SQLSTATE " + state + ")";
    }

    /**
     * Returns whether the error is a serialization failure or a deadlock. The same work may succeed now.
     *
     * @param e the error
     * @return whether it is
     */
    static boolean isLostRace(SQLException e) {
        return Set.of("40001", "40P01").contains(of(e));
    }

    /**
     * Returns whether the types or the number of results of a prepared statement differ from its plan.
     *
     * @param e the error
     * @return whether they do
     */
    static boolean isCachedPlan(SQLException e) {
        return of(e).equals("0A000") && String.valueOf(e.getMessage()).contains(CACHED_PLAN);
    }

    /**
     * Returns whether a script that was run since the tables were checked may be the reason. 42P01, 42703: a table or a column is
     * missing; 0A000: the tables are distributed now.
     *
     * @param e the error
     * @return whether it may be
     */
    static boolean mayHaveOtherTables(SQLException e) {
        String state = of(e);
        return state.equals("42P01") || state.equals("42703") || (state.equals("0A000") && !isCachedPlan(e));
    }

    /**
     * Returns the error to translate. It is another one if a setting makes the session read-only. A standby server is
     * read-only too, but a failover makes it writable, or leads the next connection to another server.
     *
     * @param connection the connection on which the statement failed
     * @param error the error
     * @param timeoutSeconds the time limit of the check, or 0 for no limit
     * @return the error
     */
    static SQLException readOnlyBySetting(SqlConnection connection, SQLException error, int timeoutSeconds) {
        if (!of(error).equals(READ_ONLY)) {
            return error;
        }
        try (Statement statement = connection.create()) {
            statement.setQueryTimeout(timeoutSeconds);
            try (ResultSet rows = statement.executeQuery(READ_ONLY_BY_SETTING)) {
                return rows.next() && rows.getBoolean(1) ? new ReadOnlySessionException(error) : error;
            } finally {
                if (!connection.isAutoCommit()) {
                    connection.rollback();
                }
            }
        } catch (SQLException e) {
            error.addSuppressed(e);
            return error;
        }
    }

    /** Thrown when a session is read-only although its server is not. A retry does not help. */
    private static final class ReadOnlySessionException extends SQLException {

        ReadOnlySessionException(SQLException cause) {
            super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
        }
    }

    /**
     * Returns the problem and what to do if a retry does not help, or null. 28: the user; 3D and 57P04: the database;
     * 08004: a disagreement of driver and server; 42501: a permission; 3F and others of 42, of other databases too: the
     * tables.
     *
     * @param e the error
     * @param tables what to do about a missing table
     * @return the problem and what to do, or null
     */
    static @Nullable String mistake(SQLException e, String tables) {
        if (e instanceof ReadOnlySessionException) {
            return "the session is read-only; check default_transaction_read_only of the user and the database, and the"
                    + " data source's own setting";
        }
        String state = of(e);
        if (state.equals("28P01")) {
            return "the database refuses the user or the password; check both";
        }
        if (state.startsWith("28")) {
            return "the database refuses this user; check the user, the password and the server's pg_hba.conf";
        }
        if (state.startsWith("3D") || state.equals("57P04")) {
            return "the database does not exist; check its name, or create it";
        }
        // PgBouncer's own error, which has the state of a broken connection.
        if (String.valueOf(e.getMessage()).contains("statement pooling mode")) {
            return "the pooler is in statement mode, which takes no transactions; set its pool_mode to transaction";
        }
        if (state.isEmpty()
                && IN_A_TRANSACTION.matcher(String.valueOf(e.getMessage())).find()) {
            return "the data source returns the connection of the caller's transaction, and messages are committed on"
                    + " their own; use a data source without transactions, in Quarkus one with"
                    + " jdbc.transactions=disabled";
        }
        if (state.isEmpty() && e.getErrorCode() == SQLITE_ERROR) {
            return MISSING + tables;
        }
        if (state.startsWith("08") && isRefusedByPooler(e)) {
            return "the pooler refuses this connection; check the user, the password and the parameters of the URL";
        }
        return switch (state) {
            case "22P05" -> "a character is not in the database's encoding; use a database with the encoding UTF8";
            case "08004" -> "the server does not take such a connection; check the URL, the password and pg_hba.conf";
            case "42501" -> "this database user may not do that; grant it the rights that it lacks";
            case "3F000", "42P01", "42703", "42S02", "42S22" -> MISSING + tables;
            case "42804", "42883" -> "a column has another type; " + tables;
            default -> null;
        };
    }

    /** Returns whether PgBouncer refuses a connection for good, with the state of a broken connection. */
    private static boolean isRefusedByPooler(SQLException e) {
        return Stream.iterate((Throwable) e, Objects::nonNull, Throwable::getCause)
                .map(cause -> String.valueOf(cause.getMessage()))
                .anyMatch(message -> REFUSED_BY_POOLER.stream().anyMatch(message::contains));
    }

    /**
     * Returns the reason of an outage and what to do, or an empty text.
     *
     * @param e the error
     * @return the text, which begins with a blank
     */
    static String advice(SQLException e) {
        return switch (of(e)) {
            case "57014" ->
                ": a time limit stopped the statement. If a retry does not help, raise statementTimeout of the builder, "
                        + "or statement_timeout of the server";
            case "55P03" -> ": another transaction holds a lock. Retry, and look for long transactions";
            case "53300" -> ": the server has no free connection. Use smaller pools, or raise max_connections";
            default -> Unreachable.reason(e) == null ? "" : Unreachable.why(e);
        };
    }

    /**
     * Returns whether the database is not available. None: a pool without a free connection; 08: connection; 25006: a
     * standby server, after a failover; 40: conflict with concurrent transactions; 53: resources; 55P03: lock timeout;
     * 57: stopped by the operator, by a shutdown or by a timeout; 58: system error.
     *
     * @param e the error
     * @return whether it is not
     */
    static boolean isUnavailable(SQLException e) {
        return UNAVAILABLE.stream().anyMatch(of(e)::startsWith)
                || e instanceof SQLTransientException
                || e instanceof SQLRecoverableException
                || e instanceof SQLNonTransientConnectionException;
    }

    /**
     * Removes the details of an error. The first line of its text describes the problem. Further lines may repeat the
     * values of a row, including message text. An error with more than one line is therefore replaced by one with only
     * the first line.
     *
     * @param e the error
     * @return the error without its details
     */
    public static SQLException withoutDetail(SQLException e) {
        String message = e.getMessage();
        int end = message == null ? -1 : message.indexOf('\n');
        if (end < 0 || message == null) {
            return e;
        }
        SQLException kept = new SQLException(message.substring(0, end), e.getSQLState(), e.getErrorCode());
        kept.setStackTrace(e.getStackTrace());
        return kept;
    }
}

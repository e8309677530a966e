package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.log.StorageUnavailableException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Translates errors of the database to exceptions that tell the caller what to do, by their SQLSTATE (PostgreSQL,
 * "Appendix A. Error Codes").
 */
final class PostgresErrors {

    /**
     * A statement that the driver prepared, in a message in any language, or the beginning of a transaction that the driver
     * finds to be none.
     */
    private static final Pattern NAMES_A_STATEMENT = Pattern.compile("\\b(S_[0-9]+|prepared statement|BEGIN)\\b");

    private static final String READ_ONLY = "25006";

    private PostgresErrors() {}

    /** Returns whether the error is a serialization failure or a deadlock. The same work may succeed now. */
    static boolean isLostRace(SQLException e) {
        String state = state(e);
        return state.equals("40001") || state.equals("40P01");
    }

    /**
     * Returns the exception for the caller.
     *
     * @param what the call
     * @param e the error
     * @param mayBePrepared whether the call may have used a statement that is prepared on the server
     */
    static KeepsakeException translate(String what, SQLException e, boolean mayBePrepared) {
        String state = state(e);
        SQLException cause = withoutDetail(e);
        String mistake = mistake(state, e);
        if (mistake != null) {
            return new KeepsakeException(what + ": " + mistake + inBrackets(state), cause);
        }
        if (state.equals("XX001") || state.equals("XX002")) {
            return new UnreadableDataException(what + ": the database reports that its data is damaged", cause);
        }
        if (state.equals("22003")
                || (state.equals("23514") && String.valueOf(e.getMessage()).contains("_sound\""))) {
            // Input is checked before, so a number out of range or a failed CHECK of ours comes from a damaged row.
            return new UnreadableDataException(
                    what + ": the stored data is damaged, nothing was written" + inBrackets(state), cause);
        }
        if (!(e instanceof ConnectException) && isMixedUp(state, String.valueOf(e.getMessage()), mayBePrepared)) {
            return new KeepsakeException(
                    what
                            + ": the server has no prepared statement of this name, or another one"
                            + inBrackets(state)
                            + ". Behind a transaction pooler that does not track prepared statements, build the log with"
                            + " JdbcMessageLog.builder().transactionPooler(), or add prepareThreshold=0 to the URL",
                    cause);
        }
        if (isUnavailable(state, e)) {
            return new StorageUnavailableException(
                    what + ": PostgreSQL cannot be reached or is too busy" + inBrackets(state), cause);
        }
        return new KeepsakeException(what + " failed" + inBrackets(state), cause);
    }

    /**
     * Returns what no retry mends, and what to do, or null. 28: the user; 3D and 57P04: the database; 08004: what the driver
     * and the server do not agree on; 42501: a right; 3F, 42P01 and 42703: the tables.
     */
    private static @Nullable String mistake(String state, SQLException e) {
        if (e instanceof ReadOnlySessionException) {
            return "the session is read-only; check default_transaction_read_only of the user and the database, and the"
                    + " data source's own setting";
        }
        if (state.startsWith("28") || state.startsWith("3D") || state.equals("57P04")) {
            return "the database refuses this user or does not exist; check the user and the database's name";
        }
        return switch (state) {
            case "08004" -> "the server does not take such a connection; check the URL, the password and pg_hba.conf";
            case "42501" ->
                "this database user may not do that; grant it the rights to read and write all keepsake tables";
            case "3F000", "42P01", "42703" ->
                "a table or column is missing; check the search path, and run the script "
                        + Schema.POSTGRESQL.missing(0) + " from the library's jar if the tables are not there";
            default -> null;
        };
    }

    /** Returns whether the error says that the transaction is read-only. */
    static boolean isReadOnly(SQLException e) {
        return state(e).equals(READ_ONLY);
    }

    /**
     * Returns whether the session is not the one in which a statement was prepared, as behind a transaction pooler. 26000:
     * there is none of the name; 42P05: there is one already. There may also be another client's, for which the values
     * are too few, too many or of other types (08P01, 22021, 22P02, 22P03), or which found other tables (0A000). PgBouncer
     * reports its own errors, such as a server that is down, as 08P01 too. These are fatal and name no statement.
     */
    private static boolean isMixedUp(String state, String message, boolean mayBePrepared) {
        return switch (state) {
            case "26000", "42P05" -> true;
            case "22021", "22P02", "22P03" -> mayBePrepared;
            case "08P01" ->
                (mayBePrepared && !message.startsWith("FATAL"))
                        || NAMES_A_STATEMENT.matcher(message).find();
            case "0A000" -> message.contains("cached plan");
            default -> false;
        };
    }

    /**
     * Returns whether the database is not available. 08: connection; 25006: a standby server, after a failover; 40:
     * conflict with concurrent transactions; 53: resources; 55P03: lock timeout; 57: stopped by the operator, by a
     * shutdown or by a timeout; 58: system error.
     */
    private static boolean isUnavailable(String state, SQLException e) {
        return state.startsWith("08")
                || state.equals(READ_ONLY)
                || state.startsWith("40")
                || state.startsWith("53")
                || state.equals("55P03")
                || state.startsWith("57")
                || state.startsWith("58")
                || e instanceof ConnectException
                || e instanceof SQLTransientException
                || e instanceof SQLRecoverableException
                || e instanceof SQLNonTransientConnectionException;
    }

    /**
     * Removes the details of an error. The first line of its text says what is wrong. Further lines may repeat the
     * values of a row, including message text. An error with more than one line is therefore replaced by one with only
     * the first line.
     */
    private static SQLException withoutDetail(SQLException e) {
        String message = e.getMessage();
        int end = message == null ? -1 : message.indexOf('\n');
        if (end < 0 || message == null) {
            return e;
        }
        SQLException kept = new SQLException(message.substring(0, end), e.getSQLState(), e.getErrorCode());
        kept.setStackTrace(e.getStackTrace());
        return kept;
    }

    private static String state(SQLException e) {
        @Nullable String state = e.getSQLState();
        return state == null ? "" : state;
    }

    private static String inBrackets(String state) {
        return state.isEmpty() ? "" : " (SQLSTATE " + state + ")";
    }
}

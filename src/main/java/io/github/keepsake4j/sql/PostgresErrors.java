package io.github.keepsake4j.sql;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.sql.SQLException;
import java.util.regex.Pattern;

/**
 * Translates errors of the database to exceptions that tell the caller what to do, by their SQLSTATE (PostgreSQL,
 * "Appendix A. Error Codes").
 */
final class PostgresErrors {

    /**
     * The name of a statement that the driver prepared, in a message in any language, or the driver's error that a
     * transaction has not begun.
     */
    private static final Pattern NAMES_A_STATEMENT = Pattern.compile("\\b(S_[0-9]+|prepared statement|BEGIN)\\b");

    private PostgresErrors() {}

    /**
     * Returns the exception for the caller.
     *
     * @param what the call
     * @param e the error
     * @param mayBePrepared whether the call may have used a statement that is prepared on the server
     * @param scripts the scripts of the tables
     */
    static KeepsakeException translate(Object what, SQLException e, boolean mayBePrepared, SchemaScripts scripts) {
        if (e instanceof TooLargeException) {
            return new InvalidInputException(String.valueOf(what), String.valueOf(e.getMessage()));
        }
        String state = SqlStates.of(e);
        SQLException cause = SqlStates.withoutDetail(e);
        String mistake = SqlStates.mistake(e, scripts.whenMissing());
        if (mistake != null) {
            return new KeepsakeException(
                    what + ": " + mistake + ConnectException.where(e) + SqlStates.inBrackets(e), cause);
        }
        if (state.equals("XX001") || state.equals("XX002")) {
            return new UnreadableDataException(
                    what + ": the database reports that its data is damaged. Restore a backup", cause);
        }
        if (state.equals("22003")
                || (state.equals("23514") && String.valueOf(e.getMessage()).contains("_sound\""))) {
            // Input is checked before, so a number out of range or a failed CHECK constraint of this library comes from
            // a damaged row.
            return new UnreadableDataException(
                    what + ": the stored data is damaged, nothing was written" + SqlStates.inBrackets(e) + "; "
                            + scripts.schema().whenDamaged(),
                    cause);
        }
        if (!(e instanceof ConnectException) && isMixedUp(e, mayBePrepared)) {
            return new KeepsakeException(
                    what
                            + ": the server lacks a prepared statement or has another of its name"
                            + SqlStates.inBrackets(e)
                            + ". Behind a transaction pooler that does not track prepared statements, build the "
                            + scripts.schema().what()
                            + " with transactionPooler(), or add prepareThreshold=0 to the URL",
                    cause);
        }
        if (e instanceof ConnectException || SqlStates.isUnavailable(e)) {
            return new StorageUnavailableException(
                    what + ": PostgreSQL cannot be reached or is too busy" + ConnectException.where(e)
                            + SqlStates.inBrackets(e) + SqlStates.advice(e),
                    cause);
        }
        return new KeepsakeException(what + " failed" + SqlStates.inBrackets(e), cause);
    }

    /**
     * Returns whether the session is not the one in which a statement was prepared, as behind a transaction pooler.
     * 26000: the name does not exist; 42P05: the name exists already. The name may also belong to another client's
     * statement, for which the values are too few, too many or of other types (08P01, 22021, 22P02, 22P03), or which
     * found other tables (0A000). PgBouncer reports its own errors, such as a server that is down, as 08P01 too. These
     * are fatal and name no statement.
     */
    private static boolean isMixedUp(SQLException e, boolean mayBePrepared) {
        String message = String.valueOf(e.getMessage());
        return switch (SqlStates.of(e)) {
            case "26000", "42P05" -> true;
            case "22021", "22P02", "22P03" -> mayBePrepared;
            case "08P01" ->
                (mayBePrepared && !message.startsWith("FATAL"))
                        || NAMES_A_STATEMENT.matcher(message).find();
            case "0A000" -> SqlStates.isCachedPlan(e);
            default -> false;
        };
    }
}

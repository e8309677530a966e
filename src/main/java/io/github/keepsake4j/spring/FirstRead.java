package io.github.keepsake4j.spring;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.sql.SqlStates;
import java.sql.SQLException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads once from each opened database at the start, to find errors before the first chat. */
final class FirstRead {

    private static final Logger LOG = LoggerFactory.getLogger(FirstRead.class);

    private FirstRead() {}

    /**
     * Opens something and reads from it. A database that is not available is a warning, because it may be available later.
     *
     * @param problem the consequence of a failure, for the error's text
     * @param action what to do then
     * @param open opens it
     * @param read reads anything
     * @throws ConfigurationException if the database refuses the user, does not exist, or has no tables
     */
    static <T extends AutoCloseable> T of(String problem, String action, Supplier<T> open, Consumer<? super T> read) {
        T opened = null;
        try {
            opened = open.get();
            read.accept(opened);
            return opened;
        } catch (KeepsakeException e) {
            if (e.isRetryable() && opened != null) {
                LOG.warn("The database cannot be reached at the start: {}", e.getMessage());
                return opened;
            }
            close(opened, e);
            SQLException connecting = connecting(e);
            if (connecting != null) {
                throw noConnection(connecting);
            }
            throw new ConfigurationException(problem + ": " + e.getMessage() + ".", action, e);
        }
    }

    /** Returns how to create the tables of a script in the jar. */
    static String makeTables(String script) {
        return "Set keepsake4j.jdbc.initialize-schema=always, so that the tables are made at the start, or run the script"
                + " io/github/keepsake4j/schema/" + script + " in the jar by hand or by Flyway.";
    }

    private static void close(@Nullable AutoCloseable opened, KeepsakeException error) {
        if (opened == null) {
            return;
        }
        try {
            opened.close();
        } catch (Exception e) {
            error.addSuppressed(e);
        }
    }

    /**
     * Returns an error whose first line says why there is no connection, with the server's SQL state and text. These do
     * not contain the password; a driver's text about a URL may.
     */
    static ConfigurationException noConnection(SQLException e) {
        SQLException connecting = connecting(e);
        SQLException told = connecting == null ? e : connecting;
        String state = SqlStates.of(told);
        String words = String.valueOf(SqlStates.withoutDetail(told).getMessage())
                .replaceAll("(?i)(password\\w*=)[^&;\\s]*", "$1…")
                .replaceAll("//[^/\\s@]*@", "//…@");
        return new ConfigurationException(
                problem(state) + SqlStates.inBrackets(told) + ": " + words,
                action(state)
                        + " With keepsake4j.jdbc.platform=postgresql the application starts while the server is down.",
                e);
    }

    private static String problem(String state) {
        if (isRefusal(state)) {
            return "The database server refuses the user or the password";
        }
        if (state.startsWith("3D")) {
            return "The database does not exist";
        }
        return state.startsWith("08") || state.startsWith("57")
                ? "The database server cannot be reached"
                : "The DataSource gives no connection, so its kind of database is unknown";
    }

    private static String action(String state) {
        if (isRefusal(state)) {
            return "Check spring.datasource.username and spring.datasource.password, and pg_hba.conf of the server.";
        }
        return state.startsWith("3D")
                ? "Create the database, or check its name in spring.datasource.url."
                : "Check that the database runs, and spring.datasource.url.";
    }

    /**
     * Returns whether the server refused the user. 08004 means that the password or the method of authentication is
     * missing.
     */
    private static boolean isRefusal(String state) {
        return state.startsWith("28") || state.equals("08004");
    }

    /**
     * Returns the first cause that explains why there is no connection, or null. Pools wrap it in errors of their own.
     */
    private static @Nullable SQLException connecting(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql
                    && SqlStates.of(sql).matches("(28|3D|08|57).*")
                    && !(sql.getCause() instanceof SQLException)) {
                return sql;
            }
        }
        return null;
    }
}

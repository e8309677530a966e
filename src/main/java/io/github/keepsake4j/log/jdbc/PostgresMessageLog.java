package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.base.Library;
import io.github.keepsake4j.jdbc.SchemaMode;
import javax.sql.DataSource;

/** Opens logs in PostgreSQL 14 and newer, as {@link JdbcMessageLog} describes them. Thread-safe. */
public final class PostgresMessageLog {

    private PostgresMessageLog() {}

    /**
     * Opens a log with the connections of a data source. The tables must exist: run the scripts in
     * {@code io/github/keepsake4j/schema} of the jar by hand or by Flyway, or see {@link #builder()}.
     *
     * @param dataSource provides connections, preferably from a pool; the caller closes it
     * @return the log, to be closed at the end
     */
    public static JdbcMessageLog open(DataSource dataSource) {
        Library.require(Library.POSTGRESQL);
        return builder().dataSource(dataSource).build();
    }

    /**
     * Opens a log with a pool of its own, which is closed with it. Needs HikariCP.
     *
     * @param url such as {@code jdbc:postgresql://host/database}
     * @param user the database's user
     * @param password the user's password
     * @param schema whether the log creates its tables, for which the user needs the right
     * @return the log, to be closed at the end
     */
    public static JdbcMessageLog open(String url, String user, String password, SchemaMode schema) {
        return builder().url(url, user, password).schema(schema).build();
    }

    /**
     * Starts the configuration of a log.
     *
     * @return a new builder
     */
    public static JdbcMessageLog.Builder builder() {
        return JdbcMessageLog.builder();
    }
}

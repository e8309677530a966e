package io.github.keepsake4j.log.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;

/** The pool that is made when the user gives none. The only class that needs HikariCP. */
final class OwnPool {

    private OwnPool() {}

    /** Makes a pool that connects on first use. */
    static PostgresConnections open(
            String url,
            String user,
            String password,
            int maxSize,
            Duration statementTimeout,
            JdbcMessageLog.SchemaMode schema) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("keepsake");
        config.setJdbcUrl(url);
        config.setUsername(user);
        config.setPassword(password);
        config.setMaximumPoolSize(maxSize);
        config.setInitializationFailTimeout(-1);
        config.setConnectionTimeout(Math.max(250, statementTimeout.toMillis()));
        config.addDataSourceProperty("ApplicationName", "keepsake4j");
        config.addDataSourceProperty("tcpKeepAlive", "true");
        // A peer that is gone without a word; a bit more than the statement's own time-out, which can tell why.
        config.addDataSourceProperty("socketTimeout", Long.toString(statementTimeout.toSeconds() + 5));
        // Details of errors repeat the values of rows.
        config.addDataSourceProperty("logServerErrorDetail", "false");
        HikariDataSource pool = new HikariDataSource(config);
        return new PostgresConnections(pool, statementTimeout, schema, pool);
    }
}

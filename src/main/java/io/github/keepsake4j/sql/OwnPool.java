package io.github.keepsake4j.sql;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.PostgresBuilder.Settings;
import io.github.keepsake4j.message.InvalidInputException;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Creates the connection pool that is used if the user provides none. This is the only class that requires HikariCP.
 */
final class OwnPool {

    private OwnPool() {}

    /** Creates a pool that connects on first use. */
    static DataSource open(Settings settings) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("keepsake");
        config.setJdbcUrl(settings.url());
        config.setUsername(settings.user());
        config.setPassword(settings.password());
        config.setMaximumPoolSize(settings.maxPoolSize());
        config.setInitializationFailTimeout(-1);
        config.setConnectionTimeout(Math.max(250, settings.statementTimeout().toMillis()));
        config.addDataSourceProperty("ApplicationName", "keepsake4j");
        config.addDataSourceProperty("tcpKeepAlive", "true");
        // The socket timeout detects a server that disappeared without closing the connection. It is slightly longer
        // than the statement's own timeout, whose error names the cause.
        config.addDataSourceProperty(
                "socketTimeout", Long.toString(settings.statementTimeout().toSeconds() + 5));
        if (settings.transactionPooler()) {
            // For the pool's own statements too.
            config.addDataSourceProperty("prepareThreshold", "0");
        }
        // The details of errors repeat the values of rows, so they are left out.
        config.addDataSourceProperty("logServerErrorDetail", "false");
        try {
            return new HikariDataSource(config);
        } catch (RuntimeException e) {
            if (e.getCause() instanceof SQLException) {
                // Without the cause, which quotes the URL and so may have a password.
                throw new InvalidInputException(
                        "url",
                        "has no JDBC driver on the class path; add org.postgresql:postgresql, and begin it with"
                                + " jdbc:postgresql:");
            }
            throw e;
        }
    }
}

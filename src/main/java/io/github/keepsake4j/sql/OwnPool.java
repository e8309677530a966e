package io.github.keepsake4j.sql;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.PostgresBuilder.Settings;
import io.github.keepsake4j.message.InvalidInputException;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.postgresql.Driver;

/**
 * Creates the connection pool that is used if the user provides none. This is the only class that requires HikariCP.
 */
final class OwnPool {

    private static final Pattern USER_IN_HOST = Pattern.compile("jdbc:postgresql:[^= ]*@");

    private OwnPool() {}

    /** Refuses a URL whose host the driver would quote in its error, with the password before it. */
    static void refuseUserInHost(String url) {
        if (USER_IN_HOST.matcher(url).find()) {
            throw new InvalidInputException(
                    "url", "has a user before the host (…@…); give the user and the password apart from the URL");
        }
    }

    /** Creates a pool that connects on first use. */
    static DataSource open(Settings settings) {
        String url = String.valueOf(settings.url());
        if (!url.startsWith("jdbc:") || !url.contains("postgresql:")) {
            throw new InvalidInputException(
                    "url",
                    "must begin with jdbc:postgresql:. The databases are PostgreSQL, and SQLite, whose file is opened by"
                            + " its name");
        }
        refuseUserInHost(url);
        try {
            if (Driver.isRegistered()) {
                DriverManager.getDriver(url);
            }
        } catch (SQLException e) {
            // Without the cause, which quotes the URL and so may have a password.
            throw new InvalidInputException("url", "is not one that a JDBC driver on the class path takes");
        }
        HikariDataSource pool = new HikariDataSource();
        pool.setPoolName("keepsake");
        pool.setJdbcUrl(url);
        pool.setUsername(settings.user());
        pool.setPassword(settings.password());
        pool.setMaximumPoolSize(settings.maxPoolSize());
        // Until the first connection, a failure is reported at once. A pool that exists tries again until its time
        // limit.
        pool.setInitializationFailTimeout(1);
        // With the timeouts of sockets below, a call that waits for both takes one and a half times the default limit.
        long limit = settings.statementTimeout().toMillis();
        pool.setConnectionTimeout(Math.max(250, limit * 2 / 5));
        pool.setValidationTimeout(Math.max(250, Math.min(5_000, limit * 2 / 5)));
        pool.addDataSourceProperty("ApplicationName", "keepsake4j");
        pool.addDataSourceProperty("tcpKeepAlive", "true");
        // The socket timeout detects a server that disappeared without closing the connection. It is slightly longer
        // than the statement's own timeout, whose error names the cause. It cancels nothing either.
        pool.addDataSourceProperty("socketTimeout", Long.toString((limit + 999) / 1_000 + 1));
        pool.addDataSourceProperty("cancelSignalTimeout", "1");
        if (settings.transactionPooler()) {
            // For the pool's own statements too.
            pool.addDataSourceProperty("prepareThreshold", "0");
        }
        // The details of errors repeat the values of rows, so they are left out.
        pool.addDataSourceProperty("logServerErrorDetail", "false");
        return pool;
    }
}

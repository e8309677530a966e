package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.message.InvalidInputException;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Configures a {@link JdbcMessageLog} on PostgreSQL: {@link #dataSource} or {@link #url} is required. Not thread-safe.
 *
 * <pre>{@code
 * JdbcMessageLog log = JdbcMessageLog.builder()
 *         .url("jdbc:postgresql://localhost/chat", "chat", password)
 *         .schema(SchemaMode.ALWAYS)
 *         .build();
 * }</pre>
 */
public final class JdbcMessageLogBuilder {

    private static final int DEFAULT_POOL_SIZE = 10;

    private @Nullable DataSource dataSource;
    private @Nullable String url;
    private String user = "";
    private String password = "";
    private int maxPoolSize = DEFAULT_POOL_SIZE;
    private Duration statementTimeout = Duration.ofSeconds(10);
    private SchemaMode schema = SchemaMode.EMBEDDED;
    private Clock clock = Clock.systemUTC();

    JdbcMessageLogBuilder() {}

    /**
     * Sets where connections come from. Their auto-commit and isolation may be as they like: serializable works, with
     * more tries where writers meet.
     *
     * @param source the data source; stays the caller's to close
     * @return this builder
     */
    public JdbcMessageLogBuilder dataSource(DataSource source) {
        this.dataSource = Objects.requireNonNull(source, "dataSource");
        return this;
    }

    /**
     * Has a pool made with HikariCP, which is closed with the log.
     *
     * @param jdbcUrl such as {@code jdbc:postgresql://host/database}
     * @param databaseUser the database's user
     * @param databasePassword the user's password
     * @return this builder
     */
    public JdbcMessageLogBuilder url(String jdbcUrl, String databaseUser, String databasePassword) {
        this.url = Objects.requireNonNull(jdbcUrl, "url");
        this.user = Objects.requireNonNull(databaseUser, "user");
        this.password = Objects.requireNonNull(databasePassword, "password");
        return this;
    }

    /**
     * Sets how many connections the pool of {@link #url} has at most; 10 unless said otherwise. Calls wait for one.
     *
     * @param connections 1 or more
     * @return this builder
     */
    public JdbcMessageLogBuilder maxPoolSize(int connections) {
        if (connections < 1) {
            throw new InvalidInputException("maxPoolSize", "must be 1 or more, is " + connections);
        }
        this.maxPoolSize = connections;
        return this;
    }

    /**
     * Sets how long one statement may take, in whole seconds, before it is cancelled with a retryable error; 10 seconds
     * unless said otherwise. The pool of {@link #url} waits as long for a connection.
     *
     * @param timeout more than zero
     * @return this builder
     */
    public JdbcMessageLogBuilder statementTimeout(Duration timeout) {
        if (timeout.isZero() || timeout.isNegative()) {
            throw new InvalidInputException("statementTimeout", "must be more than zero, is " + timeout);
        }
        this.statementTimeout = timeout;
        return this;
    }

    /**
     * Sets whether tables are made; {@link SchemaMode#EMBEDDED} unless said otherwise.
     *
     * @param mode when
     * @return this builder
     */
    public JdbcMessageLogBuilder schema(SchemaMode mode) {
        this.schema = Objects.requireNonNull(mode, "schema");
        return this;
    }

    /**
     * Sets the clock that times of messages and the ends of leases are taken from; the system's unless said otherwise.
     *
     * @param source the clock
     * @return this builder
     */
    public JdbcMessageLogBuilder clock(Clock source) {
        this.clock = Objects.requireNonNull(source, "clock");
        return this;
    }

    /**
     * Makes the log. Nothing is connected before the first use.
     *
     * @return a new one
     * @throws InvalidInputException if not exactly one of data source and URL is given
     */
    public JdbcMessageLog build() {
        DataSource source = dataSource;
        if ((source == null) == (url == null)) {
            throw new InvalidInputException("dataSource", "or url is required, and only one of them");
        }
        if (source != null) {
            return log(new PostgresConnections(source, statementTimeout, schema, null));
        }
        return log(OwnPool.open(Objects.requireNonNull(url), user, password, maxPoolSize, statementTimeout, schema));
    }

    private JdbcMessageLog log(PostgresConnections connections) {
        return new JdbcMessageLog(connections, new PostgresDialect(), clock);
    }
}

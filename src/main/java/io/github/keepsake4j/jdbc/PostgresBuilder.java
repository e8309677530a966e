package io.github.keepsake4j.jdbc;

import io.github.keepsake4j.message.InvalidInputException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The common configuration of all stores in PostgreSQL: {@link #dataSource} or {@link #url} is required. Not
 * thread-safe.
 *
 * @param <B> the builder's own type
 */
public abstract class PostgresBuilder<B extends PostgresBuilder<B>> {

    /** The default time limit of one statement, as {@link Duration#parse} reads it. */
    public static final String DEFAULT_STATEMENT_TIMEOUT = "PT10S";

    private static final int DEFAULT_POOL_SIZE = 10;

    private @Nullable DataSource dataSource;
    private @Nullable String url;
    private String user = "";
    private String password = "";
    private int maxPoolSize = DEFAULT_POOL_SIZE;
    private Duration statementTimeout = Duration.parse(DEFAULT_STATEMENT_TIMEOUT);
    private SchemaMode schema = SchemaMode.EMBEDDED;
    private boolean transactionPooler;

    /** Creates a builder without a database. */
    protected PostgresBuilder() {}

    /**
     * Returns this builder.
     *
     * @return this builder
     */
    protected abstract B self();

    /**
     * Sets the source of connections. Any auto-commit mode and any isolation level work. With serializable isolation,
     * concurrent writers need more tries.
     *
     * @param source the data source; the caller closes it
     * @return this builder
     */
    public final B dataSource(DataSource source) {
        this.dataSource = InvalidInputException.given("dataSource", source);
        return self();
    }

    /**
     * Creates a pool with HikariCP, which is closed with the built object.
     *
     * @param jdbcUrl such as {@code jdbc:postgresql://host/database}
     * @param databaseUser the database's user
     * @param databasePassword the user's password
     * @return this builder
     */
    public final B url(String jdbcUrl, String databaseUser, String databasePassword) {
        this.url = InvalidInputException.given("url", jdbcUrl);
        this.user = InvalidInputException.given("user", databaseUser);
        this.password = InvalidInputException.given("password", databasePassword);
        return self();
    }

    /**
     * Sets the largest number of connections of the pool of {@link #url}. Calls wait for one. Default: 10.
     *
     * @param connections 1 or more
     * @return this builder
     */
    public final B maxPoolSize(int connections) {
        InvalidInputException.checkAtLeast("maxPoolSize", 1, connections);
        this.maxPoolSize = connections;
        return self();
    }

    /**
     * Sets the time limit of one statement. A statement is cancelled with a retryable error, up to a tenth of a second
     * later. The pool of {@link #url} waits two fifths of it for a connection. The statements that clear a whole index
     * may take 30 seconds if this limit is shorter. Default: 10 seconds.
     *
     * @param timeout more than zero
     * @return this builder
     */
    public final B statementTimeout(Duration timeout) {
        InvalidInputException.checkPositive("statementTimeout", timeout);
        this.statementTimeout = timeout;
        return self();
    }

    /**
     * Sets whether the tables are created on first use. Default: {@link SchemaMode#EMBEDDED}, so that the scripts in
     * {@code io/github/keepsake4j/schema} of the jar are run by hand or by Flyway.
     *
     * @param mode when
     * @return this builder
     */
    public final B schema(SchemaMode mode) {
        this.schema = InvalidInputException.given("schema", mode);
        return self();
    }

    /**
     * Turns off prepared statements on the server, regardless of the data source's settings. Required for a log, and
     * for the pool of {@link #url}, behind a transaction pooler that does not track prepared statements, such as
     * PgBouncer before 1.21 or with {@code max_prepared_statements = 0}: otherwise some calls fail there with an error
     * that is not retryable. The server then plans each statement again, so an append or a read takes several times as
     * long. The data source's connections must unwrap to {@code org.postgresql.PGConnection}. Default: for a log, the
     * driver prepares frequent statements, according to its {@code prepareThreshold}; otherwise nothing is prepared.
     *
     * @return this builder
     */
    public final B transactionPooler() {
        this.transactionPooler = true;
        return self();
    }

    /**
     * Returns what was set.
     *
     * @return the settings
     * @throws InvalidInputException unless one of data source and URL is set
     */
    protected final Settings settings() {
        if ((dataSource == null) == (url == null)) {
            throw new InvalidInputException(
                    "dataSource", dataSource == null ? "or url is required" : "and url are both set; set one of them");
        }
        return new Settings(dataSource, url, user, password, maxPoolSize, statementTimeout, schema, transactionPooler);
    }

    /**
     * What a {@link PostgresBuilder} was set to. One of data source and URL is null.
     *
     * @param dataSource the source of connections, or null for a pool of the URL
     * @param url the JDBC URL, or null
     * @param user the database's user, for the URL
     * @param password the user's password, for the URL
     * @param maxPoolSize the largest number of connections of the URL's pool
     * @param statementTimeout the time limit of one statement
     * @param schema whether the tables are created on first use
     * @param transactionPooler whether nothing is prepared on the server
     */
    public record Settings(
            @Nullable DataSource dataSource,
            @Nullable String url,
            String user,
            String password,
            int maxPoolSize,
            Duration statementTimeout,
            SchemaMode schema,
            boolean transactionPooler) {

        /** Does not show the URL and the password, which may be secret. */
        @Override
        public String toString() {
            return "Settings";
        }
    }
}

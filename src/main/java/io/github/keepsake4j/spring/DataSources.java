package io.github.keepsake4j.spring;

import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.io.ResourceLoader;
import org.springframework.util.ClassUtils;

/**
 * The data source that keeps the memories: the one with {@link KeepsakeDataSource}, else the application's only or primary
 * one. The kind of its database is read once, on a connection, when a log is needed.
 */
final class DataSources {

    static final String POSTGRESQL = "postgresql";
    static final String SQLITE = "sqlite";

    private static final String SQLITE_URL = "jdbc:sqlite:";
    private static final boolean HAS_SPRING_JDBC = ClassUtils.isPresent(
            "org.springframework.jdbc.datasource.DelegatingDataSource", DataSources.class.getClassLoader());

    private final KeepsakeProperties properties;
    private final ObjectProvider<DataSource> marked;
    private final ObjectProvider<DataSource> all;
    private final ResourceLoader resources;
    private @Nullable Database known;

    /** A data source and the product and URL of its database. */
    private record Database(DataSource dataSource, String product, @Nullable String url) {}

    DataSources(
            KeepsakeProperties properties,
            ObjectProvider<DataSource> marked,
            ObjectProvider<DataSource> all,
            ResourceLoader resources) {
        this.properties = properties;
        this.marked = marked;
        this.all = all;
        this.resources = resources;
    }

    /** Returns {@link #POSTGRESQL} or {@link #SQLITE}, or null if there is no data source of either kind. */
    @Nullable
    String platform() {
        Database database = find();
        return database == null ? null : platform(database);
    }

    /** Returns the name of the database if it is of another kind, or null. */
    @Nullable
    String otherKind() {
        Database database = find();
        return database == null || platform(database) != null ? null : database.product();
    }

    /** Opens the log on the data source. */
    MessageLog log() {
        Database database = required();
        SchemaMode mode = properties.jdbc().initializeSchema();
        if (SQLITE.equals(platform(database))) {
            return Stores.sqlite(file(database), mode, properties.listed());
        }
        DataSource source = apartFromTransactions(database.dataSource());
        String script = properties.jdbc().schema();
        if (script != null) {
            SchemaScript.run(source, resources, script);
        }
        JdbcMessageLog.Builder builder = JdbcMessageLog.builder()
                .dataSource(source)
                .schema(script != null ? SchemaMode.NEVER : mode)
                .statementTimeout(properties.jdbc().statementTimeout())
                .listedMetadata(properties.listed());
        if (properties.jdbc().transactionPooler()) {
            builder.transactionPooler();
        }
        return FirstRead.of(
                "The DataSource cannot keep memories",
                FirstRead.makeTables("postgresql/V1__keepsake.sql"),
                builder::build,
                log -> log.read(ConversationKey.of(properties.tenant(), "keepsake4j"), ReadQuery.newest(0)));
    }

    /** Returns the data source if it belongs to PostgreSQL, or null. */
    @Nullable
    DataSource postgres() {
        return POSTGRESQL.equals(platform()) ? apartFromTransactions(required().dataSource()) : null;
    }

    private static DataSource apartFromTransactions(DataSource source) {
        return HAS_SPRING_JDBC ? TransactionalDataSource.around(source) : source;
    }

    private Database required() {
        Database database = find();
        if (database == null) {
            throw new ConfigurationException(
                    "The store jdbc needs a DataSource bean, and there is none.",
                    "Set spring.datasource.url and add a starter for JDBC, or add a DataSource bean.");
        }
        if (platform(database) == null) {
            throw new ConfigurationException(
                    "The DataSource is of " + database.product() + ", but memories need PostgreSQL or SQLite.",
                    "Add a DataSource of PostgreSQL with @KeepsakeDataSource, or set keepsake4j.store to another store.");
        }
        return database;
    }

    private synchronized @Nullable Database find() {
        if (known == null) {
            DataSource source = dataSource();
            known = source == null ? null : database(source);
        }
        return known;
    }

    private @Nullable DataSource dataSource() {
        for (ObjectProvider<DataSource> some : List.of(marked, all)) {
            DataSource source = some.getIfUnique();
            if (source != null) {
                return source;
            }
            if (some.stream().findAny().isPresent()) {
                throw new ConfigurationException(
                        "There are several DataSource beans, and none is marked for the memories.",
                        "Mark it with @KeepsakeDataSource, or mark one as @Primary.");
            }
        }
        return null;
    }

    private Database database(DataSource source) {
        String platform = properties.jdbc().platform();
        if (POSTGRESQL.equals(platform)) {
            return new Database(source, "PostgreSQL", null);
        }
        try (Connection connection = source.getConnection()) {
            DatabaseMetaData data = connection.getMetaData();
            return new Database(source, platform == null ? data.getDatabaseProductName() : "SQLite", data.getURL());
        } catch (SQLException e) {
            throw FirstRead.noConnection(e);
        }
    }

    private static @Nullable String platform(Database database) {
        return switch (database.product()) {
            case "PostgreSQL" -> POSTGRESQL;
            case "SQLite" -> SQLITE;
            default -> null;
        };
    }

    /** The log opens the file itself, because SQLite needs settings of its own for several writers. */
    private static Path file(Database database) {
        String url = String.valueOf(database.url());
        String name = url.startsWith(SQLITE_URL) ? url.substring(SQLITE_URL.length()) : "";
        int parameters = name.indexOf('?');
        String path = parameters < 0 ? name : name.substring(0, parameters);
        if (path.isEmpty()
                || path.contains(":memory:")
                || name.contains("mode=memory")
                || path.startsWith(":resource:")) {
            throw new ConfigurationException(
                    "The DataSource is a SQLite database without a file.",
                    "Set spring.datasource.url to a file, such as jdbc:sqlite:chat.db, or set keepsake4j.sqlite.file and"
                            + " keepsake4j.store=sqlite.");
        }
        return Path.of(path.startsWith("file:") ? path.substring("file:".length()) : path);
    }
}

package io.github.keepsake4j.log.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Postgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Rows of PostgreSQL that were edited by hand, behind dropped constraints. */
class PostgresHandEditedRowsTest extends HandEditedRowsContract {

    private static final List<String> TABLES =
            List.of("message", "memory", "view", "summary", "reference", "usage", "lease", "listed");

    private static HikariDataSource pool;

    @BeforeAll
    static void start() throws Exception {
        Postgres server = Postgres.newest();
        pool = Postgres.trustingPool(server.database(server.newDatabase()), 4, true);
        // Another minute than that of the tests, so that their appends move the memory on its lists.
        Clock earlier = Clock.offset(Clock.systemUTC(), Duration.ofHours(-1));
        try (MessageLog log = log(SchemaMode.ALWAYS, earlier)) {
            fill(log);
        }
        for (String table : TABLES) {
            Postgres.execute(pool, "CREATE TABLE saved_" + table + " AS SELECT * FROM keepsake_" + table);
        }
        Postgres.execute(
                pool,
                """
                DO $$ DECLARE c record; BEGIN
                  FOR c IN SELECT conrelid::regclass AS owner, conname AS name FROM pg_constraint
                           WHERE contype IN ('c', 'u') AND conname LIKE 'keepsake%' AND conname <> 'keepsake_message_id' LOOP
                    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.owner, c.name);
                  END LOOP;
                  FOR c IN SELECT attrelid::regclass AS owner, attname AS name FROM pg_attribute
                           JOIN pg_class ON pg_class.oid = attrelid
                           WHERE relname LIKE 'keepsake%' AND relkind = 'r' AND attnotnull AND attnum > 0
                             AND NOT EXISTS (SELECT FROM pg_index
                                             WHERE indrelid = attrelid AND indisprimary AND attnum = ANY (indkey)) LOOP
                    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP NOT NULL', c.owner, c.name);
                  END LOOP;
                END $$;
                """);
    }

    @AfterAll
    static void stop() {
        pool.close();
    }

    @Override
    MessageLog open() {
        return log(SchemaMode.EMBEDDED, Clock.systemUTC());
    }

    private static MessageLog log(SchemaMode mode, Clock clock) {
        return JdbcMessageLog.builder()
                .dataSource(pool)
                .schema(mode)
                .clock(clock)
                .build();
    }

    @Override
    Connection connect() throws SQLException {
        return pool.getConnection();
    }

    @Override
    void restore() throws SQLException {
        StringBuilder sql = new StringBuilder();
        for (String table : TABLES) {
            sql.append("DELETE FROM keepsake_").append(table).append(';');
            sql.append("INSERT INTO keepsake_%s SELECT * FROM saved_%s;".formatted(table, table));
        }
        Postgres.execute(pool, sql.toString());
    }

    @Override
    Map<String, String> columns(String table) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT column_name, data_type FROM information_schema.columns"
                        + " WHERE table_name = '" + table + "' ORDER BY ordinal_position")) {
            Map<String, String> columns = new LinkedHashMap<>();
            while (rows.next()) {
                String type = rows.getString(2);
                columns.put(
                        rows.getString(1), type.equals("text") ? "text" : type.equals("bytea") ? "bytes" : "number");
            }
            return columns;
        }
    }
}

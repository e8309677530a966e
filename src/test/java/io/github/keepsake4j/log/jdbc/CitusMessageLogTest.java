package io.github.keepsake4j.log.jdbc;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The contract on a real Citus, with {@code -Dgroups=citus}. {@code KEEPSAKE_CITUS_URL} is the JDBC URL of the coordinator on
 * 127.0.0.1, with user and password, of a database of its own that has the extension: its tables are emptied.
 */
@Tag("citus")
class CitusMessageLogTest extends PostgresContract {

    @BeforeAll
    static void start() throws Exception {
        PGSimpleDataSource coordinator = new PGSimpleDataSource();
        coordinator.setUrl(Objects.requireNonNull(System.getenv("KEEPSAKE_CITUS_URL"), "KEEPSAKE_CITUS_URL"));
        start(coordinator);
        try (Connection connection = coordinator.getConnection();
                Statement statement = connection.createStatement()) {
            try (ResultSet rows = statement.executeQuery(
                    "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'keepsake_message'::regclass")) {
                if (rows.next()) {
                    return;
                }
            }
            try (InputStream script =
                    JdbcMessageLog.class.getResourceAsStream("/io/github/keepsake4j/schema/postgresql/citus.sql")) {
                statement.execute(new String(script.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
    }
}

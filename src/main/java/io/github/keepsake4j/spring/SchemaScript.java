package io.github.keepsake4j.spring;

import io.github.keepsake4j.sql.Session;
import io.github.keepsake4j.sql.SqlConnection;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.ScriptException;

/** Runs a user's script that creates the tables. It runs once, even if several instances start at the same time. */
final class SchemaScript {

    private static final String PLATFORM = "@@platform@@";

    /** A number that no other program locks, different from the number of the library's own script. */
    private static final long LOCK = 0x6B65657073707267L;

    private SchemaScript() {}

    static void run(DataSource source, ResourceLoader resources, String location) {
        Resource script = resources.getResource(location.replace(PLATFORM, "postgresql"));
        String set = "Set keepsake4j.jdbc.schema to a script that makes the tables, or remove the property.";
        if (!script.exists()) {
            throw new ConfigurationException(
                    "keepsake4j.jdbc.schema names " + location + ", which does not exist.", set);
        }
        try (Connection connection = source.getConnection();
                SqlConnection used = SqlConnection.of(connection)) {
            Session session = new Session(used);
            used.setAutoCommit(false);
            used.inTransaction(() -> {
                session.lock(LOCK);
                if (!session.hasTable("keepsake_schema")) {
                    new ResourceDatabasePopulator(script).populate(connection);
                }
                return true;
            });
        } catch (SQLException | ScriptException e) {
            throw new ConfigurationException("The script " + location + " of keepsake4j.jdbc.schema failed.", set, e);
        }
    }
}

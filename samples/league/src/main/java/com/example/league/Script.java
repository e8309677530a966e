package com.example.league;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

/** Runs a library's own schema script. */
final class Script {

    private Script() {}

    static void run(DataSource pool, String resource) {
        try (Connection connection = pool.getConnection()) {
            ScriptUtils.executeSqlScript(connection, new ClassPathResource(resource));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}

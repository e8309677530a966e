package com.example.conformance;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/** The PostgreSQL server that all subjects use, here and in other processes. */
final class Database {

    static final String URL = "conformance.url";

    private Database() {}

    static HikariDataSource connect() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(System.getProperty(URL));
        config.setMaximumPoolSize(10);
        config.setMinimumIdle(1);
        return new HikariDataSource(config);
    }

    /** Creates the tables of both projects with their own scripts. */
    static void createTables() {
        try (HikariDataSource source = connect()) {
            new ResourceDatabasePopulator(
                            new ClassPathResource(
                                    "org/springframework/ai/chat/memory/repository/jdbc/schema-postgresql.sql"),
                            new ClassPathResource("org/springframework/ai/session/jdbc/schema-postgresql.sql"))
                    .execute(source);
        }
    }
}

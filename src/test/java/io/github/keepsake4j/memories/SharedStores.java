package io.github.keepsake4j.memories;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.file.FileMessageLog;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Path;
import java.sql.SQLException;

/** A log and a store of memories that several processes open by one name: a directory, or {@code postgres:port:database}. */
final class SharedStores implements AutoCloseable {

    private static final String POSTGRES = "postgres:";

    final LongTermMemoryStore memories;
    private final String name;
    private final HikariDataSource pool;

    private SharedStores(String name) {
        this.name = name;
        if (name.startsWith(POSTGRES)) {
            String[] parts = name.split(":", -1);
            pool = Postgres.trustingPool(Postgres.database(parts[2], Integer.parseInt(parts[1])), 4, true);
            memories = JdbcLongTermMemoryStore.builder()
                    .dataSource(pool)
                    .schema(SchemaMode.ALWAYS)
                    .build();
        } else {
            pool = null;
            memories = FileLongTermMemoryStore.of(Path.of(name).resolve("memories"));
        }
    }

    static SharedStores open(String name) {
        return new SharedStores(name);
    }

    /** Returns the name of a new database. */
    static String inPostgres() throws SQLException {
        Postgres server = Postgres.newest();
        return POSTGRES + server.port() + ":" + server.newDatabase();
    }

    MessageLog newLog() {
        return pool == null ? FileMessageLog.in(Path.of(name).resolve("log")) : Postgres.log(pool);
    }

    @Override
    public void close() {
        memories.close();
        if (pool != null) {
            pool.close();
        }
    }
}

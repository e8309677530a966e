package io.github.keepsake4j.spring;

import io.github.keepsake4j.log.jdbc.JdbcMessageLog.SchemaMode;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.recall.jdbc.FileMemoryStore;
import io.github.keepsake4j.recall.jdbc.JdbcMemoryStore;
import io.github.keepsake4j.recall.memories.MemoryStore;
import io.github.keepsake4j.recall.words.Words;
import java.nio.file.Path;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens what keeps memories that are made: the directory that is named, else PostgreSQL if the conversations are there. */
final class MemoryStores {

    private static final Logger LOG = LoggerFactory.getLogger(MemoryStores.class);

    private MemoryStores() {}

    static MemoryStore open(KeepsakeProperties properties, DataSources dataSources, Words words) {
        Path directory = properties.memories().directory();
        if (directory != null) {
            return FileMemoryStore.of(directory, words);
        }
        boolean isJdbc = properties.memories().store() == Store.JDBC
                || properties.store() == null
                || properties.store() == Store.JDBC;
        DataSource source = isJdbc ? dataSources.postgres() : null;
        if (source == null) {
            throw new ConfigurationException(
                    "There is no store for the memories that are made: they are kept in PostgreSQL or in files.",
                    "Set keepsake4j.memories.directory"
                            + (isJdbc
                                    ? ", or add a DataSource of PostgreSQL."
                                    : ", or keepsake4j.memories.store=jdbc with a DataSource of PostgreSQL."),
                    null);
        }
        JdbcMemoryStore.Builder builder =
                JdbcMemoryStore.builder().dataSource(source).words(words);
        if (properties.jdbc().initializeSchema() == SchemaMode.ALWAYS) {
            builder.createTables();
        }
        JdbcMemoryStore store = builder.build();
        check(store, properties.tenant());
        return store;
    }

    /** Creators work in the background, where missing tables would be seen late. */
    private static void check(JdbcMemoryStore store, String tenant) {
        try {
            store.chunks(ConversationKey.of(tenant, "keepsake4j"), 0);
        } catch (KeepsakeException e) {
            if (e.isRetryable()) {
                LOG.warn("The database cannot be reached at the start: {}", e.getMessage());
                return;
            }
            store.close();
            throw new ConfigurationException(
                    "The DataSource cannot keep the memories that are made: " + e.getMessage() + ".",
                    "Set keepsake4j.jdbc.initialize-schema=always, so that the tables are made at the start, or run the script"
                            + " io/github/keepsake4j/schema/memories/postgresql/V1__keepsake_memories.sql in the jar by hand or by"
                            + " Flyway.",
                    e);
        }
    }
}

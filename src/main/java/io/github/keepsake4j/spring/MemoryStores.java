package io.github.keepsake4j.spring;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.jdbc.FileMemoryStore;
import io.github.keepsake4j.recall.jdbc.JdbcMemoryStore;
import io.github.keepsake4j.recall.memories.MemoryStore;
import io.github.keepsake4j.recall.words.Words;
import java.nio.file.Path;
import javax.sql.DataSource;

/** Opens what keeps memories that are made: the directory that is named, else PostgreSQL if the conversations are there. */
final class MemoryStores {

    private MemoryStores() {}

    static MemoryStore open(KeepsakeProperties properties, DataSources dataSources, Words words) {
        Path directory = properties.memories().directory();
        if (directory != null) {
            Stores.needWritable(directory, "memories.directory");
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
        JdbcMemoryStore.Builder builder = JdbcMemoryStore.builder()
                .dataSource(source)
                .statementTimeout(properties.jdbc().statementTimeout())
                .schema(properties.jdbc().initializeSchema())
                .words(words);
        return FirstRead.of(
                "The DataSource cannot keep the memories that are made",
                FirstRead.makeTables("memories/postgresql/V1__keepsake_memories.sql"),
                builder::build,
                store -> store.chunks(ConversationKey.of(properties.tenant(), "keepsake4j"), 0));
    }
}

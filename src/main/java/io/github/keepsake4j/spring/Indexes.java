package io.github.keepsake4j.spring;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import java.util.List;
import javax.sql.DataSource;

/** Opens the index: in the file that is named, else in PostgreSQL if the memories are there, else in memory. */
final class Indexes {

    private Indexes() {}

    static MessageIndex open(KeepsakeProperties properties, DataSources dataSources) {
        if (properties.index().file() != null) {
            Stores.needDirectory(properties.index().file(), "index.file");
            return JdbcMessageIndex.sqlite(properties.index().file());
        }
        boolean isJdbc = properties.store() == null || properties.store() == Store.JDBC;
        DataSource source = isJdbc ? dataSources.postgres() : null;
        if (source == null) {
            return new InMemoryMessageIndex();
        }
        JdbcMessageIndex.Builder builder = JdbcMessageIndex.builder()
                .dataSource(source)
                .statementTimeout(properties.jdbc().statementTimeout())
                .schema(properties.jdbc().initializeSchema());
        return FirstRead.of(
                "The DataSource cannot keep the index",
                FirstRead.makeTables("index/postgresql/V1__keepsake_index.sql"),
                builder::build,
                index -> index.watermarks(List.of(ConversationKey.of(properties.tenant(), "keepsake4j"))));
    }
}

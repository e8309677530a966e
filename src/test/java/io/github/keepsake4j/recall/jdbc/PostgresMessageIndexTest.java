package io.github.keepsake4j.recall.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.IndexedMessage;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.MessageIndexContract;
import io.github.keepsake4j.testing.Postgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class PostgresMessageIndexTest extends MessageIndexContract {

    @AutoClose
    private static final HikariDataSource POOL = Postgres.poolOfNewDatabase();

    @Override
    protected MessageIndex newIndex() {
        MessageIndex index = sameIndex();
        index.clear();
        return index;
    }

    @Override
    protected MessageIndex sameIndex() {
        return Postgres.index(POOL);
    }

    @Test
    void after_compact_the_memories_of_a_tenant_are_read_together() throws Exception {
        try (MessageIndex index = newIndex()) {
            Map<String, Integer> terms =
                    IntStream.range(0, 200).boxed().collect(Collectors.toMap(number -> "term" + number, number -> 1));
            for (int i = 0; i < 30; i++) {
                index.add(
                        ConversationKey.of("acme", "memory" + i),
                        null,
                        new Watermark(1, 1),
                        List.of(new IndexedMessage(1, ChatMessageType.USER, 200, terms)));
            }
            assertThat(pages("term7")).isGreaterThanOrEqualTo(30);
            index.compact();
            assertThat(pages("term7")).isLessThanOrEqualTo(2);
        }
    }

    /** Returns in how many pages the rows of a term lie. */
    private static int pages(String term) throws SQLException {
        try (Connection connection = POOL.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(DISTINCT (ctid::text::point)[0])"
                        + " FROM keepsake_index_posting WHERE term = '" + term + "'")) {
            rows.next();
            return rows.getInt(1);
        }
    }
}

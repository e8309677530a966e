package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.KEY;
import static io.github.keepsake4j.log.LogTesting.SECRET;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.StoredFiles;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What stays of an erased text in PostgreSQL. The statistics of its planner are values of columns: every user who may read the
 * table reads them in {@code pg_stats}, and they stay until the table is analyzed again, and in the catalog's file longer.
 */
class PostgresErasureTest {

    private DataSource source;

    @BeforeEach
    void create() throws Exception {
        source = Postgres.newest().kept(Postgres.newest().newDatabase());
    }

    private MessageLog log() {
        return JdbcMessageLog.builder()
                .dataSource(source)
                .schema(SchemaMode.ALWAYS)
                .build();
    }

    private List<String> query(String sql) throws Exception {
        List<String> found = new ArrayList<>();
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                found.add(rows.getString(1));
            }
        }
        return found;
    }

    @Test
    void statistics_have_no_text_of_messages() throws Exception {
        try (MessageLog log = log()) {
            log.append(KEY, batch("a", "b", "c"));
            Logs.mergeMetadata(log, KEY, Map.of("mood", SECRET));
            Postgres.execute(source, "ANALYZE");

            assertThat(query("SELECT attname FROM pg_stats WHERE tablename = 'keepsake_message'"))
                    .contains("seq", "id");
            assertThat(query("SELECT attname FROM pg_stats WHERE pg_stats::text LIKE '%" + SECRET + "%'"))
                    .isEmpty();
        }
    }

    @Test
    void no_file_has_an_erased_text_once_the_tables_are_written_anew() throws Exception {
        try (MessageLog log = log()) {
            log.append(KEY, batch("a", "b", "c"));
            log.append(KEY, Append.underHead(message("d", UserMessage.from(SECRET.repeat(100_000)), 10)));
            Logs.setTitle(log, KEY, SECRET);
            Postgres.execute(source, "ANALYZE");
            Postgres.execute(source, "CHECKPOINT");
            assertThat(StoredFiles.with(SECRET, StoredFiles.ofDatabase(source))).isNotEmpty();

            log.erase(KEY);
            for (String table : query("SELECT tablename FROM pg_tables WHERE tablename LIKE 'keepsake%'")) {
                Postgres.execute(source, "VACUUM FULL " + table);
            }
            Postgres.execute(source, "CHECKPOINT");

            assertThat(StoredFiles.with(SECRET, StoredFiles.ofDatabase(source))).isEmpty();
        }
    }

    /** A column that is added some day is told to have none, or is named here. */
    @Test
    void statistics_are_made_of_no_column_that_may_have_text() throws Exception {
        try (MessageLog log = log();
                MessageIndex index = JdbcMessageIndex.builder()
                        .dataSource(source)
                        .schema(SchemaMode.ALWAYS)
                        .build();
                LongTermMemoryStore memories = JdbcLongTermMemoryStore.builder()
                        .dataSource(source)
                        .schema(SchemaMode.ALWAYS)
                        .build()) {
            log.append(KEY, batch("a"));
            index.add(KEY, null, new Watermark(1, 1), List.of());
            memories.facts(KEY, 1);
        }

        assertThat(
                        query(
                                """
                                SELECT relname || '.' || attname FROM pg_attribute
                                JOIN pg_class ON pg_class.oid = attrelid
                                WHERE relname LIKE 'keepsake%' AND relkind = 'r' AND relname NOT LIKE '%lease'
                                  AND atttypid = 'text'::regtype AND COALESCE(attstattarget, -1) <> 0
                                ORDER BY relname, attname
                                """))
                .containsExactly(
                        "keepsake_index_model.model",
                        "keepsake_index_words.fingerprint",
                        "keepsake_made_memory.date_added",
                        "keepsake_made_memory.kind",
                        "keepsake_made_memory.memory_id",
                        "keepsake_made_progress.fingerprint",
                        "keepsake_made_progress.kind",
                        "keepsake_made_step.after_hash",
                        "keepsake_made_step.kind",
                        "keepsake_made_step.message_hash",
                        "keepsake_made_step.message_ids",
                        "keepsake_made_step.processed_at",
                        "keepsake_made_step.up_to_hash",
                        "keepsake_memory.head_id",
                        "keepsake_memory.prev_head_id",
                        "keepsake_memory.tenant",
                        "keepsake_message.id",
                        "keepsake_message.parent_id",
                        "keepsake_message.token_counter",
                        "keepsake_reference.id",
                        "keepsake_summary.covers_id",
                        "keepsake_summary.model",
                        "keepsake_summary.token_counter",
                        "keepsake_usage.tenant",
                        "keepsake_view.anchor_id");
    }
}

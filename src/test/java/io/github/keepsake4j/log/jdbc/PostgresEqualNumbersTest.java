package io.github.keepsake4j.log.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.transfer.MemoryCopy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers of memories repeat after a logical replication, or a restore, without the sequences. */
@Tag("landing")
class PostgresEqualNumbersTest {

    private static final int MEMORIES = Counts.of(30, 300);

    @ParameterizedTest(name = "distributed: {0}")
    @ValueSource(booleans = {false, true})
    void lists_copies_and_the_index_have_all_memories_though_their_numbers_are_equal(boolean distributed)
            throws Exception {
        Postgres server = Postgres.newest();
        HikariDataSource source = Postgres.pool(server.database(server.newDatabase()), 4, true);
        JdbcMessageLog.Builder builder =
                JdbcMessageLog.builder().dataSource(source).schema(SchemaMode.ALWAYS);
        try (source;
                MessageLog log = distributed ? builder.distributed().build() : builder.build()) {
            List<MemoryKey> all = new ArrayList<>();
            for (int i = 0; i < MEMORIES; i++) {
                MemoryKey key = ConversationKey.of("acme", "c" + i);
                log.append(key, LogTesting.batch("a"));
                all.add(key);
            }
            Postgres.execute(
                    source,
                    """
                    UPDATE keepsake_listed SET number = 7 + number % 2, place = CASE WHEN list > 0 THEN number / 100 ELSE 0 END;
                    UPDATE keepsake_memory SET number = 7 + number % 2, active_at = number / 100
                    """);

            for (int page : new int[] {1, 5, 100}) {
                assertThat(listed(log, ListQuery.first(page))).containsExactlyInAnyOrderElementsOf(all);
                assertThat(listed(log, ListQuery.first(page).byActivity())).containsExactlyInAnyOrderElementsOf(all);
            }
            MessageLog target = new InMemoryMessageLog();
            assertThat(MemoryCopy.between(log, target).tenant("acme").memories())
                    .isEqualTo(MEMORIES);
            assertThat(listed(target, ListQuery.first(100))).hasSize(MEMORIES);
            InMemoryMessageIndex index = new InMemoryMessageIndex();
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .tenant("acme")
                    .index(index)
                    .build();
            Awaitility.await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(
                            index.memories("acme", 0, 1_000))
                    .as("%s", keepsake)
                    .hasSize(MEMORIES));
        }
    }

    private static List<MemoryKey> listed(MessageLog log, ListQuery first) {
        List<MemoryKey> keys = new ArrayList<>();
        Optional<ListQuery> next = Optional.of(first);
        while (next.isPresent()) {
            MemoryPage page = log.list("acme", next.get());
            page.memories().stream().map(MemoryInfo::key).forEach(keys::add);
            LogTesting.refuseToPageForEver(keys);
            next = page.next();
        }
        return keys;
    }
}

package io.github.keepsake4j.log.jdbc;

import static io.github.keepsake4j.log.LogTesting.answer;
import static io.github.keepsake4j.log.LogTesting.batch;
import static io.github.keepsake4j.log.LogTesting.ids;
import static io.github.keepsake4j.log.LogTesting.system;
import static io.github.keepsake4j.log.LogTesting.users;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Postgres;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Another process changes a memory twice: before a read, so that what is known of the memory is not enough, and between the
 * read's first statement and its second.
 */
class PostgresReadMeanwhileTest {

    private static final View VIEW = View.of(null, List.of(new View.Run(null, "u2")));

    private final AtomicReference<Runnable> afterTheNextStatement = new AtomicReference<>();
    private static HikariDataSource pool;
    private static HikariDataSource otherPool;
    private MessageLog log;
    private MessageLog other;

    @BeforeAll
    static void connect() throws Exception {
        Postgres server = Postgres.newest();
        String database = server.newDatabase();
        pool = Postgres.trustingPool(server.database(database), 1, true);
        otherPool = Postgres.trustingPool(server.database(database), 1, true);
    }

    @AfterAll
    static void disconnect() {
        pool.close();
        otherPool.close();
    }

    @BeforeEach
    void open() throws Exception {
        Postgres.deleteRows(otherPool);
        other = JdbcMessageLog.builder()
                .dataSource(otherPool)
                .schema(SchemaMode.ALWAYS)
                .build();
        other.append(ConversationKey.of("acme", "first"), batch("a"));
        log = PostgresMessageLog.open(ProxyDataSourceBuilder.create(pool)
                .afterQuery((execution, queries) -> {
                    Runnable change = afterTheNextStatement.getAndSet(null);
                    if (change != null) {
                        change.run();
                    }
                })
                .build());
    }

    @AfterEach
    void close() {
        log.close();
        other.close();
    }

    /** What another process does. */
    enum Change {
        NOTHING((log, key) -> {}),
        A_VIEW((log, key) -> log.append(key, batch(Ids.next()).withView(VIEW))),
        A_SYSTEM_MESSAGE((log, key) -> {
            log.append(key, Append.underHead(system(Ids.next())));
            log.append(key, answers());
        }),
        MANY_ANSWERS((log, key) -> log.append(key, answers())),
        A_FORK((log, key) -> {
            log.append(key, Append.under(Parent.of("u1"), users(Ids.next())));
            log.append(key, Append.under(Parent.of("u2"), users(Ids.next())));
        }),
        AN_ERASURE((log, key) -> {
            log.erase(key);
            log.append(key, batch("u1", "u2"));
        });

        private final BiConsumer<MessageLog, MemoryKey> change;

        Change(BiConsumer<MessageLog, MemoryKey> change) {
            this.change = change;
        }

        private static Append answers() {
            return Append.under(
                    Parent.head(),
                    IntStream.range(0, 30).mapToObj(i -> answer(Ids.next())).toList());
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_changes_between_two_statements_is_no_damage(Change first) {
        List<ReadQuery> queries = List.of(
                ReadQuery.newest(10),
                ReadQuery.newest(0),
                ReadQuery.newest(10).alsoOldest(2),
                ReadQuery.newest(10).upToSummary(),
                ReadQuery.wholeBranch().upToTokens(50));
        for (Change second : Change.values()) {
            for (ReadQuery query : queries) {
                MemoryKey key = ConversationKey.of("acme", second + " " + queries.indexOf(query));
                other.append(key, batch("u1", "u2", "u3"));
                // Now it is known that nothing but the newest messages need be asked for.
                log.read(key, ReadQuery.newest(10));
                first.change.accept(other, key);
                afterTheNextStatement.set(() -> second.change.accept(other, key));

                Tail during = log.read(key, query);

                assertThat(ids(during.messages()))
                        .as("%s, then %s", first, second)
                        .doesNotHaveDuplicates();
                afterTheNextStatement.set(null);
                assertThat(log.read(key, query))
                        .as("%s, then %s", first, second)
                        .isEqualTo(other.read(key, query));
            }
        }
    }
}

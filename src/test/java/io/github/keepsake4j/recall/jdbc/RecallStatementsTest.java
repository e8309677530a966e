package io.github.keepsake4j.recall.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.Recalled;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.testing.Postgres;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.QueryInfo;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;
import org.junit.jupiter.api.Test;

/**
 * How many statements a recall takes on PostgreSQL, of the log and of the index, counted by a proxy of the data source. Those that
 * begin and end the transaction of a search are not counted.
 */
class RecallStatementsTest {

    private static final ConversationKey KEY = ConversationKey.of("acme", "42");

    private final List<String> statements = Collections.synchronizedList(new ArrayList<>());

    @Test
    void a_recall_in_one_memory_takes_at_most_nine_statements() throws Exception {
        Postgres server = Postgres.newest();
        Thread caller = Thread.currentThread();
        try (HikariDataSource pool = Postgres.pool(server.database(server.newDatabase()), 4, true)) {
            DataSource counted = ProxyDataSourceBuilder.create(pool)
                    .afterQuery((execution, queries) -> queries.stream()
                            .map(QueryInfo::getQuery)
                            // The indexer may look once more.
                            .filter(sql -> Thread.currentThread() == caller)
                            .filter(sql -> !sql.startsWith("SET TRANSACTION") && !sql.equals("COMMIT"))
                            .forEach(statements::add))
                    .build();
            try (MessageLog log = Postgres.log(counted);
                    MessageIndex index = Postgres.index(counted)) {
                Keepsake keepsake = Keepsake.builder()
                        .messageLog(log)
                        .index(index)
                        .strategy(SlidingWindow.withMaxMessages(10))
                        .build();
                ChatMemory memory = keepsake.chatMemoryProvider().get(KEY);
                for (int i = 0; i < 40; i++) {
                    memory.add(UserMessage.from("What did we say of topic number " + i + "?"));
                    memory.add(AiMessage.from("We said that topic number " + i + " is blue."));
                }
                Scope scope = Scope.memory(KEY);
                keepsake.recall().find(scope, "topic");
                await().until(() -> index.watermarks(List.of(KEY)).containsKey(KEY)
                        && index.watermarks(List.of(KEY)).get(KEY).sequence() == 80);
                statements.clear();

                Recalled recalled = keepsake.recall().find(scope, "What did we say of topic number 3 today?");

                assertThat(recalled.passages()).isNotEmpty();
                assertThat(statements).as(String.join("\n--\n", statements)).hasSizeBetween(5, 9);
            }
        }
    }
}

package io.github.keepsake4j.chat.turns;

import static io.github.keepsake4j.chat.turns.EndingTurns.toolCall;
import static io.github.keepsake4j.chat.turns.Talk.ID;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.turn.Turn;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a turn costs that other tabs get in the way of, compared with the same turn alone. */
class MeetingTurnsCostTest {

    /** The refused append, the read that decides, and the append to a named branch in place of the head. */
    private static final int MOST_MORE_STATEMENTS = 18;

    enum Meets {
        NOBODY,
        A_TURN,
        A_SWITCH,
        AN_EDIT
    }

    private static void meet(Meets meets, Talk talk, Keepsake process) {
        switch (meets) {
            case NOBODY -> {}
            case A_TURN -> talk.tab(process).chat(ID, "three", null, "a3");
            case A_SWITCH -> process.conversation(ID).switchTo(talk.id("A(a0)"));
            case AN_EDIT -> talk.tab(process).chat(ID, "other", Turn.edit(talk.id("U(one)")), "another");
        }
    }

    /** Counts the statements that the end of a turn, or a later round of it, sends to PostgreSQL. */
    private static int statements(Meets meets, boolean ofLaterRound) throws Exception {
        AtomicInteger statements = new AtomicInteger();
        Postgres server = Postgres.newest();
        try (HikariDataSource pool = Postgres.pool(server.database(server.newDatabase()), 4, true)) {
            MessageLog log = Postgres.log(ProxyDataSourceBuilder.create(pool)
                    .afterQuery((execution, queries) -> statements.addAndGet(queries.size()))
                    .build());
            try (Talk talk = Talk.on(log, UnaryOperator.identity())) {
                Tab tab = talk.twoExchanges();
                tab.ask("two");
                meet(meets, talk, talk.other);
                if (!ofLaterRound) {
                    statements.set(0);
                    tab.ends("a2");
                    int end = statements.get();
                    assertThat(talk.branch("A(a2)")).contains("U(two)").endsWith("A(a2)");
                    return end;
                }
                tab.replyThenRequest(toolCall("t"));
                statements.set(0);
                tab.replyThenRequest(toolCall("u"));
                int round = statements.get();
                tab.ends("a2");
                assertThat(talk.branch("A(a2)")).endsWith("U(two), C(t), R(t), C(u), R(u), A(a2)");
                return round;
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Meets.class, names = "NOBODY", mode = EnumSource.Mode.EXCLUDE)
    void a_conflict_costs_a_few_statements_of_a_database(Meets meets) throws Exception {
        int alone = statements(Meets.NOBODY, false);
        int met = statements(meets, false);
        // The answer and nothing else.
        assertThat(alone).isEqualTo(1);
        assertThat(met).isLessThanOrEqualTo(alone + MOST_MORE_STATEMENTS);
    }

    /** The other process has a log of its own on the same bucket. */
    private static int[] requests(Meets meets) throws Exception {
        S3Server server = S3Server.shared();
        String bucket = server.newBucket();
        try (MessageLog theirs = turnMode(server, bucket);
                Talk talk = Talk.on(turnMode(server, bucket), UnaryOperator.identity())) {
            Keepsake process = Keepsake.builder().messageLog(theirs).build();
            Tab tab = talk.twoExchanges();
            tab.ask("two");
            tab.replyThenRequest(toolCall("t"));
            meet(meets, talk, process);
            int puts = server.requests("PUT");
            int gets = server.requests("GET");
            tab.ends("a2");
            int[] counts = {server.requests("PUT") - puts, server.requests("GET") - gets};
            assertThat(talk.branch("A(a2)")).as("%s", meets).endsWith("U(two), C(t), R(t), A(a2)");
            return counts;
        }
    }

    private static MessageLog turnMode(S3Server server, String bucket) {
        return S3MessageLog.builder()
                .client(server.client())
                .bucket(bucket)
                .turnMode(Duration.ofHours(1))
                .build();
    }

    @ParameterizedTest
    @EnumSource(value = Meets.class, names = "NOBODY", mode = EnumSource.Mode.EXCLUDE)
    void a_turn_in_a_bucket_stays_one_put_and_a_conflict_adds_two_gets_and_one_put(Meets meets) throws Exception {
        int[] alone = requests(Meets.NOBODY);
        int[] met = requests(meets);
        assertThat(alone[0]).isEqualTo(1);
        assertThat(met[0]).isLessThanOrEqualTo(2);
        assertThat(met[1]).isLessThanOrEqualTo(alone[1] + 2);
    }

    @Test
    void a_later_round_of_a_turn_that_left_the_head_costs_its_two_appends() throws Exception {
        assertThat(statements(Meets.A_SWITCH, true)).isLessThanOrEqualTo(2 * MOST_MORE_STATEMENTS);
    }
}

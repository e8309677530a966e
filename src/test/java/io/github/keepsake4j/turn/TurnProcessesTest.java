package io.github.keepsake4j.turn;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Turns of several processes on one conversation, and a process that is killed during its turn. */
@Tag("landing")
@Timeout(600)
class TurnProcessesTest {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration LONG_LEASE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    /** The default build starts processes on one home. */
    static List<String> databases() {
        return List.of("postgres", "sqlite").subList(0, Counts.of(1, 2));
    }

    @ParameterizedTest
    @MethodSource("databases")
    void turns_of_two_processes_that_wait_come_one_after_the_other(String database) throws Exception {
        int count = Counts.of(40, 500);
        String place = place(database);
        try (TurnTaker.Place opened = TurnTaker.Place.open(place);
                Child child =
                        Child.start(TurnTaker.class, place, "p0", TurnPolicy.WAIT, count, LONG_LEASE.toMillis())) {
            Keepsake keepsake = TurnTaker.keepsake(opened.log(), LONG_LEASE);
            TurnHandle held = keepsake.openTurn("shared", TurnPolicy.REJECT);
            assertThat(child.line()).isEqualTo("ready");
            held.close();
            List<String> questions = new ArrayList<>();
            TurnTaker.take(keepsake, "p1", TurnPolicy.WAIT, count, questions::add);
            questions.addAll(child.awaitEnd());

            assertThat(questions).hasSizeGreaterThanOrEqualTo(2 * count);
            List<ChatMessage> history = TurnTaker.everything(keepsake);
            assertThat(history.stream().filter(UserMessage.class::isInstance).map(message -> ((UserMessage) message)
                            .singleText()))
                    .containsExactlyInAnyOrderElementsOf(questions);
            assertThat(history.stream().filter(AiMessage.class::isInstance).map(message -> ((AiMessage) message)
                            .text()))
                    .as("each turn counts on from the one before")
                    .containsExactlyElementsOf(IntStream.rangeClosed(1, questions.size())
                            .mapToObj(String::valueOf)
                            .toList());
            assertThat(IntStream.range(0, history.size())
                            .filter(i -> history.get(i) instanceof UserMessage != (i % 2 == 0)))
                    .as("places where two turns interleave")
                    .isEmpty();
            int changes = TurnTaker.changes(keepsake);
            assertThat(changes).as("how often the other process was next").isGreaterThan(count / 10);
        }
    }

    @ParameterizedTest
    @MethodSource("databases")
    void a_process_that_is_killed_in_its_turn_blocks_no_caller_longer_than_its_lease(String database) throws Exception {
        Duration lease = LEASE;
        while (!blocksUntilItsLeaseEnds(database, lease)) {
            // The machine is so busy that the lease expired before the test looked at it.
            lease = lease.multipliedBy(2);
            assertThat(lease).isLessThan(LEASE.multipliedBy(32));
        }
    }

    /** Returns false if the turn did not exclude another one before its process was killed. */
    private boolean blocksUntilItsLeaseEnds(String database, Duration lease) throws Exception {
        String place = place(database);
        try (TurnTaker.Place opened = TurnTaker.Place.open(place);
                Child child =
                        Child.start(TurnTaker.class, place, "killed", TurnPolicy.REJECT, "stop", lease.toMillis())) {
            Keepsake keepsake = TurnTaker.keepsake(opened.log(), Duration.ofSeconds(60));
            TurnTaker.warmUp(keepsake);
            assertThat(child.line()).isEqualTo("in its turn");
            try {
                keepsake.turn("shared", TurnPolicy.REJECT, () -> null);
                return false;
            } catch (TurnConflictException e) {
                // The turn is rejected, as it should be.
            }
            child.kill();
            long killed = System.nanoTime();
            long begun = keepsake.turn("shared", TurnPolicy.WAIT, () -> {
                long now = System.nanoTime();
                TurnTaker.countOn(keepsake.chatMemory("shared"), "next");
                return now;
            });
            Duration blocked = Duration.ofNanos(begun - killed);

            // After the lease expires, at most one pause between two attempts follows. The rest is for a busy machine.
            assertThat(blocked).isLessThan(lease.plusSeconds(60));
            assertThat(TurnTaker.everything(keepsake)).containsExactly(user("killed"), user("next"), ai("1"));
            return true;
        }
    }

    private String place(String database) throws SQLException {
        if (database.equals("sqlite")) {
            return "sqlite:" + directory.resolve(Ids.next() + ".db");
        }
        Postgres server = Postgres.newest();
        return "postgres:" + server.port() + ":" + server.newDatabase();
    }
}

package io.github.keepsake4j.turn;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Postgres;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Turns of several processes on one conversation, and a process that is killed in its turn. */
@Timeout(600)
class TurnProcessesTest {

    private static final Duration LEASE = Duration.ofSeconds(2);

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgres"})
    void turns_of_two_processes_that_wait_come_one_after_the_other(String database) throws Exception {
        int count = Counts.of(40, 500);
        String place = place(database);
        try (TurnTaker.Place opened = TurnTaker.Place.open(place)) {
            Keepsake keepsake = TurnTaker.keepsake(opened.log(), Duration.ofSeconds(60));
            List<Child> children = new ArrayList<>();
            TurnHandle held = keepsake.openTurn("shared", TurnPolicy.REJECT);
            for (String name : List.of("p0", "p1")) {
                children.add(Child.start(
                        TurnTaker.class,
                        place,
                        name,
                        TurnPolicy.WAIT,
                        count,
                        Duration.ofSeconds(60).toMillis()));
            }
            for (Child child : children) {
                assertThat(child.line()).isEqualTo("ready");
            }
            held.close();
            List<String> questions = new ArrayList<>();
            for (Child child : children) {
                questions.addAll(child.awaitEnd());
            }

            assertThat(questions).hasSize(2 * count);
            List<ChatMessage> history = everything(keepsake);
            assertThat(history.stream().filter(UserMessage.class::isInstance).map(message -> ((UserMessage) message)
                            .singleText()))
                    .containsExactlyInAnyOrderElementsOf(questions);
            assertThat(history.stream().filter(AiMessage.class::isInstance).map(message -> ((AiMessage) message)
                            .text()))
                    .as("each turn counts on from the one before")
                    .containsExactlyElementsOf(IntStream.rangeClosed(1, 2 * count)
                            .mapToObj(String::valueOf)
                            .toList());
            assertThat(IntStream.range(0, history.size())
                            .filter(i -> history.get(i) instanceof UserMessage != (i % 2 == 0)))
                    .as("places where two turns interleave")
                    .isEmpty();
            int changes = 0;
            for (int i = 2; i < history.size(); i += 2) {
                changes += name(history.get(i)).equals(name(history.get(i - 2))) ? 0 : 1;
            }
            System.out.printf(
                    "%s: %d turns of 2 processes in a row, %d times the other's turn%n", database, 2 * count, changes);
            assertThat(changes).as("how often the other process was next").isGreaterThan(count / 10);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgres"})
    void a_process_that_is_killed_in_its_turn_blocks_nobody_longer_than_its_lease(String database) throws Exception {
        String place = place(database);
        try (TurnTaker.Place opened = TurnTaker.Place.open(place);
                Child child =
                        Child.start(TurnTaker.class, place, "killed", TurnPolicy.REJECT, "stop", LEASE.toMillis())) {
            Keepsake keepsake = TurnTaker.keepsake(opened.log(), LEASE);
            TurnTaker.warmUp(keepsake);
            assertThat(child.line()).isEqualTo("in its turn");
            assertThatThrownBy(() -> keepsake.turn("shared", TurnPolicy.REJECT, () -> null))
                    .isInstanceOf(TurnConflictException.class);
            child.kill();
            long killed = System.nanoTime();
            long begun = keepsake.turn("shared", TurnPolicy.WAIT, () -> {
                long now = System.nanoTime();
                TurnTaker.countOn(keepsake.chatMemory("shared"), "next");
                return now;
            });
            Duration blocked = Duration.ofNanos(begun - killed);

            System.out.printf(
                    "%s: killed with a lease of %d ms, the next turn began %d ms later%n",
                    database, LEASE.toMillis(), blocked.toMillis());
            // Behind the lease comes at most one pause between two looks at it.
            assertThat(blocked).isLessThan(LEASE.plusSeconds(1));
            assertThat(everything(keepsake)).containsExactly(user("killed"), user("next"), ai("1"));
        }
    }

    private String place(String database) throws SQLException {
        if (database.equals("sqlite")) {
            return "sqlite:" + directory.resolve("chat.db");
        }
        Postgres server = Postgres.newest();
        return "postgres:" + server.port() + ":" + server.newDatabase();
    }

    private static String name(ChatMessage question) {
        return ((UserMessage) question).singleText().split("-")[0];
    }

    private static List<ChatMessage> everything(Keepsake keepsake) {
        List<ChatMessage> all = new ArrayList<>();
        HistoryQuery next = HistoryQuery.oldest(1000);
        while (next != null) {
            HistoryPage page = keepsake.conversation("shared").history(next);
            page.messages().stream().map(LoggedMessage::message).forEach(all::add);
            next = page.next().orElse(null);
        }
        return all;
    }
}

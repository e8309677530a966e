package io.github.keepsake4j.chat.turns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Place;
import io.github.keepsake4j.testing.Tell;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/**
 * Random programs of turns that meet in one conversation. A {@link TurnProgram} lets two to four AI services with scripted
 * models (plain, with tools, streams, failures, stops, guardrails; new, again, edited, on a named branch) go on step by
 * step, and meanwhile other tabs switch, clear, set, answer by hand and fork. Two libraries that share only the storage
 * take part. In every second program, another writer causes conflicts at the appends of the turns ({@link
 * RaisedRevisions}). {@link TurnChecks} has what must hold. It is independent of the library: each text names its
 * question, so a test knows whose answer it is ({@link Said}, {@link Story}).
 *
 * <p>A failure names the seed that repeats its program, {@code -Dkeepsake.seed=}, and tells all of its steps. Only the
 * turns of two processes race freely ({@link RacingTurns}); what they leave is checked.
 */
@Tag("landing")
@Timeout(7200)
class TurnProgramsTest {

    @TempDir
    Path directory;

    @Test
    void turns_of_random_programs_that_do_not_meet() throws Exception {
        long first = Counts.seed();
        for (int run = 0; run < Counts.of(50, 2_000); run++) {
            run(first + run, Home.IN_MEMORY, false);
        }
    }

    @Test
    void turns_of_random_programs_that_meet() throws Exception {
        long first = Counts.seed();
        long requests = 0;
        int count = Counts.of(150, 10_000);
        for (int run = 0; run < count; run++) {
            requests += run(first + run, Home.IN_MEMORY, true);
        }
        assertThat(requests).isGreaterThan(count);
    }

    @ParameterizedTest
    @EnumSource(names = "IN_MEMORY", mode = Mode.EXCLUDE)
    void turns_that_meet_on_each_other_home(Home home) throws Exception {
        long first = Counts.seed();
        try (Home.Storage storage = home.storage();
                World world = World.on(home, storage)) {
            for (int run = 0; run < Counts.of(5, 300); run++) {
                run(first + run, world, true);
            }
        }
    }

    private static int run(long seed, Home home, boolean meets) throws Exception {
        try (Home.Storage storage = home.storage();
                World world = World.on(home, storage)) {
            return run(seed, world, meets);
        }
    }

    private static int run(long seed, World world, boolean meets) {
        try {
            return new TurnProgram(seed, world, "c" + seed, meets).run();
        } catch (TurnProgram.Wrong e) {
            throw new AssertionError(
                    "-Dkeepsake.seed=" + seed + " on " + world.home() + ": " + e.getMessage(), e.getCause());
        }
    }

    /** These are other programs at each run, because two processes race. */
    @ParameterizedTest
    @EnumSource(names = {"SQLITE", "POSTGRESQL"})
    void turns_of_two_processes_that_race(Home home) throws Exception {
        int count = Counts.of(5, 300);
        long seed = Counts.seed();
        Place place = Place.in(home, directory);
        try (MessageLog log = place.open();
                ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Child child = Child.start(RacingTurns.class, place, count, seed, server.getLocalPort());
                Socket other = server.accept()) {
            Keepsake keepsake = World.library(log);
            for (int i = 0; i < count; i++) {
                RacingTurns.meet(other);
                Object id = RacingTurns.id(i);
                List<String> lines = new ArrayList<>(RacingTurns.race(keepsake, log, id, "p", seed + i));
                for (String line = child.line(); !RacingTurns.END.equals(line); line = child.line()) {
                    assertThat(line).as("a line of the other process").isNotNull();
                    lines.add(line);
                }
                Conversation conversation = keepsake.conversation(id);
                Story story = Story.of(log, conversation.key(), null);
                List<String> wrong = new ArrayList<>(TurnChecks.all(
                        conversation, story, with(RacingTurns.KEPT, lines), false, RacingTurns.mayList(id)));
                wrong.addAll(with(RacingTurns.WRONG, lines));
                assertThat(wrong)
                        .as("seed %d, conversation %s:%n%s", seed, id, story)
                        .isEmpty();
            }
            child.awaitEnd();
        }
    }

    private static List<String> with(String mark, List<String> lines) {
        return lines.stream()
                .filter(line -> line.startsWith(mark))
                .map(line -> line.substring(mark.length()))
                .toList();
    }

    // Faults that the checks must find.

    @ParameterizedTest
    @EnumSource
    void a_fault_that_is_planted_below_the_library_is_found(PlantedLog.Fault fault) throws Exception {
        for (int seed = 0; seed < 200; seed++) {
            try (Home.Storage storage = Home.IN_MEMORY.storage();
                    World world = World.on(Home.IN_MEMORY, storage, log -> new PlantedLog(log, fault))) {
                new TurnProgram(seed, world, "c", true).run();
            } catch (TurnProgram.Wrong e) {
                Tell.line(
                        "%s is found by program %d: %s",
                        fault, seed, e.getMessage().lines().findFirst().orElse(""));
                return;
            }
        }
        throw new AssertionError(fault + " is not found");
    }

    private static final ChatMessage Q0 = UserMessage.from("q0");
    private static final ChatMessage Q1 = UserMessage.from("q1");
    private static final ChatMessage A0 = AiMessage.from(Said.answer("q0", "t0"));
    private static final ChatMessage A1 = AiMessage.from(Said.answer("q1", "t1"));

    /** The second question came while the first one's model worked, and was answered before. */
    private static final List<LoggedMessage> MET = List.of(
            logged("q0", null, 1, Q0, "q0"),
            logged("q1", "q0", 2, Q1, "q1"),
            logged("a1", "q1", 3, A1, "q1"),
            logged("a0", "a1", 4, A0, "q0"));

    private static LoggedMessage logged(String id, String parent, long sequence, ChatMessage message, String question) {
        return new LoggedMessage(id, parent, sequence, message, 1, "test", Instant.EPOCH).ofTurn(question);
    }

    private static List<Said> said(ChatMessage... messages) {
        return TurnChecks.said(List.of(messages));
    }

    @Test
    void turns_that_are_whole_and_in_the_order_of_their_ends_are_right() {
        Story story = new Story(MET, "a0");
        assertThat(TurnChecks.whole(said(Q1, A1, Q0, A0), false)).isEmpty();
        assertThat(TurnChecks.inOrderOfEnds(byId(story, "q1", "a1", "q0", "a0"), story))
                .isEmpty();
        assertThat(TurnChecks.underTheirQuestions(story)).isEmpty();
    }

    @Test
    void a_parent_that_is_the_head_is_found() {
        List<LoggedMessage> switched = List.of(
                logged("q0", null, 1, Q0, "q0"),
                logged("a0", "q0", 2, A0, "q0"),
                logged("q1", "a0", 3, Q1, "q1"),
                // Another tab has switched to the first answer.
                logged("a1", "a0", 4, A1, "q1"));
        assertThat(TurnChecks.underTheirQuestions(new Story(switched, "a1"))).hasSize(1);
    }

    @Test
    void a_child_that_is_taken_as_an_answer_is_found() {
        assertThat(TurnChecks.whole(said(Q0, A1), false)).hasSize(1);
        List<LoggedMessage> stored = new ArrayList<>(MET);
        stored.set(3, logged("a0", "a1", 4, A0, "q1"));
        assertThat(TurnChecks.underTheirQuestions(new Story(stored, "a0"))).hasSize(1);
    }

    @Test
    void an_order_by_questions_is_found() {
        Story story = new Story(MET, "a0");
        assertThat(TurnChecks.inOrderOfEnds(byId(story, "q0", "a0", "q1", "a1"), story))
                .hasSize(1);
    }

    @Test
    void a_position_that_is_taken_for_the_question_is_found() {
        assertThat(TurnChecks.whole(said(Q0, Q1, A1, A0), false)).isNotEmpty();
    }

    private static List<LoggedMessage> byId(Story story, String... ids) {
        return Arrays.stream(ids).map(story::get).toList();
    }
}

package io.github.keepsake4j.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.ExpectedLog;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Place;
import io.github.keepsake4j.testing.Tell;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two processes that chat for minutes in all the ways of AI services, and are killed and started again by turns.
 * Nothing that was acknowledged is lost, doubled or unreadable, and no model gets a request that a provider refuses.
 * {@code -Dkeepsake.soak.minutes=} sets how long.
 */
@Timeout(3_600)
class SoakTest {

    private static final int THREADS = 4;
    private static final Duration BETWEEN_KILLS = Duration.ofSeconds(20);

    @TempDir
    Path directory;

    /** A process's time from its start to its kill. */
    private record Life(Duration atLeast, int turnsAtLeast) {

        boolean isOver(Duration age, int turns) {
            return turns >= turnsAtLeast && age.compareTo(atLeast) >= 0;
        }
    }

    @Test
    @Tag("landing")
    void two_processes_lose_nothing_when_one_is_killed() throws Exception {
        Life few = new Life(Duration.ZERO, 15);
        soak(Place.durable(Home.SQLITE, directory), List.of(few, few), List.of(new Life(Duration.ZERO, 30)));
    }

    @Tag("full")
    @ExpectedLog(maybe = "have no end of a line")
    @ParameterizedTest
    @EnumSource(names = "IN_MEMORY", mode = EnumSource.Mode.EXCLUDE)
    void two_processes_lose_nothing_in_minutes_of_kills(Home home) throws Exception {
        Duration minutes = Duration.ofMinutes(Integer.getInteger("keepsake.soak.minutes", 5));
        Place place = Place.durable(home, directory);
        soak(place, lives(minutes, BETWEEN_KILLS), lives(minutes, BETWEEN_KILLS.multipliedBy(2)));
    }

    /**
     * Returns lives of two intervals each, but for the first one. So one of two processes is killed at each
     * interval.
     */
    private static List<Life> lives(Duration all, Duration first) {
        List<Life> lives = new ArrayList<>(List.of(new Life(first, 1)));
        for (Duration left = all.minus(first); left.compareTo(Duration.ZERO) > 0; ) {
            Duration next = BETWEEN_KILLS.multipliedBy(2);
            lives.add(new Life(left.compareTo(next) < 0 ? left : next, 1));
            left = left.minus(next);
        }
        return lives;
    }

    private static void soak(Place place, List<Life> one, List<Life> other) throws Exception {
        Heard heard = new Heard();
        AtomicInteger kills = new AtomicInteger();
        ExecutorService processes = Executors.newFixedThreadPool(2);
        try {
            Callable<Void> first = () -> live(place, "a", one, heard, kills);
            Callable<Void> second = () -> live(place, "b", other, heard, kills);
            for (Future<Void> ended : processes.invokeAll(List.of(first, second))) {
                ended.get();
            }
        } finally {
            processes.shutdown();
        }
        try (MessageLog log = place.open()) {
            SoakReport report = SoakReport.of(log, heard);
            Tell.line("%s: %d kills, %s", place.home(), kills.get(), report);
            assertThat(report.failed()).isEmpty();
            assertThat(report.lost()).isEmpty();
            assertThat(report.doubled()).isEmpty();
            assertThat(report.unreadable()).isEmpty();
            assertThat(report.invalid()).isEmpty();
        }
    }

    private static Void live(Place place, String name, List<Life> lives, Heard heard, AtomicInteger kills)
            throws Exception {
        for (int start = 0; start < lives.size(); start++) {
            List<Object> arguments = new ArrayList<>(List.of(place, name, start));
            for (int thread = 0; thread < THREADS; thread++) {
                arguments.add(heard.lastOf(name + "." + thread));
            }
            long begun = System.nanoTime();
            int turns = 0;
            try (Child child = Child.start(SoakProcess.class, arguments.toArray())) {
                while (!lives.get(start).isOver(Duration.ofNanos(System.nanoTime() - begun), turns)) {
                    String line = child.line();
                    assertThat(line)
                            .as("a line of a process that is not killed")
                            .isNotNull();
                    turns += heard.line(line) ? 1 : 0;
                }
                child.kill().forEach(heard::line);
                kills.incrementAndGet();
            }
        }
        return null;
    }

    @Test
    void the_report_finds_what_is_lost_doubled_or_invalid() {
        Heard heard = new Heard();
        for (String id : List.of("a.0.0.1", "a.0.0.2", "a.0.0.3")) {
            heard.line("asked own-a.0 plain " + id + " after -.");
            heard.line("acknowledged " + id + ".");
        }
        heard.line("refused a.0.0.3 without the answer of a.0.0.2.");
        heard.line("acknowledged a.0.0.4");
        try (MessageLog log = new InMemoryMessageLog()) {
            Keepsake keepsake = SoakProcess.keepsake(log, SoakProcess.hasSummaries("own-a.0"));
            KeepsakeChatMemory memory = keepsake.chatMemory("own-a.0");
            memory.add(Dialogue.user("plain a.0.0.1 after -"));
            memory.add(Dialogue.ai("answer a.0.0.1"));
            memory.add(Dialogue.user("plain a.0.0.2 after -"));
            memory.add(Dialogue.user("plain a.0.0.3 after -"));
            memory.add(Dialogue.ai("answer a.0.0.3"));
            memory.add(Dialogue.ai("answer a.0.0.3"));

            SoakReport report = SoakReport.of(log, heard);
            assertThat(report.acknowledged()).isEqualTo(3);
            assertThat(report.lost()).containsExactly("own-a.0: answer a.0.0.2");
            assertThat(report.doubled()).containsExactly("own-a.0: answer a.0.0.3");
            assertThat(report.invalid()).hasSize(1);
        }
    }
}

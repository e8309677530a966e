package io.github.keepsake4j.chat.turns;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Tell;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

@Timeout(7200)
class TurnProgramsTest {

    @Test
    void programs_whose_turns_do_not_meet() throws Exception {
        for (int run = 0; run < Counts.of(50, 2_000); run++) {
            run(Counts.seed() + run, Home.IN_MEMORY, false);
        }
    }

    @Test
    void programs_in_memory() throws Exception {
        long first = Counts.seed();
        long requests = 0;
        int count = Counts.of(150, 10_000);
        for (int run = 0; run < count; run++) {
            requests += run(first + run, Home.IN_MEMORY, true);
        }
        Tell.line("%d programs with %d requests", count, requests);
        assertThat(requests).isGreaterThan(count);
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

    @ParameterizedTest
    @EnumSource(names = "IN_MEMORY", mode = Mode.EXCLUDE)
    void programs_on_each_other_home(Home home) throws Exception {
        long first = Counts.seed();
        try (Home.Storage storage = home.storage();
                World world = World.on(home, storage)) {
            for (int run = 0; run < Counts.of(5, 300); run++) {
                run(first + run, world, true);
            }
        }
    }
}

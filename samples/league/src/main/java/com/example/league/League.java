package com.example.league;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Measures chat memories beside each other, and writes {@code league.md} and {@code league.csv}. Argument: the folder, or
 * nothing for a run of seconds that only shows that everything works.
 */
public final class League {

    private League() {}

    public static void main(String[] arguments) throws Exception {
        boolean full = arguments.length > 0;
        Settings settings = full ? Settings.FULL : Settings.QUICK;
        Path folder = Path.of(full ? arguments[0] : "target/league");
        long begin = System.nanoTime();
        long seed = Long.getLong("league.seed", 1);
        Random random = new Random(seed);
        List<Sample> samples = new ArrayList<>();
        try (Server server = new Server()) {
            // First, because softly held objects of other measurements would go away meanwhile.
            new Retained(server, samples).run(full ? 100 : 5, full ? List.of(20, 200) : List.of(20));
            TurnCosts costs = new TurnCosts(server, settings, random, samples);
            for (Scenario scenario : settings.scenarios()) {
                costs.run(scenario);
            }
            System.err.println("# other turns");
            new OtherTurns(server, settings, random, samples).run();
            System.err.println("# threads, kills");
            new Truth(server, settings, samples).run();
            new Kills(server, settings, random, samples).run();
            Report report = new Report(samples, Machine.describe(server), (System.nanoTime() - begin) / 1_000_000_000);
            report.write(folder);
        }
        System.out.println("League: " + samples.size() + " rows in " + folder.resolve("league.csv"));
    }
}

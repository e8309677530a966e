package com.example.league;

import java.util.List;

/**
 * How much is measured.
 *
 * @param scenarios the lengths of conversations
 * @param samples the most turns of a kind
 * @param seconds how long the turns of a kind of one subject may take
 * @param warmUp how many seconds each subject has to warm up before the first scenario
 * @param fewest the fewest turns of a kind
 * @param others how many other conversations of 100 messages there are
 * @param turnsOfThread how many turns each of 8 threads makes
 * @param kills how often each subject is killed
 */
record Settings(
        List<Scenario> scenarios,
        int samples,
        double seconds,
        double warmUp,
        int fewest,
        int others,
        int turnsOfThread,
        int kills) {

    static final Settings FULL = new Settings(
            List.of(
                    Scenario.whole(20),
                    Scenario.whole(200),
                    Scenario.whole(1_000),
                    Scenario.whole(10_000),
                    new Scenario(10_000, 20)),
            100,
            2,
            4,
            3,
            100,
            50,
            20);

    /** Shows that everything runs, within seconds. Its figures mean nothing. */
    static final Settings QUICK =
            new Settings(List.of(Scenario.whole(20), new Scenario(200, 20)), 3, 0.2, 0.1, 1, 1, 4, 1);

    Rounds measured() {
        return new Rounds(samples, (long) (seconds * 1e9), fewest);
    }

    Rounds warmUp(boolean first) {
        return first ? new Rounds(3_000, (long) (warmUp * 1e9), 1) : new Rounds(samples, (long) (seconds * 2e8), 1);
    }
}

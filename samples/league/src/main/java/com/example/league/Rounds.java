package com.example.league;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Runs turns one after the other, in each round in another order. A subject whose turns are slow sits out rounds, evenly
 * over the whole run, so that none has only the quiet part of it.
 *
 * @param rounds the number of rounds
 * @param nanos how long each subject may take in all
 * @param fewest how many turns each subject makes at least
 */
record Rounds(int rounds, long nanos, int fewest) {

    /** One kind of turn of one subject. */
    interface Contender {

        /** Makes a turn. Returns its nanoseconds. */
        long run() throws Exception;
    }

    private static final class Racer {
        private final Contender contender;
        private long spent;
        private int runs;

        Racer(Contender contender) {
            this.contender = contender;
        }

        boolean runsIn(int round, Rounds all) {
            double part = (round + 1.0) / all.rounds;
            return runs < all.fewest * part || spent <= all.nanos * part;
        }

        void run() throws Exception {
            spent += contender.run();
            runs++;
        }
    }

    void run(List<? extends Contender> contenders, Random order) throws Exception {
        List<Racer> racers = new ArrayList<>();
        contenders.forEach(each -> racers.add(new Racer(each)));
        for (int round = 0; round < rounds; round++) {
            Collections.shuffle(racers, order);
            for (Racer racer : racers) {
                if (racer.runsIn(round, this)) {
                    racer.run();
                }
            }
        }
    }
}

package com.example.league;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The time of turns at a window of 20 that do not simply follow a turn of the same process. */
record OtherTurns(Server server, Settings settings, Random order, List<Sample> samples) {

    static final String TABLE = "microseconds of other turns";

    private static final int WINDOW = 20;
    private static final int CONVERSATIONS = 64;
    private static final int POOL = 4;
    private static final int TURNS_OF_EACH = 4;

    void run() throws Exception {
        List<Subject> subjects = Arrays.stream(Subject.values())
                .filter(each -> each.place() == Subject.Place.SERVER)
                .toList();
        Map<Subject, Site> sites = new LinkedHashMap<>();
        Map<Subject, Site> others = new LinkedHashMap<>();
        Map<Subject, Site> pooled = new LinkedHashMap<>();
        ExecutorService threads = Executors.newFixedThreadPool(CONVERSATIONS);
        try {
            for (Subject subject : subjects) {
                String database = ("others_" + subject).toLowerCase(Locale.ROOT);
                server.createDatabase(database);
                sites.put(subject, Site.open(subject, database, server.port(), 1, WINDOW));
                others.put(subject, Site.open(subject, database, server.port(), 1, WINDOW));
                pooled.put(subject, Site.open(subject, database, server.port(), POOL, WINDOW));
                fill(sites.get(subject).chat());
                Server.execute(Server.database(database, server.port()), "VACUUM ANALYZE");
            }
            Map<Subject, Measured> all = new LinkedHashMap<>();
            sites.forEach((subject, site) -> all.put(
                    subject,
                    new Measured(new Turns((turn, text) -> site.chat().ask("new" + turn, text), Texts.PLAIN), 1)));
            time("first turn of a new conversation", all);
            sites.forEach((subject, site) -> all.put(
                    subject,
                    new Measured(new Turns((turn, text) -> site.chat().ask("usage", text), Texts.WITH_USAGE), 1)));
            time("usage reported", all);
            sites.forEach((subject, site) -> {
                List<Chat> both = List.of(site.chat(), others.get(subject).chat());
                Turns turns = new Turns((turn, text) -> both.get(turn % 2).ask("both", text), Texts.PLAIN);
                all.put(subject, new Measured(turns, 1));
            });
            time("a second process in turns", all);
            pooled.forEach((subject, site) ->
                    all.put(subject, new Measured(atOnce(threads, site.chat()), CONVERSATIONS * TURNS_OF_EACH)));
            time(CONVERSATIONS + " conversations, pool of " + POOL, all);
        } finally {
            threads.shutdown();
            List.of(sites, others, pooled).forEach(each -> each.values().forEach(Site::close));
        }
    }

    private static void fill(Chat chat) {
        List.of("usage", "both").forEach(each -> chat.fill(each, WINDOW * 6 / 5));
        for (int i = 0; i < CONVERSATIONS; i++) {
            chat.fill("many" + i, WINDOW * 6 / 5);
        }
    }

    private static Rounds.Contender atOnce(ExecutorService threads, Chat chat) {
        List<Callable<Void>> work = new ArrayList<>();
        for (int i = 0; i < CONVERSATIONS; i++) {
            String conversation = "many" + i;
            Turns turns = new Turns((turn, text) -> chat.ask(conversation, text), Texts.PLAIN);
            work.add(() -> {
                for (int turn = 0; turn < TURNS_OF_EACH; turn++) {
                    turns.run();
                }
                return null;
            });
        }
        return () -> {
            long begin = System.nanoTime();
            for (Future<Void> each : threads.invokeAll(work)) {
                each.get();
            }
            return System.nanoTime() - begin;
        };
    }

    private void time(String row, Map<Subject, Measured> all) throws Exception {
        settings.warmUp(false).run(List.copyOf(all.values()), order);
        all.values().forEach(each -> each.micros = new Measure());
        settings.measured().run(List.copyOf(all.values()), order);
        all.forEach((subject, each) -> samples.add(new Sample(TABLE, row, subject.title(), each.micros)));
    }

    /** Times of turns of which so many are made together. */
    private static final class Measured implements Rounds.Contender {
        private final Rounds.Contender turns;
        private final int together;
        private Measure micros = new Measure();

        Measured(Rounds.Contender turns, int together) {
            this.turns = turns;
            this.together = together;
        }

        @Override
        public long run() throws Exception {
            long nanos = turns.run();
            micros.add(nanos / 1_000 / together);
            return nanos;
        }
    }
}

package com.example.league;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Whether what was said is still there. */
record Truth(Server server, Settings settings, List<Sample> samples) {

    static final String KEPT = "a window of 20 after 30 plain turns and 6 with two tools";
    static final String THREADS = "8 threads on one conversation";

    private static final int THREAD_COUNT = 8;

    /** A window that shows everything. A larger one lets a memory that stores messages twice grow without end. */
    private static final int ALL_SAID = 1_000;

    void run() throws Exception {
        for (Subject subject : Subject.values()) {
            if (subject.place() != Subject.Place.HEAP) {
                kept(subject);
                threads(subject);
            }
        }
    }

    private void kept(Subject subject) {
        try (Site site = open(subject, "kept", 1, 20)) {
            site.chat().fill("c", 0);
            for (int i = 0; i < 36; i++) {
                site.chat().ask("c", Texts.question(i, i % 6 == 0));
            }
            add(KEPT, "stored", subject, site.chat().stored("c").size());
            add(KEPT, "shown", subject, site.chat().shown("c").size());
        }
    }

    private void threads(Subject subject) throws Exception {
        int turns = settings.turnsOfThread();
        ExecutorService pool = Executors.newFixedThreadPool(THREAD_COUNT);
        try (Site site = open(subject, "threads", THREAD_COUNT, ALL_SAID)) {
            site.chat().fill("c", 0);
            List<Callable<Integer>> work = new ArrayList<>();
            for (int thread = 0; thread < THREAD_COUNT; thread++) {
                int first = thread * turns;
                work.add(() -> failures(site.chat(), first, turns));
            }
            long failures = 0;
            for (Future<Integer> each : pool.invokeAll(work)) {
                failures += each.get();
            }
            add(THREADS, "messages of turns that returned", subject, 2L * (THREAD_COUNT * turns - failures));
            List<String> stored = site.chat().stored("c");
            List<String> shown = site.chat().shown("c");
            add(THREADS, "of these stored", subject, new HashSet<>(stored).size());
            add(THREADS, "of these shown", subject, new HashSet<>(shown).size());
            add(THREADS, "stored again", subject, doubled(stored));
            add(THREADS, "shown again", subject, doubled(shown));
        } finally {
            pool.shutdown();
        }
    }

    private static int failures(Chat chat, int first, int turns) {
        int failures = 0;
        for (int i = first; i < first + turns; i++) {
            try {
                chat.ask("c", Texts.question(i, false));
            } catch (RuntimeException e) {
                failures++;
            }
        }
        return failures;
    }

    static long doubled(List<String> texts) {
        Map<String, Integer> counts = new HashMap<>();
        texts.forEach(each -> counts.merge(each, 1, Integer::sum));
        return counts.values().stream().mapToInt(count -> count - 1).sum();
    }

    private Site open(Subject subject, String name, int connections, int window) {
        String database = (name + "_" + subject).toLowerCase(Locale.ROOT);
        server.createDatabase(database);
        return Site.open(subject, database, server.port(), connections, window);
    }

    private void add(String table, String row, Subject subject, long value) {
        Measure one = new Measure();
        one.add(value);
        samples.add(new Sample(table, row, subject.title(), one));
    }
}

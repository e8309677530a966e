package com.example.league;

import java.lang.management.ManagementFactory;
import java.util.List;

/** What stays in the heap for each conversation that was used once. */
record Retained(Server server, List<Sample> samples) {

    static final String TABLE = "retained bytes for each conversation";

    void run(int conversations, List<Integer> windows) {
        for (int window : windows) {
            for (Subject subject : Subject.values()) {
                if (subject.place() == Subject.Place.SERVER) {
                    run(subject, conversations, window);
                }
            }
        }
    }

    private void run(Subject subject, int conversations, int window) {
        String database = ("retained_" + subject + "_" + window).toLowerCase(java.util.Locale.ROOT);
        server.createDatabase(database);
        try (Site site = Site.open(subject, database, server.port(), 1, window)) {
            for (int i = 0; i < conversations; i++) {
                site.chat().fill("c" + i, window);
            }
        }
        try (Site site = Site.open(subject, database, server.port(), 1, window)) {
            site.chat().fill("first", window);
            site.chat().ask("first", Texts.question(0, false));
            long before = used();
            for (int i = 0; i < conversations; i++) {
                site.chat().ask("c" + i, Texts.question(i, false));
            }
            Measure each = new Measure();
            each.add(Math.max(0, (used() - before) / conversations));
            samples.add(new Sample(TABLE, "window " + window, subject.title(), each));
        }
    }

    /** Returns what the heap holds once several collections have found nothing more. */
    private static long used() {
        long used = Long.MAX_VALUE;
        for (int unchanged = 0, i = 0; unchanged < 3 && i < 20; i++) {
            System.gc();
            long now = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            unchanged = now < used - 10_000 ? 0 : unchanged + 1;
            used = Math.min(used, now);
        }
        return used;
    }
}

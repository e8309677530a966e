package com.example.league;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongSupplier;

/** What a turn costs: time, heap, and what goes to the server. */
final class TurnCosts {

    static final String TIME = "microseconds";
    static final String DELAYED = "microseconds with 1 ms of network";
    static final String ALLOCATED = "allocated bytes";
    static final String STATEMENTS = "statements";
    static final String ROUND_TRIPS = "round trips";
    static final String ROWS = "rows read";
    static final String TRAFFIC = "bytes to and from the server";
    static final String LOG = "bytes of write-ahead log";

    /** Half of a round trip of a millisecond. */
    private static final long DELAY = 500_000;

    private static final int COUNTED = 9;

    /** A driver prepares a statement on the server after five uses. */
    private static final int BEFORE_COUNTING = 8;

    private final Server server;
    private final Settings settings;
    private final Random order;
    private final List<Sample> samples;
    private boolean warm;

    TurnCosts(Server server, Settings settings, Random order, List<Sample> samples) {
        this.server = server;
        this.settings = settings;
        this.order = order;
        this.samples = samples;
    }

    void run(Scenario scenario) throws Exception {
        System.err.println("# " + scenario.title());
        String row = scenario.title();
        Map<Subject, Site> sites = new LinkedHashMap<>();
        Map<Subject, Site> delayed = new LinkedHashMap<>();
        try (Link link = new Link(server.port(), DELAY)) {
            for (Subject subject : Subject.values()) {
                String database = database(subject, scenario);
                if (subject.place() == Subject.Place.SERVER) {
                    server.createDatabase(database);
                    fill(subject, database, scenario);
                    delayed.put(subject, Site.open(subject, database, link.port(), 1, scenario.window()));
                }
                Site site = Site.open(subject, database, server.port(), 1, scenario.window());
                sites.put(subject, site);
                if (subject.place() != Subject.Place.SERVER) {
                    fill(site.chat(), scenario);
                }
            }
            for (boolean tools : new boolean[] {false, true}) {
                String kind = row + (tools ? ", two tools" : ", plain");
                count(scenario, tools, kind);
                time(sites, tools ? "tools" : "plain", tools, kind, TIME);
                time(delayed, tools ? "tools1" : "plain1", tools, kind, DELAYED);
            }
        } finally {
            sites.values().forEach(Site::close);
            delayed.values().forEach(Site::close);
        }
        warm = true;
    }

    private static String database(Subject subject, Scenario scenario) {
        return (subject + "_" + scenario.messages() + "_" + scenario.window()).toLowerCase(java.util.Locale.ROOT);
    }

    private void fill(Subject subject, String database, Scenario scenario) {
        try (Site site = Site.open(subject, database, server.port(), 1, scenario.window())) {
            fill(site.chat(), scenario);
        }
        Server.execute(Server.database(database, server.port()), "VACUUM ANALYZE");
    }

    private void fill(Chat chat, Scenario scenario) {
        for (int i = 0; i < settings.others(); i++) {
            chat.fill("other" + i, 100);
        }
        for (String conversation : List.of("plain", "tools", "plain1", "tools1", "plainc", "toolsc")) {
            // A window memory that is not full yet would not have to leave anything out.
            chat.fill(conversation, scenario.messages() * 6 / 5);
        }
    }

    private void time(Map<Subject, Site> sites, String conversation, boolean tools, String kind, String table)
            throws Exception {
        Map<Subject, Turns> turns = new LinkedHashMap<>();
        sites.forEach((subject, site) -> turns.put(subject, new Turns(site.chat(), conversation, tools)));
        List<Turns> all = new ArrayList<>(turns.values());
        settings.warmUp(!warm && table.equals(TIME)).run(all, order);
        all.forEach(Turns::begin);
        settings.measured().run(all, order);
        turns.forEach((subject, each) -> {
            Measure micros = new Measure();
            each.nanos().samples().forEach(nanos -> micros.add(nanos / 1_000));
            samples.add(new Sample(table, kind, subject.title(), micros));
            if (table.equals(TIME)) {
                samples.add(new Sample(ALLOCATED, kind, subject.title(), each.heap()));
            }
        });
    }

    private void count(Scenario scenario, boolean tools, String kind) {
        for (Subject subject : EnumSet.allOf(Subject.class)) {
            if (subject.place() == Subject.Place.SERVER) {
                count(subject, scenario, tools, kind);
            }
        }
    }

    private void count(Subject subject, Scenario scenario, boolean tools, String kind) {
        Counter counter = new Counter();
        try (Link link = new Link(server.port(), 0);
                Site site = Site.open(
                        subject, database(subject, scenario), link.port(), 1, scenario.window(), counter::around)) {
            Map<String, LongSupplier> counted = new LinkedHashMap<>();
            counted.put(STATEMENTS, counter::statements);
            counted.put(ROUND_TRIPS, link::roundTrips);
            counted.put(ROWS, counter::rows);
            counted.put(TRAFFIC, link::bytes);
            counted.put(LOG, server::log);
            Turns turns = new Turns(site.chat(), tools ? "toolsc" : "plainc", tools);
            boolean slow = scenario.window() > 1_000;
            for (int i = 0; i < (slow ? 2 : BEFORE_COUNTING); i++) {
                turns.run();
            }
            Map<String, Measure> measures = new LinkedHashMap<>();
            counted.keySet().forEach(each -> measures.put(each, new Measure()));
            for (int i = 0; i < (slow ? 3 : COUNTED); i++) {
                Map<String, Long> before = new LinkedHashMap<>();
                counted.forEach((name, value) -> before.put(name, value.getAsLong()));
                turns.run();
                counted.forEach((name, value) -> measures.get(name).add(value.getAsLong() - before.get(name)));
            }
            measures.forEach((name, values) -> samples.add(new Sample(name, kind, subject.title(), values)));
        }
    }
}

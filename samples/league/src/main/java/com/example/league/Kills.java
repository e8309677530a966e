package com.example.league;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Kills a process of each subject in its turns. Then another process repeats the turn that was not answered, as a user
 * would, and goes on.
 */
record Kills(Server server, Settings settings, Random random, List<Sample> samples) {

    static final String TABLE = "after kills";

    private static final int LONGEST_MILLIS = 150;

    private static final int AT_ONCE = 3;

    /** Kills some subjects at the same time, because no times are measured here and a process starts slowly. */
    void run() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE);
        try {
            List<Callable<List<Sample>>> work = new ArrayList<>();
            for (Subject subject : Subject.values()) {
                if (subject.place() != Subject.Place.HEAP) {
                    work.add(() -> run(subject));
                }
            }
            for (Future<List<Sample>> each : pool.invokeAll(work)) {
                samples.addAll(each.get());
            }
        } finally {
            pool.shutdown();
        }
    }

    private List<Sample> run(Subject subject) throws Exception {
        String database = ("kills_" + subject).toLowerCase(Locale.ROOT);
        server.createDatabase(database);
        Path file = Files.createTempFile("kills", ".db");
        try (Chat chat = Victim.chat(subject, database, server.port(), file)) {
            chat.fill(Victim.CONVERSATION, 0);
        }
        int answered = 0;
        for (int i = 0; i < settings.kills(); i++) {
            answered = life(subject, database, file, answered);
        }
        try (Chat chat = Victim.chat(subject, database, server.port(), file)) {
            return report(subject, answered, chat);
        } finally {
            for (String end : new String[] {"", "-wal", "-shm"}) {
                Files.deleteIfExists(file.resolveSibling(file.getFileName() + end));
            }
        }
    }

    private List<Sample> report(Subject subject, int answered, Chat chat) {
        List<String> stored = chat.stored(Victim.CONVERSATION);
        Set<String> there = new HashSet<>(stored);
        long lost = 0;
        for (int turn = 0; turn < answered; turn++) {
            String question = Texts.question(turn, false);
            lost += there.contains(question) ? 0 : 1;
            lost += there.contains(Texts.answer(question)) ? 0 : 1;
        }
        List<String> shown = chat.shown(Victim.CONVERSATION);
        return List.of(
                sample("kills", subject, settings.kills()),
                sample("acknowledged messages", subject, 2L * answered),
                sample("of these lost", subject, lost),
                sample("stored again", subject, Truth.doubled(stored)),
                sample("shown again", subject, Truth.doubled(shown)));
    }

    /** Returns the number of turns that were answered so far. */
    private int life(Subject subject, String database, Path file, int answered) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx256m",
                        "-cp",
                        ClassPath.text(),
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                        Victim.class.getName(),
                        subject.name(),
                        database,
                        Integer.toString(server.port()),
                        file.toString(),
                        Integer.toString(answered))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            if (lines.readLine() == null) {
                throw new IOException(subject + " answered nothing");
            }
            process.waitFor(random.nextInt(LONGEST_MILLIS), TimeUnit.MILLISECONDS);
            // The process itself would close what it has said.
            process.toHandle().destroyForcibly();
            int last = answered;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                last = Integer.parseInt(line);
            }
            return last + 1;
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static Sample sample(String row, Subject subject, long value) {
        Measure one = new Measure();
        one.add(value);
        return new Sample(TABLE, row, subject.title(), one);
    }
}

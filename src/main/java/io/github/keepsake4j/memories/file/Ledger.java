package io.github.keepsake4j.memories.file;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.MadeMemory.Status;
import io.github.keepsake4j.memories.Progress;
import io.github.keepsake4j.memories.Progress.Step;
import io.github.keepsake4j.memories.store.MemoryJson;
import io.github.keepsake4j.memories.store.MemoryTrack;
import io.github.keepsake4j.memories.store.MemoryTrack.Entry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The content of a file of chunks. Each line has a text and the hash of the last message that it covers, which other
 * programs read, and one more field of this library. A line that moves the head has an empty text and the hash of the
 * message that the head covers, so that a program that continues from the last line continues there. A line of a failed
 * try does not move the head.
 *
 * @param lines the file
 * @param track what is in it
 * @param places the line of each memory, from 0
 */
record Ledger(JsonLines lines, MemoryTrack track, List<Integer> places) {

    private static final String TEXT = "text_block";

    /** The beginning of each line of this library. Other programs write a space after the colon. */
    static final String BEGIN = "{\"" + TEXT + "\":\"";

    private static final String HASH = "hash";
    private static final String OWN = "keepsake";
    private static final String FAILED = "failed";

    /**
     * Reads a file.
     *
     * @param least the revision of an empty file
     */
    static Ledger read(Path file, MadeMemory.Kind kind, long least) throws IOException {
        JsonLines lines = JsonLines.read(file);
        long revision = least;
        long head = 0;
        NavigableMap<Long, Step> steps = new TreeMap<>();
        List<Entry> entries = new ArrayList<>();
        List<Integer> places = new ArrayList<>();
        for (int i = 0; i < lines.objects().size(); i++) {
            Map<?, ?> line = lines.objects().get(i);
            String place = "Line " + (i + 1) + " of " + file;
            if (line.get(OWN) instanceof Map<?, ?> own) {
                revision = number(place, own, "revision");
                if (own.containsKey("head")) {
                    head = number(place, own, "head");
                    if (own.get(FAILED) instanceof Map<?, ?> failed) {
                        Step step = step(place, failed, (int) number(place, failed, "failures"));
                        steps.put(step.number(), step);
                    }
                    continue;
                }
                long number = number(place, own, "step");
                if (number > 0) {
                    steps.put(number, step(place, own, 0));
                    head = number;
                }
                entries.add(new Entry(number, MemoryJson.memory(place, text(place, line), Map.of(), own)));
            } else {
                revision++;
                MadeMemory memory = foreign(kind, i, place, line);
                long next = steps.isEmpty() ? 1 : steps.lastKey() + 1;
                steps.put(next, new Step(next, head, memory.source(), 0));
                head = next;
                entries.add(new Entry(head, memory));
            }
            places.add(i);
        }
        Progress progress = new Progress(revision, head, List.copyOf(steps.values()));
        return new Ledger(lines, new MemoryTrack(progress, entries), places);
    }

    private static Step step(String place, Map<?, ?> own, int failures) {
        return new Step(number(place, own, "step"), number(place, own, "parent"), MemoryJson.passage(own), failures);
    }

    /** Returns what another program wrote. */
    private static MadeMemory foreign(MadeMemory.Kind kind, int line, String place, Map<?, ?> theirs) {
        Map<String, String> own = Map.of(
                "id", "line-" + (line + 1),
                "kind", kind.name(),
                "message_hash", MemoryJson.textOr(theirs, HASH, ""),
                "at", Instant.EPOCH.toString(),
                "status", Status.CURRENT.name());
        return MemoryJson.memory(place, text(place, theirs), Map.of(), own);
    }

    private static String text(String place, Map<?, ?> line) {
        if (line.get(TEXT) instanceof String text) {
            return text;
        }
        throw MemoryJson.unreadable(place, "it has no " + TEXT);
    }

    private static long number(String place, Map<?, ?> own, String name) {
        if (own.get(name) instanceof Number number) {
            return number.longValue();
        }
        throw MemoryJson.unreadable(place, "it has no number " + name);
    }

    /** Writes a changed track: as one more line if possible, or else as all lines. */
    void write(Path file, MemoryTrack after) throws IOException {
        List<Map<?, ?>> all = new ArrayList<>(lines.objects());
        List<JsonObject> added = new ArrayList<>();
        boolean isRewritten = false;
        long head = track.progress().head();
        for (int i = 0; i < after.entries().size(); i++) {
            Entry entry = after.entries().get(i);
            if (i >= places.size()) {
                added.add(line(after.progress(), entry));
                head = entry.step() > 0 ? entry.step() : head;
            } else if (!entry.equals(track.entries().get(i))) {
                all.set(places.get(i), line(after.progress(), entry));
                isRewritten = true;
            }
        }
        if (added.isEmpty() || head != after.progress().head()) {
            // The last line has the revision, so a writer that saw an earlier one does not write.
            added.add(lineOfMove(after.progress()));
        }
        if (isRewritten || added.size() > 1) {
            all.addAll(added);
            JsonLines.replace(file, all);
        } else {
            lines.append(file, added.get(0));
        }
    }

    /** Returns the line of a memory. */
    static JsonObject line(Progress progress, Entry entry) {
        JsonObject own = MemoryJson.own(entry.memory())
                .with("revision", progress.revision())
                .with("step", entry.step())
                .with("parent", progress.step(entry.step()).map(Step::parent).orElse(0L));
        return line(entry.memory().text(), entry.memory().source().messageHash(), own);
    }

    /** Returns a line that moves the head, or counts one more failure of a passage. */
    private JsonObject lineOfMove(Progress after) {
        JsonObject own = new JsonObject().with("head", after.head()).with("revision", after.revision());
        after.steps().stream()
                .filter(step -> step.failures() > 0 && !track.progress().steps().contains(step))
                .forEach(step -> {
                    JsonObject failed = new JsonObject()
                            .with("step", step.number())
                            .with("parent", step.parent())
                            .with("failures", step.failures());
                    own.put(FAILED, MemoryJson.put(failed, step.passage()));
                });
        return line(
                "",
                after.step(after.head())
                        .map(step -> step.passage().messageHash())
                        .orElse(""),
                own);
    }

    private static JsonObject line(String text, String hash, JsonObject own) {
        return new JsonObject().with(TEXT, text).with(HASH, hash).with(OWN, own);
    }
}

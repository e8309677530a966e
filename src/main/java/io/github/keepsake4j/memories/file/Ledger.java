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
 * The content of a file of chunks. Each line is a memory: its text and the hash of the last message that it covers, which
 * other programs read, and one more field of this library. A second file has the moves of the head and the failed tries,
 * which other programs must not take for memories. Each of its lines says how many lines of the first file were written
 * before it, so that the changes are read in their order, and the hash of the last of them: if another program replaced
 * the first file, what was moved in the old one counts no more. A change writes to one of the two files, in one step.
 *
 * @param lines the first file
 * @param moves the second file
 * @param stored the memories as they are in the first file
 * @param track what is in the files
 * @param places the line of each memory, from 0
 */
record Ledger(JsonLines lines, JsonLines moves, List<Entry> stored, MemoryTrack track, List<Integer> places) {

    private static final String TEXT = "text_block";

    /** The beginning of each line of this library. Other programs write a space after the colon. */
    static final String BEGIN = "{\"" + TEXT + "\":\"";

    private static final String HASH = "hash";
    private static final String OWN = "keepsake";
    private static final String FAILED = "failed";
    private static final String BEFORE = "lines";
    private static final String BEGIN_OF_MOVE = "{\"" + BEFORE + "\":";

    /** Returns the name of the second file. A file whose head never moves has none. */
    static Path moves(Path file) {
        return file.resolveSibling(file.getFileName().toString().replaceFirst("jsonl$", "moves.jsonl"));
    }

    /**
     * Reads the files.
     *
     * @param least the revision without any file
     */
    static Ledger read(Path file, MadeMemory.Kind kind, long least) throws IOException {
        JsonLines moves;
        JsonLines lines;
        do {
            // Nothing was moved between the two reads, so they fit each other.
            moves = JsonLines.read(moves(file), BEGIN_OF_MOVE);
            lines = JsonLines.read(file, BEGIN);
        } while (!moves.equals(JsonLines.read(moves(file), BEGIN_OF_MOVE)));
        Reading reading = new Reading(file, lines.objects(), kind, least);
        for (int i = 0; i < moves.objects().size(); i++) {
            reading.moveOf(
                    "Line " + (i + 1) + " of " + moves(file), moves.objects().get(i));
        }
        reading.linesUpTo(Long.MAX_VALUE);
        return new Ledger(lines, moves, List.copyOf(reading.entries), reading.track(), reading.places);
    }

    /** What was read so far. */
    private static final class Reading {

        private final Path file;
        private final List<Map<?, ?>> lines;
        private final MadeMemory.Kind kind;
        private final NavigableMap<Long, Step> steps = new TreeMap<>();
        private final List<Entry> entries = new ArrayList<>();
        private final List<Integer> places = new ArrayList<>();
        private int read;
        private long revision;
        private long head;

        /** The revisions of the newest memory and of the newest move to another head. */
        private long written;

        private long moved;

        Reading(Path file, List<Map<?, ?>> lines, MadeMemory.Kind kind, long least) {
            this.file = file;
            this.lines = lines;
            this.kind = kind;
            this.revision = least;
        }

        void linesUpTo(long end) {
            for (; read < Math.min(end, lines.size()); read++) {
                line("Line " + (read + 1) + " of " + file, lines.get(read));
            }
        }

        private void line(String place, Map<?, ?> line) {
            if (!(line.get(OWN) instanceof Map<?, ?> own)) {
                revision++;
                MadeMemory memory = foreign(kind, read, place, line);
                long next = steps.isEmpty() ? 1 : steps.lastKey() + 1;
                steps.put(next, new Step(next, head, memory.source(), 0));
                head = next;
                add(next, memory);
            } else if (own.containsKey("id")) {
                long at = number(place, own, "revision");
                revision = Math.max(revision, at);
                written = Math.max(written, at);
                long number = number(place, own, "step");
                if (number > 0) {
                    Step earlier = steps.get(number);
                    head = earlier == null ? number : progress().headAfter(earlier);
                    steps.put(number, step(place, own, 0));
                }
                add(number, MemoryJson.memory(place, text(place, line), Map.of(), own));
            } else {
                // Snapshots of this library wrote moves into the first file.
                move(place, own);
            }
        }

        private void add(long step, MadeMemory memory) {
            entries.add(new Entry(step, memory));
            places.add(read);
        }

        void moveOf(String place, Map<?, ?> move) {
            long end = number(place, move, BEFORE);
            if (end <= lines.size() && hashBefore(lines, end).equals(move.get(HASH))) {
                linesUpTo(end);
                move(place, move);
            } else {
                revision = Math.max(revision, number(place, move, "revision"));
            }
        }

        private void move(String place, Map<?, ?> move) {
            long at = number(place, move, "revision");
            long to = number(place, move, "head");
            revision = Math.max(revision, at);
            moved = to == head ? moved : at;
            head = to;
            if (move.get(FAILED) instanceof Map<?, ?> failed) {
                Step step = step(place, failed, (int) number(place, failed, "failures"));
                steps.put(step.number(), step);
            }
        }

        private Progress progress() {
            return new Progress(revision, head, List.copyOf(steps.values()));
        }

        /** A move changes which memories are replaced. The next change of a memory writes this. */
        MemoryTrack track() {
            MemoryTrack track = new MemoryTrack(progress(), entries);
            return new MemoryTrack(
                    progress(), moved > written ? track.moveTo(head).entries() : entries);
        }
    }

    /** Returns the hash of the last of some lines. */
    private static String hashBefore(List<Map<?, ?>> lines, long end) {
        return end == 0 ? "" : MemoryJson.textOr(lines.get((int) end - 1), HASH, "");
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

    /** Writes a changed track: as one more line if possible, or else as all lines. Writes nothing if nothing changed. */
    void write(Path file, MemoryTrack after) throws IOException {
        List<Map<?, ?>> all = new ArrayList<>(lines.objects());
        List<JsonObject> added = new ArrayList<>();
        boolean isRewritten = false;
        for (int i = 0; i < after.entries().size(); i++) {
            Entry entry = after.entries().get(i);
            if (i >= places.size()) {
                added.add(line(after.progress(), entry));
            } else if (!entry.equals(stored.get(i))) {
                all.set(places.get(i), line(after.progress(), entry));
                isRewritten = true;
            }
        }
        boolean isMove = track.progress().head() != after.progress().head()
                || !track.progress().steps().equals(after.progress().steps());
        if (added.isEmpty() && isMove) {
            moves.append(moves(file), move(after.progress()));
        } else if (isRewritten || added.size() > 1) {
            all.addAll(added);
            JsonLines.replace(file, all);
        } else if (!added.isEmpty()) {
            lines.append(file, added.get(0));
        }
    }

    /** Returns the line of a memory. */
    static JsonObject line(Progress progress, Entry entry) {
        JsonObject own = MemoryJson.own(entry.memory())
                .with("revision", progress.revision())
                .with("step", entry.step())
                .with("parent", progress.step(entry.step()).map(Step::parent).orElse(0L));
        return new JsonObject()
                .with(TEXT, entry.memory().text())
                .with(HASH, entry.memory().source().messageHash())
                .with(OWN, own);
    }

    /** Returns a line that moves the head, or counts one more failure of a passage. */
    private JsonObject move(Progress after) {
        JsonObject move = new JsonObject()
                .with(BEFORE, lines.objects().size())
                .with(HASH, hashBefore(lines.objects(), lines.objects().size()))
                .with("head", after.head())
                .with("revision", after.revision());
        after.steps().stream()
                .filter(step -> step.failures() > 0 && !track.progress().steps().contains(step))
                .forEach(step -> {
                    JsonObject failed = new JsonObject()
                            .with("step", step.number())
                            .with("parent", step.parent())
                            .with("failures", step.failures());
                    move.put(FAILED, MemoryJson.put(failed, step.passage()));
                });
        return move;
    }
}

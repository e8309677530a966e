package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.recall.memories.MadeMemory;
import io.github.keepsake4j.recall.memories.MemoryKind;
import io.github.keepsake4j.recall.memories.MemoryStatus;
import io.github.keepsake4j.recall.memories.Passage;
import io.github.keepsake4j.recall.memories.Progress;
import io.github.keepsake4j.recall.memories.Step;
import io.github.keepsake4j.recall.memories.Trust;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a file of chunks says. Each line has a text and the hash of the last message that it covers, as other programs read them, and
 * one more field that is ours. A line that moves the head has an empty text and the hash of the message that the head covers, so a
 * program that goes on from the last line goes on there. A line of a try that failed leaves the head where it is.
 *
 * @param progress the passages
 * @param entries the memories, in order
 */
record Ledger(Progress progress, List<Entry> entries) {

    private static final String TEXT = "text_block";

    /** What each line that we write begins with. Other programs write a space behind the colon. */
    static final String BEGIN = "{\"" + TEXT + "\":\"";

    private static final String HASH = "hash";
    private static final String OWN = "keepsake";
    private static final String FAILED = "failed";

    /** A memory and its line, from 0, and the step that it is of, or 0. */
    record Entry(int line, long step, MadeMemory memory) {}

    /**
     * Reads the lines of a file.
     *
     * @param least the revision of an empty file
     */
    static Ledger of(String where, MemoryKind kind, List<Map<?, ?>> lines, long least) {
        long revision = least;
        long head = 0;
        NavigableMap<Long, Step> steps = new TreeMap<>();
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            Map<?, ?> line = lines.get(i);
            String place = "Line " + (i + 1) + " of " + where;
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
                entries.add(new Entry(i, number, MemoryJson.memory(place, text(place, line), Map.of(), own)));
            } else {
                revision++;
                Passage passage = new Passage(List.of(), 0, MemoryJson.textOr(line, HASH, ""), "", "");
                long next = steps.isEmpty() ? 1 : steps.lastKey() + 1;
                steps.put(next, new Step(next, head, passage, 0));
                head = next;
                entries.add(new Entry(i, head, foreign(kind, i, text(place, line), passage)));
            }
        }
        return new Ledger(new Progress(revision, head, List.copyOf(steps.values())), List.copyOf(entries));
    }

    private static Step step(String place, Map<?, ?> own, int failures) {
        return new Step(number(place, own, "step"), number(place, own, "parent"), MemoryJson.passage(own), failures);
    }

    /** Returns what another program wrote. */
    private static MadeMemory foreign(MemoryKind kind, int line, String text, Passage passage) {
        return new MadeMemory(
                "line-" + (line + 1),
                kind,
                text,
                "",
                "",
                List.of(),
                List.of(),
                passage,
                null,
                "",
                Instant.EPOCH,
                Trust.RETRIEVED,
                false,
                null,
                MemoryStatus.CURRENT);
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

    /** Returns the line of a memory. */
    static Map<String, @Nullable Object> line(MadeMemory memory, long revision, long step, long parent) {
        Map<String, @Nullable Object> own = MemoryJson.own(memory);
        own.put("revision", revision);
        own.put("step", step);
        own.put("parent", parent);
        return line(memory.text(), memory.source().messageHash(), own);
    }

    /** Returns a line that moves the head. */
    Map<String, @Nullable Object> lineOfMove(long step) {
        return lineOfMove(step, null);
    }

    /** Returns a line that counts one more failure of a passage. */
    Map<String, @Nullable Object> lineOfFailure(Passage passage) {
        Step step = progress.next(passage).failed();
        Map<String, @Nullable Object> failed = new LinkedHashMap<>();
        failed.put("step", step.number());
        failed.put("parent", step.parent());
        failed.put("failures", step.failures());
        MemoryJson.putPassage(failed, passage);
        return lineOfMove(progress.head(), failed);
    }

    private Map<String, @Nullable Object> lineOfMove(long step, @Nullable Map<String, @Nullable Object> failed) {
        String hash = progress.steps().stream()
                .filter(each -> each.number() == step)
                .findFirst()
                .map(each -> each.passage().messageHash())
                .orElse("");
        Map<String, @Nullable Object> own = new LinkedHashMap<>();
        own.put("head", step);
        own.put("revision", progress.revision() + 1);
        if (failed != null) {
            own.put(FAILED, failed);
        }
        return line("", hash, own);
    }

    private static Map<String, @Nullable Object> line(String text, String hash, Map<String, @Nullable Object> own) {
        Map<String, @Nullable Object> line = new LinkedHashMap<>();
        line.put(TEXT, text);
        line.put(HASH, hash);
        line.put(OWN, own);
        return line;
    }

    /** Returns the memories on the path that are current. */
    List<MadeMemory> shown() {
        Set<Long> path = new HashSet<>(Set.of(0L));
        progress.path().forEach(step -> path.add(step.number()));
        return entries.stream()
                .filter(entry -> path.contains(entry.step()) && entry.memory().status() == MemoryStatus.CURRENT)
                .map(Entry::memory)
                .toList();
    }

    List<MadeMemory> all() {
        return entries.stream().map(Entry::memory).toList();
    }
}

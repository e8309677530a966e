package io.github.keepsake4j.memories.store;

import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.MadeMemory.Status;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Progress;
import io.github.keepsake4j.memories.Progress.Step;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The memories of one kind of a discussion, with the changes of them. Each change returns a new track with the next
 * revision.
 *
 * @param progress the passages
 * @param entries the memories in the order in which they were stored
 */
public record MemoryTrack(Progress progress, List<Entry> entries) {

    /** Copies the entries. */
    public MemoryTrack {
        entries = List.copyOf(entries);
    }

    /**
     * A memory.
     *
     * @param step the number of its step, or 0 if it was made by hand
     * @param memory the memory
     */
    public record Entry(long step, MadeMemory memory) {}

    /**
     * Returns a track without memories.
     *
     * @param revision its revision
     * @return the track
     */
    public static MemoryTrack empty(long revision) {
        return new MemoryTrack(new Progress(revision, 0, List.of()), List.of());
    }

    /**
     * Returns all memories.
     *
     * @return the memories in the order in which they were stored
     */
    public List<MadeMemory> memories() {
        return entries.stream().map(Entry::memory).toList();
    }

    /**
     * Returns the memories that are on the path and current.
     *
     * @return the memories, oldest first
     */
    public List<MadeMemory> shown() {
        Set<Long> onPath = progress.onPath();
        return entries.stream()
                .filter(entry -> onPath.contains(entry.step()) && entry.memory().status() == Status.CURRENT)
                .map(Entry::memory)
                .toList();
    }

    /**
     * Adds the memories of a passage; see {@link LongTermMemoryStore#add}.
     *
     * @param passage the passage, or {@link Passage#NONE}
     * @param memories the memories
     * @return the next track
     */
    public MemoryTrack add(Passage passage, List<MadeMemory> memories) {
        Progress next = progress.changedTo(progress.head());
        long step = 0;
        if (!passage.equals(Passage.NONE)) {
            Step processed = progress.next(passage);
            step = processed.number();
            next = progress.changedTo(progress.headAfter(processed))
                    .with(new Step(step, processed.parent(), passage, 0));
        }
        Set<String> replaced = replaced(memories.stream());
        return new MemoryTrack(next, entries)
                .append(step, memories)
                .each(memory -> memory.status() == Status.CURRENT && replaced.contains(memory.id())
                        ? memory.withStatus(Status.REPLACED)
                        : memory);
    }

    /**
     * Adds a version of the summary.
     *
     * @param version the version
     * @return the next track
     */
    public MemoryTrack addVersion(MadeMemory version) {
        return new MemoryTrack(progress.changedTo(progress.head()), entries).append(0, List.of(version));
    }

    private MemoryTrack append(long step, List<MadeMemory> memories) {
        List<Entry> all = new ArrayList<>(entries);
        memories.forEach(memory -> all.add(new Entry(step, memory)));
        return new MemoryTrack(progress, all);
    }

    /**
     * Counts a failed try; see {@link LongTermMemoryStore#addFailure}.
     *
     * @param passage the passage
     * @return the next track
     */
    public MemoryTrack addFailure(Passage passage) {
        return new MemoryTrack(
                progress.changedTo(progress.head()).with(progress.next(passage).failed()), entries);
    }

    /**
     * Moves the head. A memory that was replaced on one branch stays valid on the others.
     *
     * @param step the number of a step, or 0
     * @return the next track
     */
    public MemoryTrack moveTo(long step) {
        Progress moved = progress.changedTo(step);
        Set<Long> onPath = moved.onPath();
        Set<String> replaced = replaced(entries.stream()
                .filter(entry -> onPath.contains(entry.step()))
                .map(Entry::memory)
                .filter(memory -> memory.status() != Status.FORGOTTEN));
        return new MemoryTrack(moved, entries)
                .each(memory -> memory.status() == Status.FORGOTTEN
                        ? memory
                        : memory.withStatus(replaced.contains(memory.id()) ? Status.REPLACED : Status.CURRENT));
    }

    /**
     * Replaces the memory of the same id.
     *
     * @param memory the memory
     * @return the next track
     */
    public MemoryTrack put(MadeMemory memory) {
        return new MemoryTrack(progress.changedTo(progress.head()), entries)
                .each(older -> older.id().equals(memory.id()) ? memory : older);
    }

    private static Set<String> replaced(Stream<MadeMemory> memories) {
        Set<String> replaced = new HashSet<>();
        memories.map(MadeMemory::replaces).filter(Objects::nonNull).forEach(replaced::add);
        return replaced;
    }

    private MemoryTrack each(Function<MadeMemory, MadeMemory> change) {
        return new MemoryTrack(
                progress,
                entries.stream()
                        .map(entry -> new Entry(entry.step(), change.apply(entry.memory())))
                        .toList());
    }

    /**
     * Checks the step that {@link LongTermMemoryStore#moveTo} takes.
     *
     * @param key the discussion
     * @param progress its progress
     * @param step the step's number
     * @throws InvalidInputException if there is no such step
     */
    public static void checkStep(MemoryKey key, Progress progress, long step) {
        if (step != 0 && progress.step(step).isEmpty()) {
            throw new InvalidInputException(
                    "step", "discussion " + key + " has no step " + step + "; read its progress for the steps");
        }
    }

    /**
     * Checks that a memory is new.
     *
     * @param key the discussion
     * @param memory the memory
     * @param isThere whether a memory of its id exists
     * @throws InvalidInputException if there is
     */
    public static void checkNew(MemoryKey key, MadeMemory memory, boolean isThere) {
        if (isThere) {
            throw new InvalidInputException(
                    "id", "discussion " + key + " already has a memory " + memory.id() + "; use a new id");
        }
    }
}

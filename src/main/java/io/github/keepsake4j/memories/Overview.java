package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The long-term memories of a discussion that are shown without a question: its summary, its pinned and its newest memories.
 *
 * @param summary the current summary, or null if there is none
 * @param memories chunks and facts that are shown, those of each kind oldest first, and each one once
 * @param byHand the ids of the memories that are on no path because they were made by hand; the messages that they name
 * determine their branch
 */
public record Overview(@Nullable MadeMemory summary, List<MadeMemory> memories, Set<String> byHand) {

    /** The overview of a discussion without memories. */
    public static final Overview EMPTY = new Overview(null, List.of(), Set.of());

    /** Copies the collections. */
    public Overview {
        memories = List.copyOf(memories);
        byHand = Set.copyOf(byHand);
    }

    /**
     * What is known of one kind of memories.
     *
     * @param shown all memories that are shown, oldest first
     * @param path the path to the head
     */
    public record Track(List<MadeMemory> shown, List<Progress.Step> path) {

        /**
         * Reads one kind of memories.
         *
         * @param reader reads them
         * @param key the discussion
         * @param kind {@link MadeMemory.Kind#CHUNK} or {@link MadeMemory.Kind#FACT}
         * @return what is known of them
         */
        public static Track of(LongTermMemoryReader reader, MemoryKey key, MadeMemory.Kind kind) {
            return new Track(
                    reader.shown(key, kind, Integer.MAX_VALUE),
                    reader.progress(key, kind).path());
        }
    }

    /**
     * Chooses from all memories of a discussion.
     *
     * @param summary the current summary, or null
     * @param tracks the memories of each kind
     * @param last the largest number of the newest memories of each kind
     * @param leastTrust the least trust that a memory must have
     * @return the overview
     */
    public static Overview of(@Nullable MadeMemory summary, List<Track> tracks, int last, Trust leastTrust) {
        List<MadeMemory> memories = new ArrayList<>();
        Set<String> byHand = new HashSet<>();
        for (Track track : tracks) {
            List<MadeMemory> shown = MadeMemory.trusted(track.shown(), leastTrust);
            Set<MadeMemory> chosen = new HashSet<>(newest(shown, last));
            chosen.addAll(newest(shown.stream().filter(MadeMemory::pinned).toList(), LongTermMemoryReader.MAX_PINNED));
            Set<String> ends = new HashSet<>();
            track.path().forEach(step -> ends.add(step.passage().upTo()));
            shown.stream().filter(chosen::contains).forEach(memory -> {
                memories.add(memory);
                if (!ends.contains(memory.source().upTo())) {
                    byHand.add(memory.id());
                }
            });
        }
        return new Overview(summary, memories, byHand);
    }

    /** Returns the last of some memories. */
    static List<MadeMemory> newest(List<MadeMemory> memories, int last) {
        return memories.subList(Math.max(0, memories.size() - last), memories.size());
    }
}

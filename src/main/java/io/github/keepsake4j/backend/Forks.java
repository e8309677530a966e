package io.github.keepsake4j.backend;

import java.util.Collection;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Finds the forks of a memory's branches, for stores that know the runs of its tree. A run is a row of messages of
 * which each is the parent of the next one in sequence. So the cost depends on the number of forks, not of messages.
 * Immutable.
 */
public final class Forks {

    /**
     * One run of messages.
     *
     * @param start the sequence of its first message
     * @param parent the sequence of that message's parent, or 0 if it has none or the parent is missing
     * @param isAside whether the message that follows the parent in sequence is a child of it too
     */
    public record Run(long start, long parent, boolean isAside) {}

    private final NavigableMap<Long, Run> runs = new TreeMap<>();

    /** The number of runs that begin under a message, by its sequence. */
    private final NavigableMap<Long, Integer> below = new TreeMap<>();

    private Forks() {}

    /**
     * Finds the forks.
     *
     * @param runs all runs of a memory, in any order
     * @return the forks
     */
    public static Forks of(Collection<Run> runs) {
        Forks forks = new Forks();
        for (Run run : runs) {
            forks.runs.put(run.start(), run);
            if (run.parent() > 0) {
                forks.below.merge(run.parent(), 1, Integer::sum);
            }
        }
        return forks;
    }

    /**
     * Returns the oldest message of a branch that no other branch has. It begins a run, or follows the parent of a run.
     *
     * @param leaf the sequence of the branch's newest message
     * @return the message's sequence
     */
    public long first(long leaf) {
        for (long end = leaf; ; ) {
            Map.Entry<Long, Run> found = runs.floorEntry(end);
            if (found == null) {
                return leaf;
            }
            Run run = found.getValue();
            Long fork = below.lowerKey(end);
            if (fork != null && fork >= run.start()) {
                return fork + 1;
            }
            boolean isOnlyChild = run.parent() > 0
                    && run.parent() < run.start()
                    && !run.isAside()
                    && below.getOrDefault(run.parent(), 0) == 1;
            if (!isOnlyChild) {
                return run.start();
            }
            end = run.parent();
        }
    }
}

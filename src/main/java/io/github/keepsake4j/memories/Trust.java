package io.github.keepsake4j.memories;

import java.util.Collection;
import java.util.Comparator;

/** The author of a text, from the most trusted to the least. A memory has the least trust of its sources. */
public enum Trust {
    /** A user wrote it. */
    USER(0),

    /** A model wrote it. */
    ASSISTANT(1),

    /** A tool returned it. */
    TOOL(2),

    /** The text was retrieved from documents, or its source is not known. */
    RETRIEVED(3);

    private final int level;

    Trust(int level) {
        this.level = level;
    }

    /**
     * Returns the number by which stores compare. It never changes.
     *
     * @return 0 for the most trusted
     */
    public int level() {
        return level;
    }

    /**
     * Returns whether this trust is enough.
     *
     * @param least the least trust that is required
     * @return whether this is the same or more
     */
    public boolean isAtLeast(Trust least) {
        return level <= least.level;
    }

    /**
     * Returns the least of several.
     *
     * @param all any number of them
     * @return the least; {@link #RETRIEVED} if there is none
     */
    public static Trust least(Collection<Trust> all) {
        return all.stream().max(Comparator.comparingInt(Trust::level)).orElse(RETRIEVED);
    }
}

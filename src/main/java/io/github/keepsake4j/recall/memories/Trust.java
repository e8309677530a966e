package io.github.keepsake4j.recall.memories;

import java.util.Collection;

/** By whom a text was written, from the most trusted to the least. A memory has the least trust of its sources. */
public enum Trust {
    /** A user wrote it. */
    USER,

    /** A model wrote it. */
    ASSISTANT,

    /** A tool returned it. */
    TOOL,

    /** It was retrieved from documents, or its source is not known. */
    RETRIEVED;

    /**
     * Returns whether this trust is enough.
     *
     * @param least the least trust that is asked for
     * @return whether this is the same or more
     */
    public boolean isAtLeast(Trust least) {
        return compareTo(least) <= 0;
    }

    /**
     * Returns the least of several.
     *
     * @param all any number of them
     * @return the least; {@link #RETRIEVED} if there is none
     */
    public static Trust least(Collection<Trust> all) {
        return all.stream().max(Trust::compareTo).orElse(RETRIEVED);
    }
}

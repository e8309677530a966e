package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Ids;
import org.jspecify.annotations.Nullable;

/** The place where a batch is appended. */
public sealed interface Parent {

    /** The head. In an empty memory, the batch becomes the beginning. */
    record Head() implements Parent {}

    /** No parent: the batch begins a branch of its own. */
    record Root() implements Parent {}

    /**
     * A message.
     *
     * @param id the message's id; {@link Ids#BEFORE_IN_TIME} means the message with the highest sequence
     */
    record Of(String id) implements Parent {

        /** Checks the id. */
        public Of {
            Ids.check("parent id", id);
        }
    }

    /**
     * Returns the parent for appends under the head.
     *
     * @return the parent
     */
    static Parent head() {
        return new Head();
    }

    /**
     * Returns the parent for appends that begin a branch of their own.
     *
     * @return the parent
     */
    static Parent root() {
        return new Root();
    }

    /**
     * Returns the parent for appends under a message.
     *
     * @param id the message's id
     * @return the parent
     */
    static Parent of(String id) {
        return new Of(id);
    }

    /**
     * Returns the parent for appends behind a message, or for a beginning.
     *
     * @param id the message's id, or null to begin a branch
     * @return the parent
     */
    static Parent behind(@Nullable String id) {
        return id == null ? root() : of(id);
    }
}

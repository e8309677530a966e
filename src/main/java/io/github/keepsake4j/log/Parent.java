package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Ids;

/** Where a batch is appended. */
public sealed interface Parent {

    /** Under the head, or as the first message of an empty memory. */
    record Head() implements Parent {}

    /** Under nothing: it starts a branch of its own. */
    record Root() implements Parent {}

    /**
     * Under a message.
     *
     * @param id the message's id; {@link Ids#BEFORE_IN_TIME} means the message with the highest sequence
     */
    record Of(String id) implements Parent {

        /** Checks the parts. */
        public Of {
            Ids.check("parent id", id);
        }
    }

    /**
     * Under the head.
     *
     * @return the parent
     */
    static Parent head() {
        return new Head();
    }

    /**
     * Under nothing.
     *
     * @return the parent
     */
    static Parent root() {
        return new Root();
    }

    /**
     * Under a message.
     *
     * @param id the message's id
     * @return the parent
     */
    static Parent of(String id) {
        return new Of(id);
    }
}

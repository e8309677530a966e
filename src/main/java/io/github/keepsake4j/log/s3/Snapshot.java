package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.backend.MemoryTree.State;
import io.github.keepsake4j.message.UnreadableDataException;
import org.jspecify.annotations.Nullable;

/**
 * A memory as one answer of the bucket showed it. The tree is only read: a change works on another one.
 *
 * @param etag the document's etag, or null if there is no document
 * @param document the document, or {@link Document#NONE} if there is none or it cannot be read
 * @param tree the same memory, to be asked
 * @param standing the state of the document's object
 * @param problem why it cannot be read, or null
 */
record Snapshot(
        @Nullable String etag,
        Document document,
        MemoryTree tree,
        Standing standing,
        @Nullable UnreadableDataException problem) {

    /** The states of a document's object. */
    enum Standing {
        /** The memory, or no object. */
        IN_FORCE,
        /** The mark of an erasure that is under way. Only an erasure may overwrite it. */
        ERASING,
        /**
         * The document of a writer that did not see an erasure. The memory is empty; the object must be overwritten or
         * removed.
         */
        ERASED_BEFORE
    }

    /** Returns whether a document has no content, such as after the last lease of a memory without messages. */
    boolean isEmptiedBy(State state) {
        return etag != null
                && state.createdAt() == null
                && state.entries().isEmpty()
                && state.leases().isEmpty()
                && document.others().isEmpty()
                && document.othersInKeepsake().isEmpty();
    }

    /** Returns this snapshot, or throws if the memory cannot be read. */
    Snapshot readable() {
        if (problem != null) {
            // A new exception, since a stored one has the stack trace of an earlier call.
            throw new UnreadableDataException(String.valueOf(problem.getMessage()), problem);
        }
        return this;
    }
}

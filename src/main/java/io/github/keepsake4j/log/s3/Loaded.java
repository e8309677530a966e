package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.MemoryTree;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import org.jspecify.annotations.Nullable;

/**
 * A memory as one answer of the bucket showed it. The tree is only read from: a change works on a copy.
 *
 * @param etag the document's etag, or null if there is no document
 * @param document the memory, {@link Document#NONE} if there is no document or it cannot be read
 * @param tree the same, to be asked
 * @param problem why it cannot be read, or null
 */
record Loaded(@Nullable String etag, Document document, MemoryTree tree, @Nullable UnreadableDataException problem) {

    static Loaded of(MemoryKey key, @Nullable String etag, Document document) {
        return new Loaded(etag, document, new MemoryTree(key, Element.PAYLOADS, document.state()), null);
    }

    static Loaded unreadable(MemoryKey key, String etag, UnreadableDataException problem) {
        return new Loaded(etag, Document.NONE, new MemoryTree(key, Element.PAYLOADS), problem);
    }

    /** The memory, if it can be read. */
    Loaded readable() {
        if (problem != null) {
            // Made anew: one that is remembered would tell of the call that met it first.
            throw new UnreadableDataException(String.valueOf(problem.getMessage()), problem);
        }
        return this;
    }
}

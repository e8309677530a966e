package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.MemoryKey;
import java.util.function.Consumer;

/** Keeps long-term memories. */
public interface LongTermMemoryStore extends LongTermMemoryWriter, AutoCloseable {

    /**
     * Calls an action for each of a tenant's discussions with stored data, in any order. A discussion that is changed
     * meanwhile may be left out.
     *
     * @param tenant the tenant's id
     * @param action called with the discussion; may erase it
     */
    void discussions(String tenant, Consumer<MemoryKey> action);

    /**
     * Frees the space of removed rows and overwrites their remains in files, as far as the store can. It may take
     * long and may block other callers.
     */
    void compact();

    /**
     * Names the store, for reports and the tag {@code backend} of metrics.
     *
     * @return a short name in lower case such as {@code file}
     */
    String backend();

    /** Releases connections and files. Idempotent. A data source that the user passed stays open. */
    @Override
    void close();
}

package io.github.keepsake4j.memories;

import io.github.keepsake4j.message.MemoryKey;
import java.util.function.Consumer;

/** Keeps memories that were made. */
public interface MemoryStore extends MemoryWriter, AutoCloseable {

    /**
     * Names the discussions of a tenant of which something is kept, in any order. One that is changed meanwhile may be missed.
     *
     * @param tenant the tenant's id
     * @param action is called for each, and may erase it
     */
    void discussions(String tenant, Consumer<MemoryKey> action);

    /**
     * Gives the space of removed rows back and overwrites what is left of them in files, as far as the storage can. It may take
     * long and may keep others waiting.
     */
    void compact();

    /**
     * Names the storage, for reports.
     *
     * @return a short name in lower case such as {@code file}
     */
    String backend();

    /** Releases connections and files. Idempotent. A data source that the user passed stays open. */
    @Override
    void close();
}

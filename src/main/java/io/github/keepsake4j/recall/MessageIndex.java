package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Keeps which terms occur in which messages of a log. An index is made from the log in the background, never contains a
 * message's text or id, and can be dropped and made again while no process uses it. It serves any log. What it tells of one tenant
 * does not depend on others.
 *
 * <p>Every method is atomic and thread-safe, also across processes that share the storage. It throws
 * {@link StorageUnavailableException} (retryable) if the storage cannot be reached, and {@link UnreadableDataException} if what is
 * stored is damaged; {@link #clear} makes it usable again.
 */
public interface MessageIndex extends AutoCloseable {

    /** The largest number of terms that {@link #match} takes. */
    int MAX_TERMS = 1_000;

    /**
     * Says by which words terms are made. The first call for an empty index stores it.
     *
     * @param fingerprint a text that differs for words that make other terms
     * @throws KeepsakeException if the index was made by other words; {@link #clear} it or use another one
     */
    void open(String fingerprint);

    /**
     * Returns how far memories are indexed.
     *
     * @param keys the memories
     * @return the watermarks of those of which anything is indexed
     */
    Map<MemoryKey, Watermark> watermarks(Collection<? extends MemoryKey> keys);

    /**
     * Adds messages and moves the watermark in one step, if it was not moved in the meantime.
     *
     * @param key the memory
     * @param before the watermark that the caller has seen, or null for none
     * @param after the new watermark, of the same epoch as {@code before}
     * @param messages the messages behind {@code before} and up to {@code after}, in order of sequence; those without
     *     terms may be left out
     * @return false if the watermark is another one; then nothing was changed
     */
    boolean add(MemoryKey key, @Nullable Watermark before, Watermark after, List<IndexedMessage> messages);

    /**
     * Removes all that is kept of a memory. Its terms are then in no row. Does nothing if nothing is kept.
     *
     * @param key the memory
     */
    void remove(MemoryKey key);

    /**
     * Removes everything, also what {@link #open} stored. A damaged SQLite file is moved aside, to its name with
     * {@code .damaged}, and a new one is begun; best while no other process opens it.
     *
     * @throws UnreadableDataException if a damaged file has tables that are not the index's. Nothing was changed then
     */
    void clear();

    /**
     * Gives the space of removed rows back and overwrites what is left of them in files, as far as the storage can. It may
     * take long and may keep others waiting.
     */
    void compact();

    /**
     * Lists the tenants of which anything is indexed.
     *
     * @return their ids, in any order
     */
    List<String> tenants();

    /**
     * Lists the memories of a tenant of which anything is indexed.
     *
     * @param tenant the tenant's id
     * @param after the number of the last memory of the page before, or 0 for the first page
     * @param limit the largest number of memories, 1 or more
     * @return the memories by their numbers, in rising order; fewer than the limit on the last page
     */
    Map<Long, MemoryKey> memories(String tenant, long after, int limit);

    /**
     * Returns the memories of numbers that {@link Posting#memory()} has.
     *
     * @param numbers the numbers
     * @return the memories; those that were removed are absent
     */
    Map<Long, MemoryKey> keys(Collection<Long> numbers);

    /**
     * Reads the postings of terms. Costs are bounded: postings are read from the rarest term on, up to the limit. Of the
     * first term with which they would be more, each memory gives its newest ones, in proportion. Of further terms only
     * the frequency is told. If more memories have a term than the limit, those that were first indexed last are read.
     *
     * @param scope where to look
     * @param terms the terms, at most {@value #MAX_TERMS}
     * @param maxPostings the largest number of postings, 1 or more; each memory may add one to it
     * @return what was found
     */
    Matches match(Scope scope, Collection<String> terms, int maxPostings);

    /**
     * Names the storage, for reports.
     *
     * @return a short name in lower case such as {@code sqlite}
     */
    String backend();

    /** Releases connections and files. Idempotent. A data source that the user passed stays open. */
    @Override
    void close();

    /**
     * Checks the words of an index.
     *
     * @param known the fingerprint of those by which it was made
     * @param fingerprint that of those by which it is opened
     * @throws KeepsakeException if they are others
     */
    static void checkWords(String known, String fingerprint) {
        if (!known.equals(fingerprint)) {
            throw new KeepsakeException(
                    "The index was made by other words (" + known + ", now " + fingerprint
                            + "); clear() it, so that it is made again, or use another one",
                    null);
        }
    }
}

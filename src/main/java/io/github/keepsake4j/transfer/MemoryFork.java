package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Forks a memory: the branch up to a message becomes another memory. The fork has the messages of that branch with their times,
 * token counts, outcomes and kept requests, the views, summaries and named branches that end on it, and title and
 * metadata. Its head is the message. Both memories are then independent, and erasing one does not erase the other.
 *
 * <p>The messages of the fork have ids of their own, which derive from the fork and the ids in the original. So the
 * same fork can be made again: an interrupted fork continues, and a finished one is not changed, even if it has grown
 * since. The sources of answers name the messages of the fork. Usage stays with the original, so that it is counted
 * once.
 *
 * <p>The metadata of the fork name its origin: {@link #MEMORY} and {@link #MESSAGE}.
 */
public final class MemoryFork {

    /** The name of the metadata with the {@linkplain MemoryKey#canonical() canonical text} of the original's key. */
    public static final String MEMORY = "keepsake.fork.memory";

    /** The name of the metadata with the id of the fork's newest message in the original. */
    public static final String MESSAGE = "keepsake.fork.message";

    /** The name of the metadata that mark an unfinished fork. */
    private static final String UNFINISHED = "keepsake.fork.unfinished";

    private MemoryFork() {}

    /**
     * Forks a memory. The same fork must not be made twice at the same time.
     *
     * @param log the log that keeps both
     * @param from the original, which is only read
     * @param messageId the newest message of the fork, on any branch of the original
     * @param into the fork, of the same tenant; it has no messages, or is this fork
     * @throws InvalidInputException if both are the same, or of different tenants
     * @throws UnknownMessageException if the message is not in the original
     * @throws ErasedException if the fork is erased meanwhile; it stays erased
     * @throws KeepsakeException if {@code into} has messages of its own; it is unchanged
     */
    public static void create(MessageLog log, MemoryKey from, String messageId, MemoryKey into) {
        InvalidInputException.given("messageId", messageId);
        if (from.equals(into)) {
            throw new InvalidInputException("newMemoryId", "must not be the memory that is forked, " + from);
        }
        if (!from.tenant().equals(into.tenant())) {
            throw new InvalidInputException("newMemoryId", "must have the tenant of " + from + ", is " + into);
        }
        Map<String, String> origin = Map.of(MEMORY, from.canonical(), MESSAGE, messageId);
        MemoryTarget target = MemoryTarget.of(log, into);
        MemoryInfo there = Reads.info(log, into);
        Map<String, String> known = there == null ? Map.of() : there.metadata();
        boolean isIt = known.entrySet().containsAll(origin.entrySet());
        if (isIt && !known.containsKey(UNFINISHED)) {
            return;
        }
        if (!isIt && target.newest() != null) {
            throw new KeepsakeException("Memory " + into + " has messages and is not the fork of " + from
                    + " at message " + messageId + ". Fork into a new memory");
        }
        ForkedBranch branch = new ForkedBranch(log, from, messageId, into);
        BesideMessages beside = branch.beside();
        Map<String, String> metadata = new HashMap<>(beside.metadata());
        metadata.putAll(known);
        metadata.putAll(origin);
        metadata.put(UNFINISHED, "true");
        // A failed fork has only the messages of its original.
        Map<String, @Nullable String> begun = new HashMap<>(origin);
        begun.put(UNFINISHED, "true");
        target.mergeMetadata(begun);
        branch.read(target::append);
        target.complete(beside.with(title(there, beside), metadata));
        target.mergeMetadata(Collections.singletonMap(UNFINISHED, null));
    }

    private static @Nullable String title(@Nullable MemoryInfo there, BesideMessages beside) {
        return there == null || there.title() == null ? beside.title() : there.title();
    }
}

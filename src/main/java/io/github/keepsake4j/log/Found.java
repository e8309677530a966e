package io.github.keepsake4j.log;

import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message that was found.
 *
 * @param message the message
 * @param made how the answer was made, or null if nothing is known or the {@link Selection} did not ask
 */
public record Found(LoggedMessage message, @Nullable Made made) {

    /** Checks the components. */
    public Found {
        Objects.requireNonNull(message, "message");
    }

    /**
     * Reads how messages of one memory were made.
     *
     * @param log the log
     * @param key the memory
     * @param ids the messages' ids
     * @return for each id what is known, or {@link Made#NOTHING}
     * @throws UnknownMessageException if a message is not in the memory
     */
    public static Map<String, Made> made(MessageLog log, MemoryKey key, Collection<String> ids) {
        Map<String, Made> made = new HashMap<>();
        log.find(Selection.ofIds(Map.of(key, ids)).withMade())
                .getOrDefault(key, List.of())
                .forEach(found -> made.put(found.message().id(), found.made() == null ? Made.NOTHING : found.made()));
        for (String id : ids) {
            if (!made.containsKey(id)) {
                throw UnknownMessageException.notThere(key, "messageId", id);
            }
        }
        return made;
    }

    /**
     * Finds messages of one memory by their ids, without how they were made.
     *
     * @param log the log
     * @param key the memory
     * @param ids the ids
     * @return the messages that are there, in order of sequence
     */
    public static List<LoggedMessage> messages(MessageLog log, MemoryKey key, Collection<String> ids) {
        return log.find(Selection.ofIds(Map.of(key, ids))).getOrDefault(key, List.of()).stream()
                .map(Found::message)
                .toList();
    }
}

package io.github.keepsake4j.chat;

import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;

/**
 * Receives the messages that the next view of a chat memory leaves out for the first time. A message leaves with its
 * whole turn, when the strategy no longer shows the turn's user message or a summary replaces it. Messages that are
 * shown only because they are pinned are reported too. System messages are not reported.
 *
 * <p>Each message is reported at least once. It is reported again if this method throws, if the process ends before the
 * return of the method was stored, if several processes use the memory at the same time, or if the conversation
 * continues from an older message. A memory that had messages before the listener was set is reported from its
 * beginning. Missing reports follow after the next read of the memory by an AI service or
 * {@link KeepsakeChatMemory#messages()}. The messages stay in the history.
 *
 * <p>Must be thread-safe: memories, and the named branches of a memory, are reported concurrently.
 */
@FunctionalInterface
public interface LeavingViewListener {

    /**
     * Receives messages that leave the view. Runs in the background. No turn waits for it or fails with it, as long as the
     * builder's executor does not run its tasks on the caller's thread.
     *
     * @param key the memory
     * @param messages the messages as they are stored, oldest first; at least one, and at most 200 in one call
     */
    void leaving(MemoryKey key, List<LoggedMessage> messages);
}

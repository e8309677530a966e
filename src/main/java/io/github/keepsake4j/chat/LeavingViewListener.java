package io.github.keepsake4j.chat;

import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;

/**
 * Is told which messages the next view of a chat memory leaves out for the first time. A message leaves with its whole turn,
 * when the strategy does not show the turn's user message any more or a summary takes its place. What is shown only because
 * it is pinned is told too. System messages are not.
 *
 * <p>Each message is told at least once. It is told again if this method throws, if the process ends before the method has
 * returned and this was stored, if several processes use the memory at the same time, or if the conversation goes on from an
 * older message. A memory that had messages before the listener was set is told from its beginning. What was not told is
 * told after the next time that the memory is read by an AI service or {@link KeepsakeChatMemory#messages()}. The messages
 * stay in the history.
 *
 * <p>Must be thread-safe: memories, and the named branches of a memory, are told of concurrently.
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

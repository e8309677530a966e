package io.github.keepsake4j.memories;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Checks which memories belong to the conversation's current branch. A memory belongs to it if the last of its source
 * messages is on the branch; then all its source messages are. Memories whose messages have no ids, and memories that
 * were made by hand, belong to every branch of a conversation that was not erased.
 *
 * <p>Usually this costs one read of the messages behind the newest memory. The whole branch is read only if that memory
 * is on another branch.
 *
 * @param stale receives the conversations whose newest memories do not belong to the branch
 */
record BranchCheck(Function<MemoryKey, MessageLog> logs, LongTermMemoryReader reader, Consumer<MemoryKey> stale) {

    /** Returns those memories of one kind that belong to the branch. */
    List<MadeMemory> onBranch(MemoryKey key, List<MadeMemory> memories) {
        if (memories.isEmpty()) {
            return memories;
        }
        Predicate<MadeMemory> isOn = of(key, memories);
        return memories.stream().filter(isOn).toList();
    }

    /**
     * Returns a predicate that checks whether a memory belongs to the branch.
     *
     * @param memories the memories, of one kind; a summary is looked up like its chunks
     */
    private Predicate<MadeMemory> of(MemoryKey key, List<MadeMemory> memories) {
        MadeMemory.Kind kind = memories.get(0).kind();
        MadeMemory.Kind track = kind == MadeMemory.Kind.SUMMARY ? MadeMemory.Kind.CHUNK : kind;
        List<Progress.Step> path = reader.progress(key, track).path();
        String newest =
                path.isEmpty() ? null : path.get(path.size() - 1).passage().lastMessageId();
        if (newest != null) {
            if (isOn(key, newest)) {
                Set<String> ends =
                        path.stream().map(step -> step.passage().upTo()).collect(Collectors.toSet());
                // A correction is on no path, but has the same messages as the memory that it replaced.
                return memory -> {
                    String last = memory.source().lastMessageId();
                    return last == null || ends.contains(memory.source().upTo()) || isOn(key, last);
                };
            }
            // It is on another branch, or the conversation was erased. Then older memories may still be valid.
            stale.accept(key);
        }
        boolean haveSources =
                memories.stream().anyMatch(memory -> memory.source().lastMessageId() != null);
        Tail tail = logs.apply(key).read(key, haveSources ? ReadQuery.wholeBranch() : ReadQuery.newest(1));
        if (tail.messages().isEmpty() && tail.epoch() > 1) {
            // The conversation was erased.
            return memory -> false;
        }
        Set<String> ids = tail.messages().stream().map(LoggedMessage::id).collect(Collectors.toSet());
        return memory -> {
            String last = memory.source().lastMessageId();
            return last == null || ids.contains(last);
        };
    }

    /**
     * Checks that what is added by hand will be shown. Nothing is shown between an erasure and the next message, since what
     * was made before may be left.
     */
    void checkNotErased(MemoryKey key) {
        Tail tail = logs.apply(key).read(key, ReadQuery.newest(1));
        if (tail.messages().isEmpty() && tail.epoch() > 1) {
            throw new InvalidInputException(
                    "memory id",
                    key + " was erased and has no message since; add a message before you remember anything");
        }
    }

    /** Returns whether a message is on the branch, which costs one read. */
    private boolean isOn(MemoryKey key, String messageId) {
        try {
            return logs.apply(key)
                            .read(key, ReadQuery.newest(1).after(messageId))
                            .head()
                    != null;
        } catch (UnknownMessageException e) {
            return false;
        }
    }
}

package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which stored message each instance is that was given out of one memory, for as long as whoever got it keeps it: a list
 * may come back after somebody else has set another one. Thread-safe.
 */
final class Issued {

    /** A key for a map: the same instance, or nothing. */
    private static final class Instance extends WeakReference<ChatMessage> {
        private final int hash;

        Instance(ChatMessage message, @Nullable ReferenceQueue<ChatMessage> queue) {
            super(message, queue);
            this.hash = System.identityHashCode(message);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return this == other || (other instanceof Instance that && get() != null && get() == that.get());
        }
    }

    /** The stored message without its content, which would keep the instance alive; its hash tells of changes in place. */
    private record Stored(LoggedMessage row, int hash) {}

    private static final ChatMessage NO_CONTENT = UserMessage.from("");

    private final Map<Instance, Stored> stored = new HashMap<>();
    private final ReferenceQueue<ChatMessage> gone = new ReferenceQueue<>();

    /**
     * Adds what was given out.
     *
     * @param missingParent the id of a parent that is not there, or null: whoever finds its child finds a root
     */
    synchronized void add(List<LoggedMessage> messages, @Nullable String missingParent) {
        clean();
        for (LoggedMessage message : messages) {
            stored.put(
                    new Instance(message.message(), gone),
                    new Stored(
                            ViewChange.rooted(message, missingParent).withMessage(NO_CONTENT),
                            message.message().hashCode()));
        }
    }

    /** The stored message that an instance was given out for, or null if it was not or has changed since. */
    synchronized @Nullable LoggedMessage find(ChatMessage instance) {
        Stored found = stored.get(new Instance(instance, null));
        return found == null || found.hash() != instance.hashCode()
                ? null
                : found.row().withMessage(instance);
    }

    /** Whether an instance was given out, changed since or not. */
    synchronized boolean holds(ChatMessage instance) {
        return stored.containsKey(new Instance(instance, null));
    }

    /** Takes over the instances of another one. */
    void addAll(Issued other) {
        IdentityHashMap<ChatMessage, Stored> instances = other.instances();
        synchronized (this) {
            clean();
            instances.forEach((instance, row) -> stored.put(new Instance(instance, gone), row));
        }
    }

    private synchronized IdentityHashMap<ChatMessage, Stored> instances() {
        IdentityHashMap<ChatMessage, Stored> instances = new IdentityHashMap<>();
        stored.forEach((key, row) -> {
            ChatMessage instance = key.get();
            if (instance != null) {
                instances.put(instance, row);
            }
        });
        return instances;
    }

    private void clean() {
        for (Reference<? extends ChatMessage> instance = gone.poll(); instance != null; instance = gone.poll()) {
            stored.remove(instance);
        }
    }
}

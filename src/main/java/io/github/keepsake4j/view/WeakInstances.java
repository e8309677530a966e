package io.github.keepsake4j.view;

import dev.langchain4j.data.message.ChatMessage;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Maps instances of messages to their data, for as long as a caller keeps the instance. Equal messages are different
 * instances. Thread-safe.
 *
 * @param <T> one thing that is known of an instance
 */
final class WeakInstances<T> {

    /** The maximum number of things that are kept for one instance. An application's constant may be used many times. */
    private static final int MOST = 16;

    /** A key of the map. It equals only a key of the same instance. */
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

    private final Map<Instance, List<T>> known = new ConcurrentHashMap<>();
    private final ReferenceQueue<ChatMessage> gone = new ReferenceQueue<>();

    /** Removes the instances that no caller keeps. */
    void clean() {
        for (Reference<? extends ChatMessage> old = gone.poll(); old != null; old = gone.poll()) {
            known.remove(old);
        }
    }

    /** Returns what is known of an instance. */
    List<T> get(ChatMessage message) {
        return known.getOrDefault(new Instance(message, null), List.of());
    }

    /** Changes what is known of an instance. Keeps the newest, which is at the end. */
    void change(ChatMessage message, UnaryOperator<List<T>> change) {
        known.compute(new Instance(message, gone), (instance, before) -> {
            List<T> after = change.apply(before == null ? List.of() : before);
            return after.isEmpty() ? null : List.copyOf(after.subList(Math.max(0, after.size() - MOST), after.size()));
        });
    }

    /** Returns the number of known instances. */
    int size() {
        return known.size();
    }
}

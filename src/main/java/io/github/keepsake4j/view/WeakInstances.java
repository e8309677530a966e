package io.github.keepsake4j.view;

import dev.langchain4j.data.message.ChatMessage;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Maps instances of messages to their data, for as long as a caller keeps the instance. Equal messages are different
 * instances. Thread-safe.
 *
 * @param <V> what is known of an instance
 */
final class WeakInstances<V> {

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

    private final Map<Instance, V> known = new ConcurrentHashMap<>();
    private final ReferenceQueue<ChatMessage> gone = new ReferenceQueue<>();

    /** Removes the instances that no caller keeps. */
    private void clean() {
        for (Reference<? extends ChatMessage> old = gone.poll(); old != null; old = gone.poll()) {
            known.remove(old);
        }
    }

    /** Returns the data of an instance, or null. */
    @Nullable
    V get(ChatMessage message) {
        return known.get(new Instance(message, null));
    }

    /** Records a value, or the result of merging it with the known one. */
    void merge(ChatMessage message, V value, BinaryOperator<V> merge) {
        clean();
        known.merge(new Instance(message, gone), value, merge);
    }

    /** Changes the data of an instance, if there is any. */
    void change(ChatMessage message, UnaryOperator<V> change) {
        known.computeIfPresent(new Instance(message, null), (instance, value) -> change.apply(value));
    }

    /** Returns the number of known instances. */
    int size() {
        return known.size();
    }
}

package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.lang.ref.SoftReference;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What memories handed out last, for the few that are in a turn. Only a help: what is not found here is counted anew.
 * Thread-safe.
 */
final class RecentContexts {

    private static final int MEMORIES = 1000;

    private final Map<MemoryKey, SoftReference<Context>> contexts = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<MemoryKey, SoftReference<Context>> eldest) {
            return size() > MEMORIES;
        }
    };

    synchronized void put(MemoryKey key, Context context) {
        contexts.remove(key);
        contexts.put(key, new SoftReference<>(context));
    }

    synchronized @Nullable Context get(MemoryKey key) {
        SoftReference<Context> context = contexts.get(key);
        return context == null ? null : context.get();
    }

    /** The messages of a context by the instance that was handed out. */
    static IdentityHashMap<ChatMessage, LoggedMessage> byInstance(@Nullable Context context) {
        IdentityHashMap<ChatMessage, LoggedMessage> messages = new IdentityHashMap<>();
        if (context != null) {
            context.shown().forEach(message -> messages.put(message.message(), message));
        }
        return messages;
    }
}

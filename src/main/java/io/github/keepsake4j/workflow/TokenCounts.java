package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Instant;

/**
 * Returns the sizes of messages by one counter. Messages that another counter counted are counted again, and the result
 * is remembered within a bound. Messages that are written are counted by a local counter, because the first counter may
 * call a server. Thread-safe.
 */
final class TokenCounts {

    private static final int REMEMBERED = 10_000;

    /**
     * The key of a remembered count. It contains the time because after an erasure an id can be used again for another
     * message.
     */
    private record Counted(MemoryKey key, String id, Instant createdAt) {}

    private final TokenCounter counter;
    private final TokenCounter writing;

    private final RecentlyUsed<Counted, Integer> recounted = new RecentlyUsed<>(REMEMBERED);

    TokenCounts(TokenCounter counter, TokenCounter writing) {
        this.counter = counter;
        this.writing = writing;
    }

    int of(MemoryKey key, LoggedMessage logged) {
        if (logged.tokenCounter().equals(counter.name())) {
            return logged.tokens();
        }
        Counted message = new Counted(key, logged.id(), logged.createdAt());
        Integer known = recounted.get(message);
        if (known == null) {
            // The message is counted without holding a lock, because the counter may call a server.
            known = of(logged.message());
            recounted.put(message, known);
        }
        return known;
    }

    int of(ChatMessage message) {
        return counter.count(message).tokens();
    }

    NewMessage prepare(String id, ChatMessage message) {
        TokenCounter.Count count = writing.count(message);
        return new NewMessage(id, message, count.tokens(), count.counter(), null);
    }

    int perList() {
        return counter.tokensPerList();
    }
}

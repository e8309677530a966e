package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.tokens.TokenSizes;

/**
 * Returns the sizes of messages by one counter, which may call a server. Messages that are written are counted by a
 * local counter. Thread-safe.
 */
final class TokenCounts {

    private final TokenCounter counter;
    private final TokenCounter writing;
    private final io.github.keepsake4j.tokens.TokenCounts counts = new io.github.keepsake4j.tokens.TokenCounts();

    TokenCounts(TokenCounter counter, TokenCounter writing) {
        this.counter = counter;
        this.writing = writing;
    }

    /** Returns the sizes for one read of a memory. */
    TokenSizes reading(MemoryKey key) {
        return counts.of(key);
    }

    long of(TokenSizes sizes, LoggedMessage logged) {
        return sizes.of(counter, logged);
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

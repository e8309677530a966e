package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.tokens.TokenSizes;
import java.util.function.Function;

/**
 * Returns the sizes of messages and texts by one counter, which may call a server. Messages that are written are counted by a
 * local counter. Thread-safe.
 */
final class NodeTokenCounts {

    private final TokenCounter counter;
    private final TokenCounter writing;
    private final Function<Object, TokenSizes> counts = TokenSizes.kept();

    NodeTokenCounts(TokenCounter counter, TokenCounter writing) {
        this.counter = counter;
        this.writing = writing;
    }

    /** Returns the sizes for one read of a memory. */
    TokenSizes reading(MemoryKey key) {
        return counts.apply(key);
    }

    /** Returns the sizes for messages that are not stored. */
    TokenSizes once() {
        return counts.apply("");
    }

    long of(TokenSizes sizes, LoggedMessage logged) {
        return sizes.of(counter, logged);
    }

    long of(TokenSizes sizes, ChatMessage message) {
        return sizes.of(counter, message);
    }

    long of(TokenSizes sizes, String text) {
        return sizes.of(counter, text);
    }

    long perList(TokenSizes sizes) {
        return sizes.perList(counter);
    }

    NewMessage prepare(String id, ChatMessage message) {
        TokenCounter.Count count = writing.count(message);
        return new NewMessage(id, message, count.tokens(), count.counter(), null);
    }
}

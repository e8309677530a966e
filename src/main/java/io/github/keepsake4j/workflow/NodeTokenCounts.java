package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.tokens.TokenSizes;
import java.util.function.Function;

/**
 * Returns the sizes of messages and texts by one counter, which may call a server. Messages that are written are counted by a
 * local counter. Thread-safe.
 *
 * @param counter counts what is read
 * @param writing counts what is written
 * @param kept returns the sizes that are known of a memory
 */
record NodeTokenCounts(TokenCounter counter, TokenCounter writing, Function<Object, TokenSizes> kept) {

    NodeTokenCounts(TokenCounter counter, TokenCounter writing) {
        this(counter, writing, TokenSizes.kept());
    }

    /** Returns the sizes for one read of a memory. */
    TokenSizes reading(MemoryKey key) {
        return kept.apply(key);
    }

    /** Returns the sizes for messages that are not stored. */
    TokenSizes once() {
        return kept.apply("");
    }

    NewMessage prepare(String id, ChatMessage message) {
        TokenCounter.Count count = writing.count(message);
        return new NewMessage(id, message, count.tokens(), count.counter(), null);
    }
}

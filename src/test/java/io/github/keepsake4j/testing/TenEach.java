package io.github.keepsake4j.testing;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.model.TokenCountEstimator;

/** An estimator that counts ten tokens for each message, so that a token limit is a limit of messages. */
public final class TenEach implements TokenCountEstimator {

    /** Returns a limit with room for a number of messages and not for one more. */
    public static int tokens(int messages) {
        return 3 + 10 * messages + 5;
    }

    @Override
    public int estimateTokenCountInText(String text) {
        return 10;
    }

    @Override
    public int estimateTokenCountInMessage(ChatMessage message) {
        return 10;
    }

    @Override
    public int estimateTokenCountInMessages(Iterable<ChatMessage> messages) {
        int tokens = 3;
        for (ChatMessage ignored : messages) {
            tokens += 10;
        }
        return tokens;
    }
}

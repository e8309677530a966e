package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.rag.content.injector.DefaultContentInjector;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MessageText;
import io.github.keepsake4j.recall.words.Token;
import io.github.keepsake4j.recall.words.Words;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The text of a message by which it is found. */
final class IndexedText {

    private IndexedText() {}

    /** The text that LangChain4j's default template writes between a user's text and the retrieved contents. */
    private static final String BEFORE_RETRIEVED = DefaultContentInjector.DEFAULT_PROMPT_TEMPLATE
            .template()
            .replace("{{userMessage}}", "")
            .replace("{{contents}}", "");

    /**
     * Returns the text of a message, with spaces in place of texts that were recalled, remembered or retrieved for it.
     *
     * @param message any message
     * @return its texts, one after the other; empty if it has none
     */
    static String of(ChatMessage message) {
        String text = Fence.MEMORIES.blank(Fence.RECALLED.blank(MessageText.of(message)));
        int retrieved = message instanceof UserMessage ? text.indexOf(BEFORE_RETRIEVED) : -1;
        return retrieved < 0 ? text : text.substring(0, retrieved) + " ".repeat(text.length() - retrieved);
    }

    /** Splits a message into the terms that an index keeps. */
    static IndexedMessage split(LoggedMessage message, Words words) {
        String text = of(message.message());
        List<Token> tokens = words.tokens(text);
        Map<String, Integer> terms = new HashMap<>();
        tokens.forEach(token -> terms.merge(token.term(), 1, Integer::sum));
        words.beginnings(text).forEach(token -> terms.merge(token.term(), 1, Integer::sum));
        // No database keeps these.
        terms.keySet().removeIf(term -> term.isEmpty() || term.indexOf('\0') >= 0);
        return new IndexedMessage(message.sequence(), message.message().type(), tokens.size(), terms);
    }
}

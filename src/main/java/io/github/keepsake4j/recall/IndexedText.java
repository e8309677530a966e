package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.Token;
import io.github.keepsake4j.text.OwnText;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The text of a message by which it is found. */
final class IndexedText {

    private IndexedText() {}

    /**
     * Returns the text by which a message is found: what its user wrote, or all texts that no retrieval added. An added
     * text that was recognized is blanked.
     */
    static String of(LoggedMessage message) {
        String own = message.textForModels();
        return own == null ? OwnText.blanked(message.message()) : own;
    }

    /** Returns the text of a message that says something: one of the user or of the model that is not blank. */
    static Optional<String> said(LoggedMessage message) {
        boolean speaks = message.message() instanceof UserMessage || message.message() instanceof AiMessage;
        return speaks ? Optional.of(of(message)).filter(text -> !text.isBlank()) : Optional.empty();
    }

    /** Splits a message into the terms that an index keeps. What was said also has the term of its day in UTC. */
    static IndexedMessage split(LoggedMessage message, Words words) {
        String text = of(message);
        List<Token> tokens = words.tokens(text);
        Map<String, Integer> terms = new HashMap<>();
        tokens.forEach(token -> terms.merge(token.term(), 1, Integer::sum));
        words.beginnings(text).forEach(token -> terms.merge(token.term(), 1, Integer::sum));
        if (said(message).isPresent()) {
            terms.put(words.dayTerm(LocalDate.ofInstant(message.createdAt(), ZoneOffset.UTC)), 1);
        }
        // No database keeps these.
        terms.keySet().removeIf(term -> term.isEmpty() || term.indexOf('\0') >= 0);
        return new IndexedMessage(message.sequence(), message.message().type(), tokens.size(), terms);
    }
}

package io.github.keepsake4j.memories;

import dev.langchain4j.model.TokenCountEstimator;
import java.text.BreakIterator;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Splits a text that is too long for one call of a workflow.
 *
 * @param maxTokens the largest size of a part; a part of one character may be larger
 */
record TextParts(int maxTokens, TokenCountEstimator estimator) {

    /**
     * Returns the parts of a text: whole sentences, and pieces of a sentence that is too long. Joined, the parts are
     * the text.
     */
    List<String> of(String text) {
        List<String> parts = new ArrayList<>();
        StringBuilder part = new StringBuilder();
        int size = 0;
        for (String piece : pieces(text)) {
            int tokens = estimator.estimateTokenCountInText(piece);
            if (!part.isEmpty() && size + tokens > maxTokens) {
                parts.add(part.toString());
                part.setLength(0);
                size = 0;
            }
            part.append(piece);
            size += tokens;
        }
        parts.add(part.toString());
        return List.copyOf(parts);
    }

    private List<String> pieces(String text) {
        List<String> pieces = new ArrayList<>();
        BreakIterator sentences = BreakIterator.getSentenceInstance(Locale.ROOT);
        sentences.setText(text);
        int begin = 0;
        for (int end = sentences.next(); end != BreakIterator.DONE; end = sentences.next()) {
            halve(text.substring(begin, end), pieces);
            begin = end;
        }
        return pieces;
    }

    /** Adds a sentence. Halves it while it is too long, behind a space if there is one near. */
    private void halve(String sentence, List<String> pieces) {
        int middle = sentence.length() / 2;
        if (Character.isLowSurrogate(sentence.charAt(middle))) {
            middle++;
        }
        if (middle == 0 || middle == sentence.length() || estimator.estimateTokenCountInText(sentence) <= maxTokens) {
            pieces.add(sentence);
            return;
        }
        int space = sentence.lastIndexOf(' ', middle - 1) + 1;
        int cut = space > sentence.length() / 4 ? space : middle;
        halve(sentence.substring(0, cut), pieces);
        halve(sentence.substring(cut), pieces);
    }
}

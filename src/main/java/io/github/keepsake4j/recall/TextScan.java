package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.Recalled.Excerpt;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.SomeTokens;
import io.github.keepsake4j.recall.words.Words.Token;
import io.github.keepsake4j.recall.words.Words.WantedTerms;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Finds the words of a question in texts. All of them together may be too long to be split for each question. Then only
 * the parts of the longest ones are split in which a word of the question seems to be.
 */
final class TextScan {

    /**
     * The number of UTF-16 code units that are split for one recall. The worst text of this length takes about 0.3
     * seconds on one core, and ordinary text a tenth of it.
     */
    static final int MAX_SPLIT = 200_000;

    private final Words words;
    private final WantedTerms wanted;
    private final Beginnings beginnings;
    private final Matches statistics;
    private final int most;

    /**
     * Prepares for the texts of one recall.
     *
     * @param question the question
     * @param words splits the texts
     * @param statistics tells which words are rare
     * @param lengths the lengths of all texts
     */
    TextScan(Question question, Words words, Matches statistics, IntStream lengths) {
        this.words = words;
        this.statistics = statistics;
        wanted = WantedTerms.of(question.terms());
        beginnings = Beginnings.of(question, statistics);
        most = most(lengths.sorted().toArray());
    }

    /** Returns the number of code units to split of each text, so that short texts leave their share to long ones. */
    private static int most(int[] sorted) {
        int left = MAX_SPLIT;
        for (int i = 0; i < sorted.length; i++) {
            int share = left / (sorted.length - i);
            if (sorted[i] > share) {
                return share;
            }
            left -= sorted[i];
        }
        return MAX_SPLIT;
    }

    /** Returns the parts of a text that are split. */
    List<Excerpt> parts(String text) {
        return text.length() <= most ? List.of(new Excerpt(0, text.length())) : beginnings.parts(text, most);
    }

    /**
     * Splits parts of a text and keeps the terms of the question.
     *
     * @param text any text
     * @param parts what {@link #parts} returned for it
     * @return the terms, with their places in the text; the number of all terms is estimated if some parts were left out
     */
    SomeTokens tokens(String text, List<Excerpt> parts) {
        List<Token> tokens = new ArrayList<>();
        long total = 0;
        int read = 0;
        for (Excerpt part : parts) {
            SomeTokens split = words.tokens(text.substring(part.start(), part.end()), wanted);
            split.tokens()
                    .forEach(token -> tokens.add(new Token(
                            token.term(), part.start() + token.start(), part.start() + token.end(), token.kind())));
            total += split.total();
            read += part.end() - part.start();
        }
        return new SomeTokens(tokens, (int) (total * text.length() / Math.max(1, read)));
    }

    /**
     * Returns the part of a text that has the most and rarest terms of the question.
     *
     * @param text the text
     * @param tokens the terms of the question in it
     * @param length the number of UTF-16 code units to return, about; 1 or more
     * @return the part; the beginning of the text if it has no term
     */
    Excerpt excerpt(String text, List<Token> tokens, int length) {
        List<Token> sorted = tokens.stream()
                .sorted(Comparator.comparingInt(Token::start).thenComparingInt(Token::end))
                .toList();
        Map<String, Integer> within = new HashMap<>();
        double weight = 0;
        double best = 0;
        int from = 0;
        int to = 0;
        for (int first = 0, last = 0; last < sorted.size(); last++) {
            weight += within.merge(sorted.get(last).term(), 1, Integer::sum) == 1
                    ? statistics.idf(sorted.get(last).term())
                    : 0;
            for (; sorted.get(last).end() - sorted.get(first).start() > length && first < last; first++) {
                weight -= within.merge(sorted.get(first).term(), -1, Integer::sum) == 0
                        ? statistics.idf(sorted.get(first).term())
                        : 0;
            }
            if (weight > best) {
                best = weight;
                from = sorted.get(first).start();
                to = sorted.get(last).end();
            }
        }
        int start = Math.max(0, Math.min(from + (to - from - length) / 2, text.length() - length));
        return TextCuts.ofWholeWords(text, start, Math.min(text.length(), start + length), from, to);
    }
}

package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.SearchResult.Highlight;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.Token;
import io.github.keepsake4j.recall.words.Words.Token.Kind;
import io.github.keepsake4j.recall.words.Words.WantedTerms;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A user's query.
 *
 * @param terms the terms to look up
 * @param hasBeginning whether one of them is the beginning of a word
 */
record Query(Set<String> terms, boolean hasBeginning) {

    /** The number of UTF-16 code units of a query from which terms are made. */
    static final int MAX_LENGTH = 2_000;

    /** The largest number of terms. The terms of the first words are used, and whole words before their parts. */
    static final int MAX_TERMS = 200;

    /**
     * Splits a user's words.
     *
     * @param text any text
     * @param words the splitter
     * @return the query; without terms if the text has no words
     */
    static Query of(String text, Words words) {
        String used = text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) : text;
        List<Token> tokens = words.tokens(used);
        Set<String> terms = new LinkedHashSet<>();
        add(tokens, Set.of(Kind.WORD, Kind.CHARACTERS), MAX_TERMS / 2, terms);
        boolean hasBeginning = lastWord(used, words).stream().map(Token::term).anyMatch(terms::add);
        add(tokens, Set.of(Kind.PART), MAX_TERMS, terms);
        if (terms.isEmpty()) {
            add(tokens, Set.of(Kind.STOP_WORD), MAX_TERMS, terms);
        }
        terms.removeIf(term -> term.isEmpty() || term.indexOf('\0') >= 0);
        return new Query(terms, hasBeginning);
    }

    private static void add(List<Token> tokens, Set<Kind> kinds, int most, Set<String> terms) {
        for (Token token : tokens) {
            if (terms.size() >= most) {
                return;
            }
            if (kinds.contains(token.kind())) {
                terms.add(token.term());
            }
        }
    }

    /** Returns the beginning of the last word, if it is still being typed and is too short to have parts. */
    private static List<Token> lastWord(String text, Words words) {
        int start = text.length();
        while (start > 0 && Character.isLetterOrDigit(text.codePointBefore(start))) {
            start -= Character.charCount(text.codePointBefore(start));
        }
        int letters = text.codePointCount(start, text.length());
        if (letters < 2 || letters > 3) {
            return List.of();
        }
        // A word that is still being typed is not a stop word: with more letters, it is another word.
        List<Token> beginnings = words.beginnings(text.substring(start) + "xx");
        return beginnings.size() < letters - 1 ? List.of() : List.of(beginnings.get(letters - 2));
    }

    /**
     * Finds the terms in a text.
     *
     * @return the places of the terms, in order and without overlaps; empty if the text has none of them
     */
    List<Highlight> highlights(String text, Words words) {
        WantedTerms wanted = WantedTerms.of(terms);
        List<Token> found = new ArrayList<>(words.tokens(text, wanted).tokens());
        if (hasBeginning) {
            found.addAll(words.beginnings(text, wanted));
        }
        found.sort(Comparator.comparingInt(Token::start));
        List<Highlight> highlights = new ArrayList<>();
        for (Token token : found) {
            int last = highlights.size() - 1;
            if (last >= 0 && token.start() <= highlights.get(last).end()) {
                Highlight before = highlights.get(last);
                highlights.set(last, new Highlight(before.start(), Math.max(before.end(), token.end())));
            } else {
                highlights.add(new Highlight(token.start(), token.end()));
            }
        }
        return highlights;
    }
}

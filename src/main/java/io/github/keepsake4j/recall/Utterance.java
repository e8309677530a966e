package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.words.Words.SomeTokens;
import io.github.keepsake4j.recall.words.Words.Token;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * A message as ranking sees it.
 *
 * @param sequence its sequence in its memory
 * @param speaker the speaker: a name, or the role in lower case
 * @param time when it was said
 * @param length the number of its terms, with repetitions
 * @param terms how often each wanted term occurs
 * @param stated its sentences that are not questions
 * @param asked those of its questions
 * @param repeats whether it is the question itself, which was asked before
 */
record Utterance(
        long sequence,
        String speaker,
        Instant time,
        int length,
        Map<String, Integer> terms,
        Set<String> stated,
        Set<String> asked,
        boolean repeats) {

    /** Looks in which sentences of a text its terms are. */
    static Utterance of(long sequence, String speaker, Instant time, String text, SomeTokens tokens) {
        Map<String, Integer> terms = new HashMap<>();
        Set<String> stated = new HashSet<>();
        Set<String> asked = new HashSet<>();
        Sentence sentence = Sentence.at(text, 0);
        for (Token token : tokens.tokens()) {
            while (token.start() >= sentence.end()) {
                sentence = Sentence.at(text, sentence.end());
            }
            terms.merge(token.term(), 1, Integer::sum);
            (sentence.question() ? asked : stated).add(token.term());
        }
        return new Utterance(sequence, speaker, time, tokens.total(), terms, stated, asked, false);
    }

    /** Returns this message, which is the question itself or not. */
    Utterance withRepeats(boolean same) {
        return new Utterance(sequence, speaker, time, length, terms, stated, asked, same);
    }

    /** A sentence of a text, up to the next one. */
    private record Sentence(int end, boolean question) {

        /** Finds the sentence that begins at a place before the text's end. */
        static Sentence at(String text, int start) {
            boolean question = false;
            int at = start;
            while (at < text.length() && !endsSentence(text.charAt(at))) {
                at++;
            }
            while (at < text.length() && endsSentence(text.charAt(at))) {
                question |= isQuestionMark(text.charAt(at));
                at++;
            }
            return new Sentence(at, question);
        }

        private static boolean endsSentence(char c) {
            return c == '.' || c == '!' || c == '\n' || c == '。' || c == '！' || isQuestionMark(c);
        }

        private static boolean isQuestionMark(char c) {
            return c == '?' || c == '？' || c == '؟';
        }
    }
}

package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.AiMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.recall.Recalled.Excerpt;
import io.github.keepsake4j.recall.words.Words.SomeTokens;
import io.github.keepsake4j.recall.words.Words.Token;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A message as ranking sees it.
 *
 * @param sequence its sequence in its memory
 * @param speaker the speaker: a name, or the role in lower case
 * @param assistant whether a model said it
 * @param time when it was said
 * @param length the number of its terms, with repetitions
 * @param terms how often each wanted term occurs
 * @param asked those of its questions
 * @param passages its passages, in order
 * @param repeats whether it is the question itself, which was asked before
 */
record Utterance(
        long sequence,
        String speaker,
        boolean assistant,
        Instant time,
        int length,
        Map<String, Integer> terms,
        Set<String> asked,
        List<Passage> passages,
        boolean repeats) {

    /**
     * The number of UTF-16 code units that the sentences of a passage have at most. A longer sentence is a passage of its
     * own.
     */
    static final int PASSAGE = 400;

    /**
     * Sentences of a message that follow each other.
     *
     * @param length the number of code units
     * @param terms how often each wanted term occurs
     * @param stated those of its sentences that are not questions
     */
    record Passage(int length, Map<String, Integer> terms, Set<String> stated) {}

    /**
     * Looks in which passages and sentences of a message its terms are.
     *
     * @param text the message's text
     * @param parts the parts of it that were split, in order
     * @param tokens the wanted terms of these parts
     * @param repeats whether it is the question itself
     */
    static Utterance of(LoggedMessage message, String text, List<Excerpt> parts, SomeTokens tokens, boolean repeats) {
        Map<String, Integer> all = new HashMap<>();
        Set<String> asked = new HashSet<>();
        List<Passage> passages = new ArrayList<>();
        List<Token> wanted = tokens.tokens();
        int next = 0;
        for (Excerpt part : parts) {
            int start = part.start();
            Map<String, Integer> terms = new HashMap<>();
            Set<String> stated = new HashSet<>();
            for (int at = start; at < part.end(); ) {
                Sentence sentence = Sentence.at(text, at, part.end());
                if (at > start && sentence.end() - start > PASSAGE) {
                    passages.add(new Passage(at - start, terms, stated));
                    start = at;
                    terms = new HashMap<>();
                    stated = new HashSet<>();
                }
                at = sentence.end();
                for (; next < wanted.size() && wanted.get(next).start() < at; next++) {
                    String term = wanted.get(next).term();
                    all.merge(term, 1, Integer::sum);
                    terms.merge(term, 1, Integer::sum);
                    (sentence.question() ? asked : stated).add(term);
                }
            }
            passages.add(new Passage(part.end() - start, terms, stated));
        }
        return new Utterance(
                message.sequence(),
                RecalledText.speaker(message),
                message.message() instanceof AiMessage,
                message.createdAt(),
                tokens.total(),
                all,
                asked,
                passages,
                repeats);
    }

    /** A sentence of a text, up to the next one. */
    private record Sentence(int end, boolean question) {

        /** Finds the sentence that begins at a place before a limit, behind which nothing is read. */
        static Sentence at(String text, int start, int limit) {
            boolean question = false;
            int at = start;
            while (at < limit && !endsSentence(text.charAt(at))) {
                at++;
            }
            while (at < limit && endsSentence(text.charAt(at))) {
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

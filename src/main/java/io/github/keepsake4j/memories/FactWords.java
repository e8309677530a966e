package io.github.keepsake4j.memories;

import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.Token;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Finds facts by their words, and ranks them in the same way in every store. The weight of a word depends on the number
 * of facts that have it, and on its place: a title or a key phrase has more weight than the text. If a fact does not
 * have a word but has some of its parts, the parts count. So inflected words and the parts of compounds are found.
 *
 * <p>Immutable and thread-safe.
 */
public final class FactWords {

    private static final double IN_TITLE = 3;
    private static final double IN_KEY_PHRASES = 3;
    private static final double IN_ENTITIES = 2;
    private static final double IN_SUMMARY = 2;
    private static final double IN_TEXT = 1;

    /** The weight at which a term counts half of its maximum. */
    private static final double HALF = 1.2;

    /** The share of a word's parts that a fact must have. */
    private static final double LEAST_PARTS = 0.5;

    /** The factor of a word of which only parts are found. */
    private static final double BY_PARTS = 0.5;

    private final Words words;

    /**
     * Creates it.
     *
     * @param words splits texts into terms
     */
    public FactWords(Words words) {
        this.words = Objects.requireNonNull(words, "words");
    }

    /**
     * A term of a fact.
     *
     * @param term the term
     * @param fact the fact's number in its store
     * @param weight how much of the fact it is
     */
    public record Posting(String term, long fact, double weight) {}

    /**
     * A fact that was found.
     *
     * @param fact its number in its store
     * @param score how well it fits, more than 0
     */
    public record Score(long fact, double score) {}

    /** A word of a query: its stems, and its parts in case no stem is found. */
    private record Word(Set<String> stems, Set<String> parts, boolean isStopWord) {}

    /**
     * Returns the fingerprint of the terms.
     *
     * @return a short text
     */
    public String fingerprint() {
        return words.fingerprint();
    }

    /**
     * Returns the terms of a fact.
     *
     * @param fact the fact
     * @return the weights, more than 0, by term
     */
    public Map<String, Double> weights(MadeMemory fact) {
        Map<String, Double> weights = new LinkedHashMap<>();
        add(weights, fact.title(), IN_TITLE);
        add(weights, String.join("\n", fact.keyPhrases()), IN_KEY_PHRASES);
        add(weights, String.join("\n", fact.entities()), IN_ENTITIES);
        add(weights, fact.summary(), IN_SUMMARY);
        add(weights, fact.text(), IN_TEXT);
        return weights;
    }

    private void add(Map<String, Double> weights, String text, double weight) {
        words.tokens(text).stream()
                .filter(FactWords::isStored)
                .forEach(token -> weights.merge(token.term(), weight, Double::sum));
    }

    /** No database keeps these. */
    private static boolean isStored(Token token) {
        return !token.term().isEmpty() && token.term().indexOf('\0') < 0;
    }

    /**
     * Returns the terms whose postings {@link #rank} needs.
     *
     * @param query the query
     * @return the terms, without duplicates
     */
    public Set<String> terms(FactQuery query) {
        Set<String> terms = new LinkedHashSet<>();
        for (Word word : wordsOf(query)) {
            terms.addAll(word.stems());
            terms.addAll(word.parts());
        }
        return terms;
    }

    /**
     * Ranks facts.
     *
     * @param query the query
     * @param facts the number of facts that are searched
     * @param postings all postings of the {@linkplain #terms terms} in these facts
     * @return the matching facts, best first; facts of equal rank are in descending order of their numbers
     */
    public List<Score> rank(FactQuery query, long facts, Collection<Posting> postings) {
        Map<String, Map<Long, Double>> byTerm = new HashMap<>();
        for (Posting posting : postings) {
            byTerm.computeIfAbsent(posting.term(), any -> new HashMap<>()).put(posting.fact(), posting.weight());
        }
        Map<Long, Double> scores = new HashMap<>();
        for (Word word : wordsOf(query)) {
            Map<Long, Double> found = new HashMap<>();
            Map<Long, Integer> parts = new HashMap<>();
            Map<Long, Double> partly = new HashMap<>();
            for (String part : word.parts()) {
                Map<Long, Double> in = byTerm.getOrDefault(part, Map.of());
                in.keySet().forEach(fact -> {
                    parts.merge(fact, 1, Integer::sum);
                    partly.merge(fact, idf(in.size(), facts), Double::sum);
                });
            }
            parts.forEach((fact, count) -> {
                if (count >= LEAST_PARTS * word.parts().size()) {
                    double share = BY_PARTS / word.parts().size();
                    found.put(fact, share * partly.getOrDefault(fact, 0.0));
                }
            });
            for (String stem : word.stems()) {
                Map<Long, Double> in = byTerm.getOrDefault(stem, Map.of());
                in.forEach((fact, weight) ->
                        found.merge(fact, idf(in.size(), facts) * weight / (weight + HALF), Math::max));
            }
            found.forEach((fact, score) -> scores.merge(fact, score, Double::sum));
        }
        return scores.entrySet().stream()
                .map(entry -> new Score(entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparingDouble(Score::score)
                        .reversed()
                        .thenComparing(Comparator.comparingLong(Score::fact).reversed()))
                .toList();
    }

    /**
     * Finds facts of a list.
     *
     * @param query the query
     * @param all the facts, oldest first
     * @return the matching facts of enough trust, best first
     */
    public List<FoundLongTermMemory> search(FactQuery query, List<MadeMemory> all) {
        List<MadeMemory> facts = MadeMemory.trusted(all, query.leastTrust());
        List<Posting> postings = new ArrayList<>();
        Set<String> terms = terms(query);
        for (int i = 0; i < facts.size(); i++) {
            int fact = i;
            weights(facts.get(i)).forEach((term, weight) -> {
                if (terms.contains(term)) {
                    postings.add(new Posting(term, fact, weight));
                }
            });
        }
        return rank(query, facts.size(), postings).stream()
                .limit(query.limit())
                .map(score -> new FoundLongTermMemory(facts.get(Math.toIntExact(score.fact())), score.score()))
                .toList();
    }

    private static double idf(long frequency, long facts) {
        return Math.log1p((Math.max(0, facts - frequency) + 0.5) / (frequency + 0.5));
    }

    /** Stop words count only if a query has no other words. */
    private List<Word> wordsOf(FactQuery query) {
        Set<Word> all = new LinkedHashSet<>();
        for (String keyword : query.keywords()) {
            Map<Integer, Word> byStart = new LinkedHashMap<>();
            Word last = null;
            for (Token token : words.tokens(keyword)) {
                if (!isStored(token)) {
                    continue;
                }
                switch (token.kind()) {
                    case PART -> {
                        if (last != null) {
                            last.parts().add(token.term());
                        }
                    }
                    case CHARACTERS -> all.add(new Word(Set.of(token.term()), Set.of(), false));
                    case WORD, STOP_WORD, BEGINNING -> {
                        last = byStart.computeIfAbsent(
                                token.start(),
                                any -> new Word(
                                        new HashSet<>(), new HashSet<>(), token.kind() == Token.Kind.STOP_WORD));
                        last.stems().add(token.term());
                    }
                }
            }
            all.addAll(byStart.values());
        }
        List<Word> telling = all.stream().filter(word -> !word.isStopWord()).collect(Collectors.toList());
        return telling.isEmpty() ? List.copyOf(all) : telling;
    }
}

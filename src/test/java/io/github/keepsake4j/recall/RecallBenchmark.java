package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.words.Words;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Measures how much of the evidence of LoCoMo's questions is among the first messages. The file is an argument.
 */
public final class RecallBenchmark {

    private static final int[] AMONG = {5, 10, 20};
    private static final int CANDIDATES = 100;
    private static final int NEIGHBOURS = 2;

    private final Map<String, double[]> sums = new LinkedHashMap<>();
    private final Map<String, long[]> nanos = new LinkedHashMap<>();
    private int questions;

    private RecallBenchmark() {}

    /** Runs the benchmark. */
    public static void main(String[] args) throws IOException {
        RecallBenchmark benchmark = new RecallBenchmark();
        for (Locomo conversation : Locomo.read(Path.of(args[0]))) {
            benchmark.ask(conversation, Words.standard());
        }
        benchmark.print();
    }

    private void ask(Locomo conversation, Words words) {
        List<Utterance> utterances = new ArrayList<>();
        Map<Long, String> ids = new HashMap<>();
        long begin = System.nanoTime();
        for (Locomo.Turn turn : conversation.turns()) {
            long sequence = utterances.size() + 1L;
            ids.put(sequence, turn.id());
            utterances.add(Utterance.of(sequence, turn.speaker(), turn.time(), turn.text(), words));
        }
        took("split a message", begin, utterances.size());
        CountedTerms statistics = CountedTerms.of(utterances);
        List<Session> sessions = Session.cut(utterances, Duration.ofHours(4));
        Set<String> speakers =
                utterances.stream().map(Utterance::speaker).collect(Collectors.toCollection(TreeSet::new));
        for (Locomo.Asked asked : conversation.questions()) {
            questions++;
            long start = System.nanoTime();
            Question question = Question.of(asked.text(), speakers, words);
            took("split a question", start, 1);
            Map<Long, Double> bm25 = bm25(question, utterances, statistics);
            List<Long> byBm25 = bm25.entrySet().stream()
                    .sorted(Map.Entry.<Long, Double>comparingByValue(Comparator.reverseOrder())
                            .thenComparing(Map.Entry.comparingByKey()))
                    .map(Map.Entry::getKey)
                    .toList();
            add("BM25", asked, byBm25, ids);
            for (Map.Entry<String, Features> step : STEPS.entrySet()) {
                start = System.nanoTime();
                List<Ranked> ranked = new Ranking(question, statistics, step.getValue(), ZoneOffset.UTC).rank(sessions);
                took("rank a whole conversation", start, 1);
                add(step.getKey(), asked, sequences(ranked), ids);
            }
            Set<Long> candidates = candidates(byBm25, sessions);
            List<Session> known = Session.cut(
                    utterances.stream()
                            .filter(utterance -> candidates.contains(utterance.sequence()))
                            .toList(),
                    Duration.ofHours(4));
            start = System.nanoTime();
            List<Ranked> ranked = new Ranking(question, statistics, Features.WEIGHTS, ZoneOffset.UTC).rank(known);
            took("rank candidates", start, 1);
            add("all behind candidates", asked, sequences(ranked), ids);
        }
    }

    private static final Map<String, Features> STEPS = steps();

    private static Map<String, Features> steps() {
        Features all = Features.WEIGHTS;
        Map<String, Features> steps = new LinkedHashMap<>();
        steps.put("with neighbours", new Features(all.words(), 0, 0, 0, 0));
        steps.put("+ answer", new Features(all.words(), all.answer(), 0, 0, 0));
        steps.put("+ session", new Features(all.words(), all.answer(), all.session(), 0, 0));
        steps.put("+ speaker", new Features(all.words(), all.answer(), all.session(), all.speaker(), 0));
        steps.put("+ date", all);
        return steps;
    }

    private static Map<Long, Double> bm25(Question question, Collection<Utterance> utterances, Statistics statistics) {
        Map<Long, Double> scores = new HashMap<>();
        for (Utterance utterance : utterances) {
            double score = 0;
            for (String term : question.terms()) {
                int count = utterance.terms().getOrDefault(term, 0);
                score += Bm25.idf(statistics.frequency(term), statistics.messages())
                        * Bm25.STANDARD.weight(count, utterance.length(), statistics.averageLength());
            }
            if (score > 0) {
                scores.put(utterance.sequence(), score);
            }
        }
        return scores;
    }

    private static Set<Long> candidates(List<Long> best, List<Session> sessions) {
        Set<Long> candidates = new HashSet<>();
        for (long sequence : best.subList(0, Math.min(CANDIDATES, best.size()))) {
            for (long near = sequence - NEIGHBOURS; near <= sequence + NEIGHBOURS; near++) {
                candidates.add(near);
            }
        }
        return candidates;
    }

    private static List<Long> sequences(List<Ranked> ranked) {
        return ranked.stream().map(one -> one.utterance().sequence()).toList();
    }

    private void add(String method, Locomo.Asked asked, List<Long> ranked, Map<Long, String> ids) {
        double[] sum = sums.computeIfAbsent(method, m -> new double[AMONG.length]);
        for (int i = 0; i < AMONG.length; i++) {
            long found = ranked.stream()
                    .limit(AMONG[i])
                    .filter(sequence -> asked.evidence().contains(ids.get(sequence)))
                    .count();
            sum[i] += (double) found / asked.evidence().size();
        }
    }

    private void took(String stage, long begin, int times) {
        long[] sum = nanos.computeIfAbsent(stage, s -> new long[2]);
        sum[0] += System.nanoTime() - begin;
        sum[1] += times;
    }

    private void print() {
        System.out.println(questions + " questions");
        sums.forEach((method, sum) -> System.out.printf(
                Locale.ROOT,
                "%-24s %.1f / %.1f / %.1f%n",
                method,
                100 * sum[0] / questions,
                100 * sum[1] / questions,
                100 * sum[2] / questions));
        nanos.forEach((stage, sum) -> System.out.printf(Locale.ROOT, "%-28s %.3f ms%n", stage, sum[0] / 1e6 / sum[1]));
    }
}

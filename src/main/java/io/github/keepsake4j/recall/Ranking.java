package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.Question.Unit;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Ranks messages by how likely they answer a question. An answer rarely contains the words of the question. They are in
 * the messages around it. So a message is scored together with its neighbours and with the question that it answers. A pure function of its input.
 */
final class Ranking {

    /** How far away a neighbour may be. */
    static final int REACH = 4;

    /**
     * The weight of the words of an earlier question that is the same. The reply to it may be "I do not know", and so is
     * worth less than what was told without being asked.
     */
    private static final double REPEATED = 0.4;

    /** The weight of a neighbour's words by distance. */
    private static final double DECAY = 0.3;

    private static final Comparator<Ranked> BEST_FIRST = Comparator.comparingDouble(Ranked::score)
            .reversed()
            .thenComparing(ranked -> ranked.utterance().sequence(), Comparator.reverseOrder());

    private final Question question;
    private final Matches statistics;
    private final Meaning meaning;
    private final ZoneId zone;
    private final double[] idf;
    private final double mass;

    Ranking(Question question, Matches statistics, Meaning meaning, ZoneId zone) {
        this.question = question;
        this.statistics = statistics;
        this.meaning = meaning;
        this.zone = zone;
        idf = question.units().stream()
                .mapToDouble(unit -> unit.idf(statistics))
                .toArray();
        double sum = 0;
        for (double one : idf) {
            sum += one;
        }
        mass = sum == 0 ? 1 : sum;
    }

    /**
     * Ranks the messages of sessions.
     *
     * @param key the memory that they are from
     * @param sessions the messages that are known
     * @return all messages, best first; messages of equal score are newest first
     */
    List<Ranked> rank(MemoryKey key, List<ChatSession> sessions) {
        List<Ranked> ranked = new ArrayList<>();
        Lengths lengths = Lengths.of(sessions);
        for (ChatSession session : sessions) {
            new InSession(key, session.utterances(), lengths).addTo(ranked);
        }
        ranked.sort(BEST_FIRST);
        return ranked;
    }

    /** Returns whether a message has a reason to be recalled: a word of the question, or its meaning. */
    boolean fits(MemoryKey key, Ranked ranked) {
        return ranked.features().words() > 0
                || meaning.isNear(key, ranked.utterance().sequence());
    }

    /**
     * Ranks the messages by BM25 of the terms alone. This also finds a message that has too few parts of a word to have
     * the word, so it is for questions of which no message has a word. For other questions it ranks worse.
     *
     * @param sessions the messages that are known
     * @return all messages, best first; messages of equal score are newest first
     */
    List<Ranked> rankByTerms(List<ChatSession> sessions) {
        Map<String, Double> idfs = new HashMap<>();
        question.terms().forEach(term -> idfs.put(term, Bm25.idf(statistics.frequency(term), statistics.messages())));
        double most = Math.max(1, idfs.values().stream().mapToDouble(idf -> idf).sum());
        return sessions.stream()
                .flatMap(session -> session.utterances().stream())
                .map(utterance -> {
                    double sum = 0;
                    for (String term : question.terms()) {
                        int count = utterance.terms().getOrDefault(term, 0);
                        sum += idfs.getOrDefault(term, 0.0)
                                * Bm25.STANDARD.weight(count, utterance.length(), statistics.averageLength());
                    }
                    Recalled.Features features = new Recalled.Features(sum / most, 0, 0, 0, 0);
                    return new Ranked(utterance, features.words(), features);
                })
                .sorted(BEST_FIRST)
                .toList();
    }

    /** Returns the weight of a neighbour. */
    static double decay(int distance) {
        return 1 / (1 + DECAY * Math.abs(distance));
    }

    /**
     * The lengths of messages, as far as they count. Without a limit, one long message would take the score from all of
     * its neighbours, and raise the average so much that no other length counts.
     *
     * @param most the largest length that counts
     * @param average the average length of a message together with its neighbours
     */
    private record Lengths(double most, double average) {

        static Lengths of(List<ChatSession> sessions) {
            int[] sorted = sessions.stream()
                    .flatMap(session -> session.utterances().stream())
                    .mapToInt(Utterance::length)
                    .sorted()
                    .toArray();
            double most = sorted.length == 0 ? 0 : Bm25.MAX_RELATIVE * sorted[sorted.length / 2];
            double average = Arrays.stream(sorted)
                    .mapToDouble(length -> Math.min(most, length))
                    .average()
                    .orElse(0);
            double neighbours = 0;
            for (int distance = -REACH; distance <= REACH; distance++) {
                neighbours += decay(distance);
            }
            return new Lengths(most, average * neighbours);
        }
    }

    /** Ranks the messages of one session. */
    private final class InSession {

        private final MemoryKey key;
        private final List<Utterance> utterances;
        private final Lengths lengths;
        private final double[][] occurrences;

        InSession(MemoryKey key, List<Utterance> utterances, Lengths lengths) {
            this.key = key;
            this.utterances = utterances;
            this.lengths = lengths;
            List<Unit> units = question.units();
            occurrences = new double[utterances.size()][units.size()];
            for (int i = 0; i < utterances.size(); i++) {
                for (int unit = 0; unit < idf.length; unit++) {
                    occurrences[i][unit] =
                            weight(i) * units.get(unit).in(utterances.get(i).terms());
                }
            }
        }

        void addTo(List<Ranked> ranked) {
            Recalled.Features weights = Recalled.Features.weights(meaning.weight());
            for (int i = 0; i < utterances.size(); i++) {
                Utterance utterance = utterances.get(i);
                if (utterance.repeats()) {
                    ranked.add(new Ranked(utterance, 0, Recalled.Features.NONE));
                    continue;
                }
                Recalled.Features features = new Recalled.Features(
                        words(i),
                        answer(i),
                        meaning.of(key, utterance.sequence()),
                        utterance.speaker().equals(question.speaker()) ? 1 : 0,
                        question.dates().fit(LocalDate.ofInstant(utterance.time(), zone)));
                ranked.add(new Ranked(utterance, features.score(weights), features));
            }
        }

        /** Returns the weight of a message's words. A reply to the same question repeats them because it is one. */
        private double weight(int at) {
            return isReply(at) ? 0 : utterances.get(at).repeats() ? REPEATED : 1;
        }

        /** Returns whether a message replies to the same question. */
        private boolean isReply(int at) {
            if (at == 0) {
                return false;
            }
            Utterance before = utterances.get(at - 1);
            Utterance utterance = utterances.get(at);
            return before.repeats()
                    && !before.speaker().equals(utterance.speaker())
                    && utterance.sequence() - before.sequence() <= REACH;
        }

        private double words(int at) {
            double[] near = new double[idf.length];
            double length = 0;
            for (int i = Math.max(0, at - REACH); i <= Math.min(at + REACH, utterances.size() - 1); i++) {
                if (Math.abs(utterances.get(i).sequence() - utterances.get(at).sequence()) > REACH) {
                    continue;
                }
                double decay = decay(i - at);
                length += decay * Math.min(lengths.most(), utterances.get(i).length());
                for (int unit = 0; unit < idf.length; unit++) {
                    near[unit] += decay * occurrences[i][unit];
                }
            }
            for (int unit = 0; unit < idf.length; unit++) {
                near[unit] = Bm25.STANDARD.weight(near[unit], length, lengths.average());
            }
            return share(near);
        }

        private double answer(int at) {
            double[] found = new double[idf.length];
            for (int unit = 0; unit < idf.length; unit++) {
                if (occurrences[at][unit] > 0) {
                    found[unit] = weight(at)
                            * question.units().get(unit).in(utterances.get(at).stated());
                }
                if (at > 0 && occurrences[at - 1][unit] > 0) {
                    double before = weight(at - 1)
                            * question.units()
                                    .get(unit)
                                    .in(utterances.get(at - 1).asked());
                    found[unit] = Math.max(found[unit], before);
                }
            }
            return share(found);
        }

        private double share(double[] found) {
            double sum = 0;
            for (int unit = 0; unit < idf.length; unit++) {
                sum += idf[unit] * found[unit];
            }
            return sum / mass;
        }
    }
}

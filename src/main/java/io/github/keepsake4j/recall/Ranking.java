package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.Question.Unit;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Ranks messages by how likely they answer a question. An answer rarely contains the words of the question. They are in
 * the messages around it. So a message is scored together with its neighbours, with the question that it answers and
 * with its session. A pure function of its input.
 */
final class Ranking {

    /** How far away a neighbour may be. */
    static final int REACH = 4;

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
    List<Ranked> rank(MemoryKey key, List<Session> sessions) {
        List<Ranked> ranked = new ArrayList<>();
        for (Session session : sessions) {
            new InSession(key, session.utterances()).addTo(ranked);
        }
        ranked.sort(BEST_FIRST);
        return ranked;
    }

    /** Returns whether a message has a reason to be recalled: a word of the question, or its meaning. */
    boolean fits(MemoryKey key, Ranked ranked) {
        return ranked.features().words() > 0
                || meaning.isNear(key, ranked.utterance().sequence());
    }

    /** Returns the weight of a neighbour. */
    static double decay(int distance) {
        return 1 / (1 + DECAY * Math.abs(distance));
    }

    /** The average length of a message together with its neighbours. */
    private double averageLength() {
        double neighbours = 0;
        for (int distance = -REACH; distance <= REACH; distance++) {
            neighbours += decay(distance);
        }
        return statistics.averageLength() * neighbours;
    }

    /** Ranks the messages of one session. */
    private final class InSession {

        private final MemoryKey key;
        private final List<Utterance> utterances;
        private final double[][] occurrences;

        InSession(MemoryKey key, List<Utterance> utterances) {
            this.key = key;
            this.utterances = utterances;
            List<Unit> units = question.units();
            occurrences = new double[utterances.size()][units.size()];
            for (int i = 0; i < utterances.size(); i++) {
                for (int unit = 0; unit < idf.length; unit++) {
                    occurrences[i][unit] = units.get(unit).in(utterances.get(i).terms());
                }
            }
        }

        void addTo(List<Ranked> ranked) {
            Recalled.Features weights = Recalled.Features.weights(meaning.weight());
            for (int i = 0; i < utterances.size(); i++) {
                Utterance utterance = utterances.get(i);
                Recalled.Features features = new Recalled.Features(
                        words(i),
                        answer(i),
                        meaning.of(key, utterance.sequence()),
                        utterance.speaker().equals(question.speaker()) ? 1 : 0,
                        question.dates().fit(LocalDate.ofInstant(utterance.time(), zone)));
                ranked.add(new Ranked(utterance, features.score(weights), features));
            }
        }

        private double words(int at) {
            double[] near = new double[idf.length];
            double length = 0;
            for (int i = Math.max(0, at - REACH); i <= Math.min(at + REACH, utterances.size() - 1); i++) {
                if (Math.abs(utterances.get(i).sequence() - utterances.get(at).sequence()) > REACH) {
                    continue;
                }
                double decay = decay(i - at);
                length += decay * utterances.get(i).length();
                for (int unit = 0; unit < idf.length; unit++) {
                    near[unit] += decay * occurrences[i][unit];
                }
            }
            for (int unit = 0; unit < idf.length; unit++) {
                near[unit] = Bm25.STANDARD.weight(near[unit], length, averageLength());
            }
            return share(near);
        }

        private double answer(int at) {
            double[] found = new double[idf.length];
            for (int unit = 0; unit < idf.length; unit++) {
                if (occurrences[at][unit] > 0) {
                    found[unit] =
                            question.units().get(unit).in(utterances.get(at).stated());
                }
                if (at > 0 && occurrences[at - 1][unit] > 0) {
                    double before =
                            question.units().get(unit).in(utterances.get(at - 1).asked());
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

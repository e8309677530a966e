package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.Question.Unit;
import io.github.keepsake4j.recall.Utterance.Passage;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.IntToDoubleFunction;

/**
 * Ranks messages by how likely they answer a question. An answer rarely contains the words of the question. They are in
 * the messages around it. So each passage of a message is scored together with its neighbours and with the question that it
 * answers, and the best one counts. A pure function of its input.
 */
final class Ranking {

    /** How far away a neighbour may be. */
    static final int REACH = 4;

    /**
     * The weight of the words of an earlier question that is the same. The reply to it may be "I do not know", and so is
     * worth less than what was told without being asked.
     */
    private static final double REPEATED = 0.4;

    /** How much the words of an assistant count. Its answers are long, and most questions ask what a user told it. */
    private static final double ASSISTANT = 0.6;

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
    private final List<Unit> ofDate;

    Ranking(Question question, Matches statistics, Meaning meaning, ZoneId zone) {
        this.question = question;
        this.statistics = statistics;
        this.meaning = meaning;
        this.zone = zone;
        idf = question.units().stream()
                .mapToDouble(unit -> unit.idf(statistics))
                .toArray();
        double sum = Arrays.stream(idf).sum();
        mass = sum == 0 ? 1 : sum;
        ofDate = question.units().stream().filter(Unit::ofDate).toList();
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
        List<InSession> all = sessions.stream()
                .map(session -> new InSession(key, session.utterances()))
                .toList();
        double average = all.stream()
                .flatMap(session -> session.places.stream())
                .mapToDouble(Place::length)
                .average()
                .orElse(0);
        all.forEach(session -> session.addTo(ranked, average));
        ranked.sort(BEST_FIRST);
        return ranked;
    }

    /** Returns whether a message has a reason to be recalled: a word of the question, or its meaning. */
    boolean fits(MemoryKey key, Ranked ranked) {
        return ranked.features().words() > 0
                || meaning.has(key, ranked.utterance().sequence());
    }

    /**
     * Ranks the messages by BM25 of the terms alone. This also finds a message that has too few parts of a word to have
     * the word, so it is for questions of which no message has a word. For other questions it ranks worse.
     *
     * @param sessions the messages that are known
     * @return all messages, best first; messages of equal score are newest first
     */
    List<Ranked> rankByTerms(List<ChatSession> sessions) {
        Set<String> terms = question.terms();
        double most = Math.max(1, terms.stream().mapToDouble(statistics::idf).sum());
        return sessions.stream()
                .flatMap(session -> session.utterances().stream())
                .map(utterance -> {
                    double sum = 0;
                    for (String term : terms) {
                        int count = utterance.terms().getOrDefault(term, 0);
                        sum += statistics.idf(term)
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
     * A passage in its session.
     *
     * @param of the index of its message
     * @param passage the passage
     * @param occurrences how often it has each of the question's words
     * @param near the same together with its neighbours
     * @param length its length together with that of its neighbours
     */
    @SuppressWarnings("ArrayRecordComponent") // Made for one ranking, and never compared.
    private record Place(int of, Passage passage, double[] occurrences, double[] near, double length) {}

    /** Ranks the messages of one session. */
    private final class InSession {

        private final MemoryKey key;
        private final List<Utterance> utterances;
        private final List<Place> places = new ArrayList<>();

        InSession(MemoryKey key, List<Utterance> utterances) {
            this.key = key;
            this.utterances = utterances;
            List<Place> alone = new ArrayList<>();
            for (int i = 0; i < utterances.size(); i++) {
                for (Passage passage : utterances.get(i).passages()) {
                    double[] occurrences = new double[idf.length];
                    for (int unit = 0; unit < idf.length; unit++) {
                        occurrences[unit] =
                                weight(i) * question.units().get(unit).in(passage.terms());
                    }
                    alone.add(new Place(i, passage, occurrences, occurrences, passage.length()));
                }
            }
            for (int i = 0; i < alone.size(); i++) {
                places.add(withNeighbours(alone, i));
            }
        }

        private Place withNeighbours(List<Place> alone, int at) {
            Place place = alone.get(at);
            double[] near = place.occurrences().clone();
            double length = place.length();
            for (int i = Math.max(0, at - REACH); i <= Math.min(at + REACH, alone.size() - 1); i++) {
                Place other = alone.get(i);
                if (i != at && areNear(place.of(), other.of())) {
                    length += decay(i - at) * other.length();
                    // Most passages have no word of the question.
                    int units = other.passage().terms().isEmpty() ? 0 : idf.length;
                    for (int unit = 0; unit < units; unit++) {
                        near[unit] += decay(i - at) * trust(other.of()) * other.occurrences()[unit];
                    }
                }
            }
            return new Place(place.of(), place.passage(), place.occurrences(), near, length);
        }

        private boolean areNear(int one, int other) {
            return Math.abs(utterances.get(one).sequence()
                            - utterances.get(other).sequence())
                    <= REACH;
        }

        /** Returns how much a message counts, less for an assistant's that is not asked for. */
        private double trust(int at) {
            return isAssistant(at) && !question.asksAssistant() && !repliesToSame(at) ? ASSISTANT : 1;
        }

        private boolean isAssistant(int at) {
            return at >= 0 && at < utterances.size() && utterances.get(at).assistant();
        }

        void addTo(List<Ranked> ranked, double average) {
            Recalled.Features weights = Recalled.Features.weights(meaning.weight());
            Recalled.Features[] best = new Recalled.Features[utterances.size()];
            Arrays.fill(best, Recalled.Features.NONE);
            for (Place place : places) {
                Recalled.Features features = new Recalled.Features(
                        trust(place.of()) * words(place, average), trust(place.of()) * answer(place), 0, 0, 0);
                if (features.score(weights) > best[place.of()].score(weights)) {
                    best[place.of()] = features;
                }
            }
            for (int i = 0; i < best.length; i++) {
                Utterance utterance = utterances.get(i);
                double near = meaning.of(key, utterance.sequence());
                Recalled.Features features = utterance.repeats()
                        ? Recalled.Features.NONE
                        : new Recalled.Features(
                                best[i].words(),
                                best[i].answer(),
                                near > 0 ? trust(i) * near : near,
                                utterance.speaker().equals(question.speaker()) ? 1 : 0,
                                date(utterance));
                ranked.add(new Ranked(utterance, features.score(weights), features));
            }
        }

        /** A message that names the date of the question is as good as one that was written then. */
        private double date(Utterance utterance) {
            double written = question.dates().fit(LocalDate.ofInstant(utterance.time(), zone));
            boolean names = !ofDate.isEmpty() && ofDate.stream().allMatch(unit -> unit.in(utterance.terms()) >= 1);
            return names ? Math.max(written, question.dates().most()) : written;
        }

        /** Returns the weight of a message's words. A reply to the same question repeats them because it is one. */
        private double weight(int at) {
            return repliesToSame(at) ? 0 : utterances.get(at).repeats() ? REPEATED : 1;
        }

        /** Returns whether a message replies to the same question. */
        private boolean repliesToSame(int at) {
            return follows(at) && utterances.get(at - 1).repeats() && areNear(at, at - 1);
        }

        /** Returns whether another speaker said the message before. */
        private boolean follows(int at) {
            return at > 0
                    && !utterances
                            .get(at - 1)
                            .speaker()
                            .equals(utterances.get(at).speaker());
        }

        private double words(Place place, double average) {
            return share(unit -> Bm25.STANDARD.weight(place.near()[unit], place.length(), average));
        }

        /** Returns how much of the question is told here, or was asked right before. */
        private double answer(Place place) {
            int at = place.of();
            // A user who asks an assistant tells it something in the same sentence.
            boolean told = isAssistant(at - 1) || isAssistant(at) || isAssistant(at + 1);
            return share(unit -> {
                Unit word = question.units().get(unit);
                double own = told
                        ? Math.min(weight(at), place.occurrences()[unit])
                        : weight(at) * word.in(place.passage().stated());
                double before = follows(at)
                        ? weight(at - 1)
                                * trust(at - 1)
                                * word.in(utterances.get(at - 1).asked())
                        : 0;
                return Math.max(own, before);
            });
        }

        /** Returns the sum over the question's words, each with its weight. */
        private double share(IntToDoubleFunction found) {
            double sum = 0;
            for (int unit = 0; unit < idf.length; unit++) {
                sum += idf[unit] * found.applyAsDouble(unit);
            }
            return sum / mass;
        }
    }
}

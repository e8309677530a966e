package io.github.keepsake4j.recall;

import io.github.keepsake4j.base.Spread;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * How close in meaning the messages of a scope are to a question: the cosine of a message, and those of its neighbours,
 * relative to all messages of the scope. Immutable.
 */
final class Meaning {

    /** No message has a vector. */
    static final Meaning NONE = new Builder(0, Duration.ZERO).build();

    /** The weight of the neighbours, relative to 1 for the message itself. */
    private static final double NEIGHBOURS = 0.5;

    /** The number of messages up to which their meanings have the full weight. */
    private static final double USUAL = 300;

    private final double weight;
    private final Map<MemoryKey, Places> memories;

    private Meaning(double weight, Map<MemoryKey, Places> memories) {
        this.weight = weight;
        this.memories = memories;
    }

    /** Returns how much the model helps in this scope, 0 to 1. */
    double weight() {
        return weight;
    }

    /**
     * Returns how close a message and its neighbours are.
     *
     * @return standard deviations above the mean of the scope; 0 for a message without a vector
     */
    double of(MemoryKey key, long sequence) {
        Places places = memories.get(key);
        int at = places == null ? -1 : places.indexOf(sequence);
        return places == null || at < 0 ? 0 : places.meanings[at];
    }

    /** Returns whether a message has a meaning, by which it may answer the question without having a word of it. */
    boolean has(MemoryKey key, long sequence) {
        Places places = memories.get(key);
        return places != null && places.indexOf(sequence) >= 0;
    }

    /** Returns the closest messages, at most as many as given, by memory. */
    Map<MemoryKey, Set<Long>> nearest(int most) {
        record Near(MemoryKey key, long sequence, double cosine) {}
        PriorityQueue<Near> nearest = new PriorityQueue<>(Comparator.comparingDouble(Near::cosine));
        memories.forEach((key, places) -> {
            for (int i = 0; i < places.cosines.length; i++) {
                Near farthest = nearest.peek();
                if (farthest == null || nearest.size() < most || places.cosines[i] > farthest.cosine()) {
                    nearest.add(new Near(key, places.sequences[i], places.cosines[i]));
                }
                if (nearest.size() > most) {
                    nearest.remove();
                }
            }
        });
        return nearest.stream()
                .collect(Collectors.groupingBy(Near::key, Collectors.mapping(Near::sequence, Collectors.toSet())));
    }

    /** A message with a vector. */
    private record Place(long sequence, Instant time, double cosine) {

        private static final Comparator<Place> IN_ORDER =
                Comparator.comparingLong(Place::sequence).thenComparingDouble(Place::cosine);
    }

    /** The messages of one memory that have vectors, in order of sequence. */
    private static final class Places {

        private final long[] sequences;
        private final double[] cosines;
        private final double[] meanings;

        Places(List<Place> places, Duration sessionGap) {
            sequences = places.stream().mapToLong(Place::sequence).toArray();
            cosines = places.stream().mapToDouble(Place::cosine).toArray();
            // Each pause is looked at once, not for each of the neighbours.
            int[] sessions = new int[cosines.length];
            for (int i = 1; i < sessions.length; i++) {
                Instant before = places.get(i - 1).time();
                boolean gap = ChatSession.isGap(before, places.get(i).time(), sessionGap);
                sessions[i] = sessions[i - 1] + (gap ? 1 : 0);
            }
            meanings = new double[cosines.length];
            Arrays.setAll(meanings, i -> around(i, sessions));
        }

        /** Returns the mean of the cosines around a message within its session, or NaN for a message that is alone. */
        private double around(int at, int[] sessions) {
            double sum = 0;
            double weights = 0;
            for (int i = Math.max(0, at - Ranking.REACH); i < Math.min(sessions.length, at + Ranking.REACH + 1); i++) {
                if (i != at && sessions[i] == sessions[at] && Math.abs(sequences[i] - sequences[at]) <= Ranking.REACH) {
                    sum += Ranking.decay(i - at) * cosines[i];
                    weights += Ranking.decay(i - at);
                }
            }
            return sum / weights;
        }

        int indexOf(long sequence) {
            return Arrays.binarySearch(sequences, sequence);
        }

        /** Combines the cosines with those around them, relative to all of the scope. */
        void combine(Spread ofCosines, Spread ofAround) {
            for (int i = 0; i < meanings.length; i++) {
                double around = Double.isNaN(meanings[i]) ? 0 : ofAround.z(meanings[i]);
                meanings[i] = ofCosines.z(cosines[i]) + NEIGHBOURS * around;
            }
        }
    }

    /** Collects the cosines of the messages of a scope. For one thread. */
    static final class Builder {

        private final double weight;
        private final Duration sessionGap;
        private final Map<MemoryKey, List<Place>> memories = new HashMap<>();

        /**
         * Creates a builder.
         *
         * @param weight how much the model helps in this scope, 0 to 1
         * @param sessionGap the pause that begins a new session
         */
        Builder(double weight, Duration sessionGap) {
            this.weight = weight;
            this.sessionGap = sessionGap;
        }

        /** Adds a message, in any order. If a message is added twice, its larger cosine counts. */
        void add(MemoryKey key, long sequence, Instant time, double cosine) {
            memories.computeIfAbsent(key, k -> new ArrayList<>()).add(new Place(sequence, time, cosine));
        }

        Meaning build() {
            Map<MemoryKey, Places> byMemory = new HashMap<>();
            memories.forEach((key, places) -> byMemory.put(key, new Places(distinct(places), sessionGap)));
            Collection<Places> all = byMemory.values();
            Spread cosines = Spread.of(() -> all.stream().flatMapToDouble(places -> Arrays.stream(places.cosines)));
            Spread around = Spread.of(() -> all.stream().flatMapToDouble(places -> Arrays.stream(places.meanings)));
            all.forEach(places -> places.combine(cosines, around));
            Spread combined = Spread.of(() -> all.stream().flatMapToDouble(places -> Arrays.stream(places.meanings)));
            double expected = expected(
                    all.stream().mapToInt(places -> places.cosines.length).sum());
            // What is told once must not lose by its neighbours.
            all.forEach(places -> Arrays.setAll(
                    places.meanings,
                    i -> expected * Math.max(cosines.z(places.cosines[i]), combined.z(places.meanings[i]))));
            return new Meaning(weight, byMemory);
        }

        /** The more messages there are, the farther from their mean the nearest one is by chance. */
        private static double expected(int messages) {
            return messages <= USUAL ? 1 : Math.sqrt(Math.log(USUAL) / Math.log(messages));
        }

        private static List<Place> distinct(List<Place> places) {
            places.sort(Place.IN_ORDER);
            return IntStream.range(0, places.size())
                    .filter(i -> i + 1 == places.size()
                            || places.get(i).sequence() != places.get(i + 1).sequence())
                    .mapToObj(places::get)
                    .toList();
        }
    }
}

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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;

/**
 * How close in meaning the messages of a scope are to a question: the cosine of a message, and those of its neighbours,
 * relative to all messages of the scope. Immutable.
 */
final class Meaning {

    /** No message has a vector. */
    static final Meaning NONE = new Builder(0, 1, Duration.ZERO).build();

    /** The weight of the neighbours, relative to 1 for the message itself. */
    private static final double NEIGHBOURS = 0.5;

    private final double weight;
    private final double floor;
    private final Map<MemoryKey, Places> memories;

    private Meaning(double weight, double floor, Map<MemoryKey, Places> memories) {
        this.weight = weight;
        this.floor = floor;
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

    /** Returns whether a message is close enough to answer the question without having a word of it. */
    boolean isNear(MemoryKey key, long sequence) {
        Places places = memories.get(key);
        int at = places == null ? -1 : places.indexOf(sequence);
        return places != null && at >= 0 && isNear(places.cosines[at]);
    }

    private boolean isNear(double cosine) {
        return weight > 0 && cosine > floor;
    }

    /** Returns the closest messages that are near, at most as many as given, by memory. */
    Map<MemoryKey, Set<Long>> nearest(int most) {
        record Near(MemoryKey key, long sequence, double cosine) {}
        PriorityQueue<Near> nearest = new PriorityQueue<>(Comparator.comparingDouble(Near::cosine));
        memories.forEach((key, places) -> {
            for (int i = 0; i < places.cosines.length; i++) {
                if (isNear(places.cosines[i])) {
                    nearest.add(new Near(key, places.sequences[i], places.cosines[i]));
                    if (nearest.size() > most) {
                        nearest.remove();
                    }
                }
            }
        });
        Map<MemoryKey, Set<Long>> byMemory = new HashMap<>();
        nearest.forEach(near ->
                byMemory.computeIfAbsent(near.key(), key -> new HashSet<>()).add(near.sequence()));
        return byMemory;
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
            meanings = new double[cosines.length];
            Arrays.setAll(meanings, i -> around(places, i, sessionGap));
        }

        /** Returns the mean of the cosines around a message within its session, or NaN for a message that is alone. */
        private static double around(List<Place> places, int at, Duration sessionGap) {
            double sum = 0;
            double weights = 0;
            for (int step = -1; step <= 1; step += 2) {
                for (int i = at + step; i >= 0 && i < places.size() && areNeighbours(places, at, i); i += step) {
                    Instant before = places.get(Math.min(i, i - step)).time();
                    if (ChatSession.isGap(
                            before, places.get(Math.max(i, i - step)).time(), sessionGap)) {
                        break;
                    }
                    sum += Ranking.decay(i - at) * places.get(i).cosine();
                    weights += Ranking.decay(i - at);
                }
            }
            return sum / weights;
        }

        private static boolean areNeighbours(List<Place> places, int at, int other) {
            return Math.abs(places.get(other).sequence() - places.get(at).sequence()) <= Ranking.REACH;
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
        private final double floor;
        private final Duration sessionGap;
        private final Map<MemoryKey, List<Place>> memories = new HashMap<>();

        /**
         * Creates a builder.
         *
         * @param weight how much the model helps in this scope, 0 to 1
         * @param floor the cosine above which a message is near
         * @param sessionGap the pause that begins a new session
         */
        Builder(double weight, double floor, Duration sessionGap) {
            this.weight = weight;
            this.floor = floor;
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
            all.forEach(places -> Arrays.setAll(places.meanings, i -> combined.z(places.meanings[i])));
            return new Meaning(weight, floor, byMemory);
        }

        private static List<Place> distinct(List<Place> places) {
            places.sort(Place.IN_ORDER);
            List<Place> distinct = new ArrayList<>();
            for (int i = 0; i < places.size(); i++) {
                if (i + 1 == places.size()
                        || places.get(i).sequence() != places.get(i + 1).sequence()) {
                    distinct.add(places.get(i));
                }
            }
            return distinct;
        }
    }
}

package io.github.keepsake4j.recall;

import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Selection;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.Candidates.Candidate;
import io.github.keepsake4j.recall.words.Words;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the messages in which words occur. It asks the index, and splits the messages behind a memory's watermark,
 * which are not indexed yet. Writes nothing. Thread-safe.
 */
record Finder(MessageIndex index, Function<MemoryKey, MessageLog> logs, Indexer indexer, Words words, int maxPostings) {

    /** The number of messages behind a memory's watermark that are read, from the oldest on. */
    static final int TAIL = 200;

    /**
     * The number of the newest messages that are read if there are more, since users search for recent messages first.
     */
    static final int NEWEST = 50;

    /**
     * The number of UTF-16 code units of messages without an index entry that are split for one search. A longer
     * message is found when it is indexed. The worst text of this length takes 0.1 seconds on one core.
     */
    static final int MAX_SPLIT = 50_000;

    /** The largest number of memories whose messages behind the watermark are read for one search. */
    private static final int MAX_TAILS = 20;

    /** The divisor of the number of postings for a large scope. */
    private static final int FEWER = 4;

    /**
     * The messages behind the watermark of a memory that were read, newest first, and whether there are more. Those that
     * were split are added to {@code split}.
     */
    private record Tail(MemoryKey key, List<LoggedMessage> newestFirst, boolean more, List<IndexedMessage> split) {

        boolean isComplete() {
            return !more && split.size() == newestFirst.size();
        }
    }

    /** A message that is not indexed yet, and how many of its memory are newer. */
    private record Unindexed(Tail tail, int newer, LoggedMessage message, int length) {

        /** The newest messages of each memory come first, and of them the short ones: a long one hides no others. */
        static final Comparator<Unindexed> ORDER =
                Comparator.comparingInt(Unindexed::group).thenComparingInt(Unindexed::newer);

        private int group() {
            return newer >= NEWEST ? 2 : length > MAX_SPLIT / NEWEST ? 1 : 0;
        }
    }

    /**
     * The times of which messages are wanted, whatever words they have.
     *
     * @param occasions for each time the days that it may mean; the first ones with messages are used
     * @param zone the zone of the days
     */
    record Times(List<List<Days>> occasions, ZoneId zone) {

        /** The largest number of days that are looked up. They leave terms to the words of a long question. */
        private static final int MAX_DAYS = 500;

        static final Times NONE = new Times(List.of(), ZoneOffset.UTC);

        /** Returns whether an instant is within one of these times. */
        boolean has(Instant time) {
            LocalDate day = LocalDate.ofInstant(time, zone);
            return occasions.stream().flatMap(List::stream).anyMatch(days -> days.has(day));
        }

        /** Returns the terms of the UTC days that cover these times. */
        Set<String> terms(Words words) {
            return occasions.stream()
                    .flatMap(List::stream)
                    .flatMap(days -> days.inUtc(zone).stream())
                    .map(words::dayTerm)
                    .limit(MAX_DAYS)
                    .collect(Collectors.toSet());
        }
    }

    /**
     * Finds messages.
     *
     * @param scope where to look
     * @param terms the words' terms
     * @param times the times of which messages are found too
     * @param most the largest number of messages with words, and that of messages of the times
     * @param heads the heads of memories that were read; this method adds the heads that it reads
     * @return the best, in a fixed order, and after them those of the times
     */
    Candidates find(Scope scope, Collection<String> terms, Times times, int most, Heads heads) {
        indexer.use(scope.tenant());
        Set<MemoryKey> behind = tails(scope);
        boolean lagging = behind.size() > MAX_TAILS || (scope.only() == null && indexer.isUnswept(scope.tenant()));
        List<Tail> tails = new ArrayList<>();
        // Those that wait longest come first, and what was just said is in the last ones.
        List<MemoryKey> looked =
                behind.stream().skip(Math.max(0, behind.size() - MAX_TAILS)).toList();
        Map<MemoryKey, MessageIndex.Watermark> known = index.watermarks(looked);
        for (MemoryKey key : looked) {
            tails.add(tail(key, known.get(key), heads));
        }
        split(tails);
        for (Tail tail : tails) {
            if (!tail.isComplete()) {
                indexer.changed(tail.key());
                lagging = true;
            }
        }
        Set<String> days = times.terms(words);
        Set<String> all = terms.stream()
                .limit(MessageIndex.MAX_TERMS - days.size())
                .collect(Collectors.toCollection(LinkedHashSet::new));
        all.addAll(days);
        int postings = scope.isLarge() ? Math.max(1, maxPostings / FEWER) : maxPostings;
        // A month with many messages leaves rare words unread no more than other words do, and frequent ones rarely.
        Found found = new Found(index.match(scope, all, days.isEmpty() ? postings : 2 * postings), days, times);
        for (int i = 0; i < tails.size(); i++) {
            // The index has no negative numbers.
            found.add(tails.get(i), -1L - i, all);
        }
        return found.best(scope, most, lagging);
    }

    /** Returns the memories that may have messages behind their watermarks. */
    private Set<MemoryKey> tails(Scope scope) {
        Set<MemoryKey> behind = indexer.behind(scope.tenant());
        List<MemoryKey> memories = scope.memories();
        if (memories != null) {
            behind.retainAll(Set.copyOf(memories));
            // Appends of other processes are not known here, so a few memories are checked each time.
            behind.addAll(memories.size() <= MAX_TAILS ? memories : List.of());
        }
        return behind;
    }

    private Tail tail(MemoryKey key, MessageIndex.@Nullable Watermark known, Heads heads) {
        MessageLog log = logs.apply(key);
        long epoch = heads.of(key).position().epoch();
        if (known != null && known.epoch() == epoch) {
            // Also reads the message at the watermark. Another log, or an older copy of the log, may not have it.
            HistoryPage page = log.history(key, HistoryQuery.after(known.sequence() - 1, TAIL + 1));
            List<LoggedMessage> read = page.messages();
            if (!read.isEmpty() && read.get(0).sequence() == known.sequence()) {
                return tail(key, read.subList(1, read.size()), page);
            }
        }
        if (known != null) {
            indexer.changed(key);
        }
        HistoryPage page = log.history(key, HistoryQuery.oldest(TAIL));
        return tail(key, page.messages(), page);
    }

    private Tail tail(MemoryKey key, List<LoggedMessage> oldest, HistoryPage page) {
        boolean more = page.next().isPresent();
        NavigableMap<Long, LoggedMessage> read = new TreeMap<>();
        oldest.forEach(message -> read.put(message.sequence(), message));
        if (more) {
            logs.apply(key)
                    .history(key, HistoryQuery.newest(NEWEST))
                    .messages()
                    .forEach(message -> read.put(message.sequence(), message));
        }
        return new Tail(key, List.copyOf(read.descendingMap().values()), more, new ArrayList<>());
    }

    /** Splits as many of the messages as the limit allows. */
    private void split(List<Tail> tails) {
        List<Unindexed> messages = new ArrayList<>();
        for (Tail tail : tails) {
            for (int i = 0; i < tail.newestFirst().size(); i++) {
                LoggedMessage message = tail.newestFirst().get(i);
                messages.add(
                        new Unindexed(tail, i, message, IndexedText.of(message).length()));
            }
        }
        messages.sort(Unindexed.ORDER);
        int left = MAX_SPLIT;
        for (Unindexed one : messages) {
            if (one.length() <= left) {
                left -= one.length();
                one.tail().split().add(IndexedText.split(one.message(), words));
            }
        }
    }

    /** Returns the sequences around some places. */
    static Set<Long> around(Collection<Long> places, int reach) {
        return places.stream()
                .flatMapToLong(place -> LongStream.rangeClosed(Math.max(1, place - reach), place + reach))
                .boxed()
                .collect(Collectors.toSet());
    }

    /** Reads the messages of some sequences of each memory, in as few steps as each log can. */
    Map<MemoryKey, NavigableMap<Long, LoggedMessage>> at(Map<MemoryKey, ? extends Collection<Long>> sequences) {
        Map<MemoryKey, NavigableMap<Long, LoggedMessage>> found = new HashMap<>();
        byLog(sequences)
                .forEach((log, asked) -> log.find(Selection.ofSequences(asked)).forEach((key, messages) -> {
                    NavigableMap<Long, LoggedMessage> bySequence = new TreeMap<>();
                    messages.forEach(each -> bySequence.put(each.message().sequence(), each.message()));
                    found.put(key, bySequence);
                }));
        return found;
    }

    private <T> Map<MessageLog, Map<MemoryKey, T>> byLog(Map<MemoryKey, T> asked) {
        Map<MessageLog, Map<MemoryKey, T>> byLog = new LinkedHashMap<>();
        asked.forEach((key, of) -> byLog.computeIfAbsent(logs.apply(key), log -> new LinkedHashMap<>())
                .put(key, of));
        return byLog;
    }

    /**
     * Removes messages that were erased since they were read. A new memory of the same id has other messages at the
     * same places, and the check of the branch was made with those.
     */
    <T> List<T> stillThere(List<T> found, Function<T, MemoryKey> key, Function<T, List<LoggedMessage>> messages) {
        Map<MemoryKey, Set<String>> ids = new LinkedHashMap<>();
        for (T one : found) {
            Set<String> ofMemory = ids.computeIfAbsent(key.apply(one), k -> new HashSet<>());
            messages.apply(one).forEach(message -> ofMemory.add(message.id()));
        }
        Map<MemoryKey, Set<String>> there = new HashMap<>();
        byLog(ids).forEach((log, asked) -> log.find(Selection.ofIds(asked))
                .forEach((k, read) -> there.put(
                        k, read.stream().map(each -> each.message().id()).collect(Collectors.toSet()))));
        return found.stream()
                .filter(one -> messages.apply(one).stream()
                        .allMatch(message ->
                                there.getOrDefault(key.apply(one), Set.of()).contains(message.id())))
                .toList();
    }

    /** The result of a search, while it is built. */
    private final class Found {

        private final Map<String, Long> frequencies;
        private final Map<String, List<Posting>> postings = new LinkedHashMap<>();
        private final Set<String> days;
        private final Times times;
        private final Map<Long, MemoryKey> tailKeys = new HashMap<>();
        private long messages;
        private long totalLength;

        Found(Matches matches, Set<String> days, Times times) {
            this.days = days;
            this.times = times;
            frequencies = new HashMap<>(matches.frequencies());
            matches.postings().forEach((term, list) -> postings.put(term, new ArrayList<>(list)));
            messages = matches.messages();
            totalLength = matches.totalLength();
        }

        void add(Tail tail, long number, Set<String> terms) {
            tailKeys.put(number, tail.key());
            for (IndexedMessage message : tail.split()) {
                messages++;
                totalLength += message.length();
                long block = message.sequence() / Posting.BLOCK * Posting.BLOCK;
                for (String term : terms) {
                    int count = message.terms().getOrDefault(term, 0);
                    if (count > 0) {
                        frequencies.merge(term, 1L, Long::sum);
                        postings.computeIfAbsent(term, t -> new ArrayList<>())
                                .add(Posting.decode(number, block, Posting.encode(message, count)));
                    }
                }
            }
        }

        Candidates best(Scope scope, int most, boolean lagging) {
            Scores scores =
                    new Scores(postings.values().stream().mapToInt(List::size).sum());
            Matches statistics = new Matches(messages, totalLength, frequencies, Map.of());
            double average = statistics.averageLength();
            // In the order of the terms' texts, so that equal numbers always have equal sums.
            postings.keySet().stream()
                    .filter(term -> !days.contains(term))
                    .sorted()
                    .forEach(term -> {
                        double idf = statistics.idf(term);
                        for (Posting posting : postings.getOrDefault(term, List.of())) {
                            scores.add(posting, idf * Bm25.STANDARD.weight(posting.count(), posting.length(), average));
                        }
                    });
            List<Candidate> best = new ArrayList<>(scores.best(most));
            best.addAll(ofTimes(scores, most));
            Set<Long> numbers = new LinkedHashSet<>();
            best.forEach(candidate -> numbers.add(candidate.posting().memory()));
            Map<Long, MemoryKey> keys = new HashMap<>(tailKeys);
            numbers.removeAll(tailKeys.keySet());
            MemoryKey only = scope.only();
            if (only == null) {
                keys.putAll(index.keys(numbers));
            } else {
                numbers.forEach(number -> keys.put(number, only));
            }
            return new Candidates(statistics, best, keys, lagging);
        }

        /** Returns messages of the times: those with words first, and then some of each day. */
        private List<Candidate> ofTimes(Scores scores, int most) {
            List<List<Posting>> days = new ArrayList<>();
            for (List<Days> alternatives : times.occasions()) {
                alternatives.stream()
                        .map(this::ofDays)
                        .filter(found -> !found.isEmpty())
                        .findFirst()
                        .ifPresent(days::addAll);
            }
            return Days.inTurns(days).stream()
                    .map(posting -> new Candidate(posting, scores.of(posting)))
                    .sorted(Comparator.comparingDouble(Candidate::score).reversed())
                    .limit(most)
                    .toList();
        }

        private List<List<Posting>> ofDays(Days days) {
            Comparator<Posting> oldestFirst =
                    Comparator.comparingLong(Posting::sequence).thenComparing(Posting::memory);
            boolean fromEnd = days.beginWithinUtcDay(times.zone());
            List<List<Posting>> found = new ArrayList<>();
            for (LocalDate day : days.inUtc(times.zone())) {
                List<Posting> ofDay = postings.getOrDefault(words.dayTerm(day), List.of());
                // The beginning of the first UTC day is before the time.
                Comparator<Posting> order = fromEnd ? oldestFirst.reversed() : oldestFirst;
                fromEnd = false;
                if (!ofDay.isEmpty()) {
                    found.add(ofDay.stream().sorted(order).toList());
                }
            }
            return found;
        }
    }

    /**
     * Adds the scores of words in messages. A search adds tens of thousands of numbers. In a map of objects, this took
     * longer than reading the numbers. Not thread-safe.
     */
    private static final class Scores {

        private static final Comparator<Candidate> BEST_FIRST = Comparator.comparingDouble(Candidate::score)
                .reversed()
                .thenComparing(candidate -> candidate.posting().sequence(), Comparator.reverseOrder())
                .thenComparing(candidate -> candidate.posting().memory());

        /** A table with open addressing, at most half full. */
        private final @Nullable Posting[] postings;

        private final double[] sums;

        /**
         * Creates an empty table.
         *
         * @param most the largest number of messages
         */
        Scores(int most) {
            int size = Math.max(16, Integer.highestOneBit(Math.max(1, most)) * 4);
            postings = new @Nullable Posting[size];
            sums = new double[size];
        }

        /** Adds the score of a word in a message. */
        void add(Posting posting, double weight) {
            int at = place(posting);
            postings[at] = postings[at] == null ? posting : postings[at];
            sums[at] += weight;
        }

        /** Returns the sum of a message, 0 if it has no word. */
        double of(Posting posting) {
            return sums[place(posting)];
        }

        /** Returns the place of a message, or the free one where it belongs. */
        private int place(Posting posting) {
            long hash = (posting.memory() * 0x9E3779B97F4A7C15L + posting.sequence()) * 0x9E3779B97F4A7C15L;
            int mask = postings.length - 1;
            int at = (int) (hash >>> 32) & mask;
            while (true) {
                Posting there = postings[at];
                if (there == null || (there.sequence() == posting.sequence() && there.memory() == posting.memory())) {
                    return at;
                }
                at = (at + 1) & mask;
            }
        }

        /**
         * Returns the messages with the largest sums, best first. If sums are equal, the higher sequence comes first.
         */
        List<Candidate> best(int most) {
            PriorityQueue<Candidate> best = new PriorityQueue<>(BEST_FIRST.reversed());
            for (int i = 0; i < postings.length; i++) {
                Posting posting = postings[i];
                if (posting == null) {
                    continue;
                }
                Candidate worst = best.peek();
                if (best.size() < most || (worst != null && sums[i] >= worst.score())) {
                    best.add(new Candidate(posting, sums[i]));
                    if (best.size() > most) {
                        best.poll();
                    }
                }
            }
            return best.stream().sorted(BEST_FIRST).toList();
        }
    }
}

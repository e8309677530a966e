package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.Candidates.Candidate;
import io.github.keepsake4j.recall.MessageSearch.Visible;
import io.github.keepsake4j.recall.Recalled.Excerpt;
import io.github.keepsake4j.recall.Recalled.Passage;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.SomeTokens;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Recalls parts of conversations that answer a question. This class is not for users: a {@code Keepsake} has one. Writes
 * nothing. Thread-safe.
 */
public final class MessageRecall {

    /**
     * The number of messages that the index proposes. Half as many find about as much in a short memory, and less in a
     * long memory.
     */
    private static final int CANDIDATES = 100;

    /** The number of proposed messages in a large scope, where nearly each message is a read of another memory. */
    private static final int FEWER_CANDIDATES = 50;

    /** The number of UTF-16 code units of what was said before a question that are asked for too. */
    private static final int MAX_BEFORE = 400;

    private final MessageSearch search;
    private final Function<MemoryKey, Seen> shown;
    private final Words words;
    private final TokenCounter counter;
    private final InstantSource clock;

    /**
     * The messages of a memory that a model is shown.
     *
     * @param read the read of the memory
     * @param ids the ids of the messages that are shown
     * @param end the message behind which the model's answer belongs; messages that are not before it are not recalled
     */
    public record Seen(Tail read, Set<String> ids, Parent end) {}

    /**
     * Creates a recall that counts with {@link TokenCounter#standard()}.
     *
     * @param search the search for messages
     * @param shown returns the messages of a memory that a model is shown
     */
    public MessageRecall(MessageSearch search, Function<MemoryKey, Seen> shown) {
        this(search, shown, TokenCounter.standard());
    }

    /**
     * Creates a recall.
     *
     * @param search the search for messages
     * @param shown returns the messages of a memory that a model is shown
     * @param counter counts the tokens of what is recalled; {@link TokenCounter#standard()} does so in place of a remote
     *     one
     */
    public MessageRecall(MessageSearch search, Function<MemoryKey, Seen> shown, TokenCounter counter) {
        this(search, shown, counter, InstantSource.system());
    }

    /** Creates a recall with a clock from which words such as "yesterday" count. */
    MessageRecall(MessageSearch search, Function<MemoryKey, Seen> shown, TokenCounter counter, InstantSource clock) {
        this.clock = clock;
        this.search = search;
        this.shown = shown;
        this.words = search.words();
        this.counter = counter.forAppends();
    }

    /**
     * Recalls messages that answer a question.
     *
     * @param scope one memory, or some that the application names
     * @param text the question; any text
     * @param options how to recall
     * @return passages, best first
     * @throws InvalidInputException if the scope is a tenant
     */
    public Recalled recall(Scope scope, String text, RecallOptions options) {
        return recall(scope, text, null, options);
    }

    /**
     * Recalls messages with what the user said before the question, newest first, or null if the memory that is shown tells
     * it.
     */
    Recalled recall(Scope scope, String text, @Nullable List<String> said, RecallOptions options) {
        if (scope.memories() == null) {
            throw new InvalidInputException(
                    "scope",
                    "must name memories for a recall; the scope of a whole tenant would show messages of "
                            + "one user to another");
        }
        LocalDate today = LocalDate.ofInstant(clock.instant(), options.zone());
        Question alone = Question.of(text, "", Named.ROLES, words, today);
        MemoryKey shownTo = options.shownTo() == null ? scope.only() : options.shownTo();
        boolean isRead =
                alone.followsUp() || (shownTo != null && scope.memories().contains(shownTo));
        Seen seen = shownTo != null && isRead ? shown.apply(shownTo) : null;
        String before = alone.followsUp() ? before(said, seen, text) : "";
        Question asked = before.isEmpty() ? alone : Question.of(text, before, Named.ROLES, words, today);
        Finder.Times times = new Finder.Times(asked.dates().occasions(), options.zone());
        if (asked.terms().isEmpty() && times.occasions().isEmpty()) {
            return new Recalled(List.of(), false);
        }
        Heads heads = new Heads(search::log);
        if (shownTo != null && seen != null) {
            heads.put(shownTo, seen.read(), seen.end());
        }
        Candidates candidates = search.finder().find(scope, asked.terms(), times, most(scope), heads);
        Map<MemoryKey, Set<Long>> places = places(candidates, most(scope));
        Map<MemoryKey, NavigableMap<Long, LoggedMessage>> read =
                new HashMap<>(search.finder().at(places));
        Supplier<String> unnamed = () -> Named.unnamed(asked.split().text(), speakers(read));
        Meaning meaning = search.meaning(scope, unnamed, places, options.sessionGap());
        // What is near in meaning is found though it has no word of the question.
        Map<MemoryKey, Set<Long>> near = new LinkedHashMap<>();
        meaning.nearest(most(scope) / 2).forEach((key, nearest) -> {
            Set<Long> around = new HashSet<>(Finder.around(nearest, 1));
            around.removeAll(places.getOrDefault(key, Set.of()));
            near.put(key, around);
        });
        search.finder().at(near).forEach((key, messages) -> read.computeIfAbsent(key, k -> new TreeMap<>())
                .putAll(messages));
        List<Memory> memories = Stream.concat(places.keySet().stream(), near.keySet().stream())
                .distinct()
                .filter(read::containsKey)
                .map(key -> new Memory(
                        key,
                        read.getOrDefault(key, Collections.emptyNavigableMap()),
                        seen != null && key.equals(shownTo) ? seen.ids() : Set.of(),
                        heads))
                .toList();
        Question named = asked.split().by(speakers(read));
        Question question = named.units().isEmpty() ? asked : named;
        TextScan reading = new TextScan(
                question, words, candidates.statistics(), memories.stream().flatMapToInt(Memory::lengths));
        Ranking ranking = new Ranking(question, candidates.statistics(), meaning, options.zone());
        Map<Memory, List<ChatSession>> sessions = new LinkedHashMap<>();
        memories.forEach(memory -> sessions.put(memory, memory.sessions(question, reading, options.sessionGap())));
        List<Found> found = found(sessions, (memory, known) -> ranking.rank(memory.key, known).stream()
                .filter(ranked -> ranking.fits(memory.key, ranked)
                        || times.has(ranked.utterance().time())));
        if (found.stream().allMatch(one -> one.ranked().features().words() == 0)) {
            // No message has a word as it is written, but those with similar words come first.
            List<Found> similar = found(sessions, (memory, known) -> ranking.rankByTerms(known).stream()
                    .filter(ranked -> memory.isLike(question, ranked)));
            similar.addAll(found);
            found = similar;
        }
        List<Found> best = question.onlyTime() ? ofTimesFirst(found, times) : found;
        List<Passage> passages = search.finder().stillThere(passages(best, options), Passage::key, Passage::messages);
        return new Recalled(passages, candidates.lagging());
    }

    /** Returns what the user said last that tells what a question is about; nothing if there is none. */
    private String before(@Nullable List<String> said, @Nullable Seen seen, String question) {
        Stream<LoggedMessage> newestFirst = seen == null
                ? Stream.empty()
                : Stream.concat(
                        Stream.ofNullable(seen.read().user()),
                        seen.read().messages().stream()
                                .sorted(Comparator.comparingLong(LoggedMessage::sequence)
                                        .reversed()));
        Stream<String> ofUser = newestFirst
                .filter(message -> message.message() instanceof UserMessage)
                .map(IndexedText::of);
        return (said == null ? ofUser : said.stream())
                .filter(text -> !text.isBlank() && !text.strip().equals(question.strip()))
                .map(text -> text.substring(0, Embeddings.end(text, 0, MAX_BEFORE)))
                .filter(text -> !Question.of(text, "", Named.ROLES, words, LocalDate.EPOCH)
                        .followsUp())
                .findFirst()
                .orElse("");
    }

    private static Set<String> speakers(Map<MemoryKey, NavigableMap<Long, LoggedMessage>> read) {
        return read.values().stream()
                .flatMap(messages -> messages.values().stream())
                .map(RecalledText::speaker)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** A message that may answer the question. */
    private record Found(Memory memory, Ranked ranked) {}

    private static List<Found> found(
            Map<Memory, List<ChatSession>> sessions, BiFunction<Memory, List<ChatSession>, Stream<Ranked>> ranking) {
        List<Found> found = new ArrayList<>();
        sessions.forEach((memory, known) ->
                ranking.apply(memory, known).forEach(ranked -> found.add(new Found(memory, ranked))));
        found.sort(
                Comparator.comparingDouble((Found one) -> one.ranked().score()).reversed());
        return found;
    }

    /**
     * Puts what was said at the times that are named before everything else: the first message of each day, then the
     * second of each. So a model is told how a day began, and something of each day of a month.
     */
    private static List<Found> ofTimesFirst(List<Found> found, Finder.Times times) {
        List<Found> oldestFirst = new ArrayList<>(found);
        oldestFirst.sort(Comparator.comparing(one -> one.ranked().utterance().sequence()));
        Map<LocalDate, List<Found>> days = new TreeMap<>();
        for (List<Days> alternatives : times.occasions()) {
            for (Days occasion : alternatives) {
                Map<LocalDate, List<Found>> said = new TreeMap<>();
                for (Found one : oldestFirst) {
                    LocalDate day = LocalDate.ofInstant(one.ranked().utterance().time(), times.zone());
                    if (occasion.has(day)) {
                        said.computeIfAbsent(day, d -> new ArrayList<>()).add(one);
                    }
                }
                days.putAll(said);
                if (!said.isEmpty()) {
                    break;
                }
            }
        }
        List<Found> inTurns = new ArrayList<>(Days.inTurns(days.values()));
        inTurns.sort(Comparator.comparingDouble(
                        (Found one) -> one.ranked().features().speaker())
                .reversed());
        Set<Found> all = new LinkedHashSet<>(inTurns);
        all.addAll(found);
        return List.copyOf(all);
    }

    /** Returns the number of messages that the index proposes. */
    static int most(Scope scope) {
        return scope.isLarge() ? FEWER_CANDIDATES : CANDIDATES;
    }

    /** Returns the places of the messages that the index proposes by their words, with neighbours. */
    private static Map<MemoryKey, Set<Long>> places(Candidates candidates, int most) {
        Map<MemoryKey, Set<Long>> places = new LinkedHashMap<>();
        List<Candidate> best = candidates.best();
        for (int i = 0; i < best.size(); i++) {
            MemoryKey key = candidates.keys().get(best.get(i).posting().memory());
            if (key != null) {
                long place = best.get(i).posting().sequence();
                // The better half is ranked with two messages before and behind each, one of which may be the answer.
                places.computeIfAbsent(key, k -> new HashSet<>())
                        .addAll(Finder.around(List.of(place), i < most / 2 ? 2 : 1));
            }
        }
        return places;
    }

    private List<Passage> passages(List<Found> found, RecallOptions options) {
        List<Passage> passages = new ArrayList<>();
        PassageTokens tokens = new PassageTokens(options.maxTokens(), counter, options.zone());
        for (Found one : found) {
            if (passages.size() == options.maxPassages() || !tokens.isAnyLeft()) {
                break;
            }
            Passage passage = one.memory().passage(one.ranked(), options, tokens);
            if (passage != null) {
                passages.add(passage);
                tokens.nextPassage();
            }
        }
        return passages;
    }

    /** The messages of one memory that were read for one question. */
    private final class Memory {

        private final MemoryKey key;
        private final Set<String> shownIds;
        private final Visible visible;
        private final NavigableMap<Long, LoggedMessage> messages;

        /** The texts of the messages that a user or a model said. */
        private final Map<Long, String> texts = new HashMap<>();

        private final Map<Long, IntFunction<Excerpt>> excerpts = new HashMap<>();
        private final Map<Long, Instant> sessionTimes = new HashMap<>();
        private final Set<Long> given = new HashSet<>();
        private @Nullable Set<Long> onBranch;

        Memory(MemoryKey key, NavigableMap<Long, LoggedMessage> messages, Set<String> shownIds, Heads heads) {
            this.key = key;
            this.messages = messages;
            this.shownIds = shownIds;
            visible = new Visible(search.log(key), key, heads);
            for (LoggedMessage message : messages.values()) {
                IndexedText.said(message).ifPresent(text -> texts.put(message.sequence(), text));
            }
        }

        IntStream lengths() {
            return texts.values().stream().mapToInt(String::length);
        }

        /**
         * Returns the messages to rank. It is not known yet which of them are hidden: this costs a read, and few of
         * them are returned.
         */
        List<ChatSession> sessions(Question question, TextScan reading, Duration sessionGap) {
            List<Utterance> utterances = new ArrayList<>();
            for (LoggedMessage message : messages.values()) {
                String text = texts.get(message.sequence());
                if (text != null && !Visible.endedBadly(message)) {
                    List<Excerpt> parts = reading.parts(text);
                    SomeTokens tokens = reading.tokens(text, parts);
                    utterances.add(Utterance.of(message, text, parts, tokens, question.isRepeatedBy(text)));
                    excerpts.put(message.sequence(), length -> reading.excerpt(text, tokens.tokens(), length));
                }
            }
            List<ChatSession> sessions = ChatSession.cut(utterances, sessionGap);
            for (ChatSession session : sessions) {
                Instant time = session.utterances().get(0).time();
                session.utterances().forEach(utterance -> sessionTimes.put(utterance.sequence(), time));
            }
            return sessions;
        }

        /** Returns whether a message may have other forms or spellings of the question's words. */
        boolean isLike(Question question, Ranked ranked) {
            Utterance utterance = ranked.utterance();
            String text = texts.get(utterance.sequence());
            return ranked.features().words() > 0
                    && text != null
                    && (utterance.repeats() || question.isLike(utterance.terms().keySet(), text, words));
        }

        /** Returns whether a message may be given out. */
        private boolean isVisible(LoggedMessage message, RecallOptions options) {
            return !Visible.endedBadly(message) && (options.hidden() || visible.shows(message)) && isOnBranch(message);
        }

        /** Returns the passage around a message, or null if it may not be recalled or does not fit. */
        @Nullable
        Passage passage(Ranked ranked, RecallOptions options, PassageTokens tokens) {
            LoggedMessage message = messages.get(ranked.utterance().sequence());
            if (message == null || !isNew(message) || !isVisible(message, options) || !take(message, tokens)) {
                return null;
            }
            Deque<LoggedMessage> passage = new ArrayDeque<>(List.of(message));
            LoggedMessage first = message;
            LoggedMessage last = message;
            for (int i = 0; i < options.neighbours(); i++) {
                first = first == null ? null : takeNeighbour(first, false, options, tokens);
                if (first != null) {
                    passage.addFirst(first);
                }
                last = last == null ? null : takeNeighbour(last, true, options, tokens);
                if (last != null) {
                    passage.addLast(last);
                }
            }
            passage.forEach(one -> given.add(one.sequence()));
            return new Passage(
                    key,
                    ranked.score(),
                    ranked.features(),
                    sessionTimes.getOrDefault(message.sequence(), message.createdAt()),
                    message,
                    tokens.excerpts(),
                    List.copyOf(passage));
        }

        private boolean take(LoggedMessage message, PassageTokens tokens) {
            IntFunction<Excerpt> ofLength = excerpts.get(message.sequence());
            return ofLength != null && tokens.take(message, ofLength);
        }

        /** One read finds the hidden messages of all, as soon as one message is to be returned. */
        private boolean isOnBranch(LoggedMessage message) {
            if (onBranch == null) {
                onBranch = visible.onBranch(messages.keySet());
            }
            return onBranch.contains(message.sequence());
        }

        private boolean isNew(LoggedMessage message) {
            return !given.contains(message.sequence()) && !shownIds.contains(message.id());
        }

        /** Returns the message before or behind another one, or null if it may not be shown or does not fit. */
        private @Nullable LoggedMessage takeNeighbour(
                LoggedMessage of, boolean after, RecallOptions options, PassageTokens tokens) {
            LoggedMessage near = after ? child(of) : parent(of);
            // Skips the calls and results of tools.
            while (near != null && !texts.containsKey(near.sequence())) {
                near = after ? child(near) : parent(near);
            }
            boolean isNear = near != null
                    && isNew(near)
                    && isVisible(near, options)
                    && !ChatSession.isGap(
                            after ? of.createdAt() : near.createdAt(),
                            after ? near.createdAt() : of.createdAt(),
                            options.sessionGap())
                    && take(near, tokens);
            return isNear ? near : null;
        }

        private @Nullable LoggedMessage parent(LoggedMessage of) {
            return messages.headMap(of.sequence(), false).descendingMap().values().stream()
                    .filter(message -> message.id().equals(of.parentId()))
                    .findFirst()
                    .orElse(null);
        }

        private @Nullable LoggedMessage child(LoggedMessage of) {
            return messages.tailMap(of.sequence()).values().stream()
                    .filter(message -> of.id().equals(message.parentId()) && isOnBranch(message))
                    .findFirst()
                    .orElse(null);
        }
    }
}

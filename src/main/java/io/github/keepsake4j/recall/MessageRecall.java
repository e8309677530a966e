package io.github.keepsake4j.recall;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.Candidates.Candidate;
import io.github.keepsake4j.recall.MessageSearch.Visible;
import io.github.keepsake4j.recall.Recalled.Passage;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.WantedTerms;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
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

    /** The tokens of a message's time and speaker. */
    private static final int TOKENS_OF_A_LINE = 16;

    /**
     * The tokens that are counted for the indent of a line. Its two spaces are rarely one token with the following
     * text.
     */
    private static final int TOKENS_OF_AN_INDENT = 2;

    private final MessageSearch search;
    private final Function<MemoryKey, Seen> shown;
    private final Words words;

    /**
     * The messages of a memory that a model is shown.
     *
     * @param read the read of the memory
     * @param ids the ids of the messages that are shown
     */
    public record Seen(Tail read, Set<String> ids) {}

    /**
     * Creates a recall.
     *
     * @param search the search for messages
     * @param shown returns the messages of a memory that a model is shown
     */
    public MessageRecall(MessageSearch search, Function<MemoryKey, Seen> shown) {
        this.search = search;
        this.shown = shown;
        this.words = search.words();
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
        if (scope.memories() == null) {
            throw new InvalidInputException(
                    "scope",
                    "must name memories for a recall; the scope of a whole tenant would show messages of "
                            + "one user to another");
        }
        Question asked = Question.of(text, Set.of(Named.USER, Named.ASSISTANT), words);
        if (asked.terms().isEmpty()) {
            return new Recalled(List.of(), false);
        }
        Heads heads = new Heads(search::log);
        MemoryKey shownTo = options.shownTo() == null ? scope.only() : options.shownTo();
        Set<String> shownIds = Set.of();
        if (shownTo != null && scope.memories().contains(shownTo)) {
            Seen seen = shown.apply(shownTo);
            heads.put(shownTo, seen.read());
            shownIds = seen.ids();
        }
        Candidates candidates = search.finder().find(scope, asked.terms(), most(scope), heads);
        List<Memory> memories = memories(candidates, most(scope), heads, shownTo, shownIds);
        Set<String> speakers = new TreeSet<>();
        memories.forEach(memory -> speakers.addAll(memory.speakers()));
        Question named = Question.of(text, speakers, words);
        Question question = named.units().isEmpty() ? asked : named;
        Ranking ranking = new Ranking(question, candidates.statistics(), Recalled.Features.WEIGHTS, options.zone());
        Map<Memory, List<Session>> sessions = new LinkedHashMap<>();
        memories.forEach(memory -> sessions.put(memory, memory.sessions(question, options.sessionGap())));
        List<Found> found = found(sessions, ranking::rank);
        if (found.isEmpty()) {
            found = found(sessions, ranking::rankByTerms).stream()
                    .filter(one -> one.memory().isLike(question, one.ranked().utterance()))
                    .toList();
        }
        List<Passage> passages = search.finder().stillThere(passages(found, options), Passage::key, Passage::messages);
        return new Recalled(passages, candidates.lagging());
    }

    /** A message that may answer the question. */
    private record Found(Memory memory, Ranked ranked) {}

    private static List<Found> found(
            Map<Memory, List<Session>> sessions, Function<List<Session>, List<Ranked>> ranking) {
        List<Found> found = new ArrayList<>();
        sessions.forEach((memory, known) -> ranking.apply(known).stream()
                .filter(ranked -> ranked.features().words() > 0)
                .forEach(ranked -> found.add(new Found(memory, ranked))));
        found.sort(
                Comparator.comparingDouble((Found one) -> one.ranked().score()).reversed());
        return found;
    }

    /** Returns the number of messages that the index proposes. */
    static int most(Scope scope) {
        return scope.isLarge() ? FEWER_CANDIDATES : CANDIDATES;
    }

    private List<Memory> memories(
            Candidates candidates, int most, Heads heads, @Nullable MemoryKey shownTo, Set<String> shownIds) {
        Map<MemoryKey, Set<Long>> places = new LinkedHashMap<>();
        List<Candidate> best = candidates.best();
        for (int i = 0; i < best.size(); i++) {
            MemoryKey key = candidates.keys().get(best.get(i).posting().memory());
            if (key != null) {
                long place = best.get(i).posting().sequence();
                // The better half is ranked with two messages before and behind each, one of which may be the answer.
                int reach = i < most / 2 ? 2 : 1;
                places.computeIfAbsent(key, k -> new HashSet<>()).addAll(Finder.around(List.of(place), reach));
            }
        }
        Map<MemoryKey, NavigableMap<Long, LoggedMessage>> read = search.finder().at(places);
        return places.keySet().stream()
                .map(key -> new Memory(
                        key,
                        read.getOrDefault(key, Collections.emptyNavigableMap()),
                        key.equals(shownTo) ? shownIds : Set.of(),
                        heads))
                .toList();
    }

    private List<Passage> passages(List<Found> found, RecallOptions options) {
        List<Passage> passages = new ArrayList<>();
        long tokens = options.maxTokens();
        for (Found one : found) {
            if (passages.size() == options.maxPassages() || tokens <= 0) {
                break;
            }
            Passage passage = one.memory().passage(one.ranked(), options, tokens);
            if (passage != null) {
                passages.add(passage);
                tokens -= passage.messages().stream()
                        .mapToLong(MessageRecall::tokens)
                        .sum();
            }
        }
        return passages;
    }

    private static long tokens(LoggedMessage message) {
        return message.tokens() + TOKENS_OF_A_LINE + TOKENS_OF_AN_INDENT * RecalledText.furtherLines(message);
    }

    /** The messages of one memory that were read for one question. */
    private final class Memory {

        private final MemoryKey key;
        private final Set<String> shownIds;
        private final Visible visible;
        private final NavigableMap<Long, LoggedMessage> messages;
        private final Map<Long, Instant> sessionTimes = new HashMap<>();
        private final Set<Long> given = new HashSet<>();
        private @Nullable Set<Long> onBranch;

        Memory(MemoryKey key, NavigableMap<Long, LoggedMessage> messages, Set<String> shownIds, Heads heads) {
            this.key = key;
            this.messages = messages;
            this.shownIds = shownIds;
            visible = new Visible(search.log(key), key, heads);
        }

        Set<String> speakers() {
            Set<String> speakers = new TreeSet<>();
            messages.values().forEach(message -> speakers.add(RecalledText.speaker(message)));
            return speakers;
        }

        /**
         * Returns the messages to rank. It is not known yet which of them are hidden: this costs a read, and few of
         * them are returned.
         */
        List<Session> sessions(Question question, Duration sessionGap) {
            WantedTerms terms = WantedTerms.of(question.terms());
            List<Utterance> utterances = new ArrayList<>();
            for (LoggedMessage message : messages.values()) {
                if (isSaid(message) && !Visible.endedBadly(message)) {
                    String text = IndexedText.of(message);
                    utterances.add(Utterance.of(
                                    message.sequence(),
                                    RecalledText.speaker(message),
                                    message.createdAt(),
                                    text,
                                    words.tokens(text, terms))
                            .withRepeats(question.isRepeatedBy(text)));
                }
            }
            List<Session> sessions = Session.cut(utterances, sessionGap);
            for (Session session : sessions) {
                Instant time = session.utterances().get(0).time();
                session.utterances().forEach(utterance -> sessionTimes.put(utterance.sequence(), time));
            }
            return sessions;
        }

        /** Returns whether a message may have other forms or spellings of the question's words. */
        boolean isLike(Question question, Utterance utterance) {
            LoggedMessage message = messages.get(utterance.sequence());
            return message != null
                    && (utterance.repeats()
                            || question.isLike(utterance.terms().keySet(), IndexedText.of(message), words));
        }

        private static boolean isSaid(LoggedMessage message) {
            return (message.message() instanceof UserMessage || message.message() instanceof AiMessage)
                    && !IndexedText.of(message).isBlank();
        }

        /** Returns whether a message may be given out. */
        private boolean isVisible(LoggedMessage message, RecallOptions options) {
            return !Visible.endedBadly(message) && (options.hidden() || visible.shows(message)) && isOnBranch(message);
        }

        /** Returns the passage around a message, or null if it may not be recalled or does not fit. */
        @Nullable
        Passage passage(Ranked ranked, RecallOptions options, long budget) {
            LoggedMessage message = messages.get(ranked.utterance().sequence());
            if (message == null || !isNew(message) || tokens(message) > budget || !isVisible(message, options)) {
                return null;
            }
            long left = budget - tokens(message);
            Deque<LoggedMessage> passage = new ArrayDeque<>(List.of(message));
            LoggedMessage first = message;
            LoggedMessage last = message;
            for (int i = 0; i < options.neighbours(); i++) {
                LoggedMessage before = first == null ? null : neighbour(first, false, left, options);
                if (before != null) {
                    passage.addFirst(before);
                    left -= tokens(before);
                }
                first = before;
                LoggedMessage after = last == null ? null : neighbour(last, true, left, options);
                if (after != null) {
                    passage.addLast(after);
                    left -= tokens(after);
                }
                last = after;
            }
            passage.forEach(one -> given.add(one.sequence()));
            return new Passage(
                    key,
                    ranked.score(),
                    ranked.features(),
                    sessionTimes.getOrDefault(message.sequence(), message.createdAt()),
                    message,
                    List.copyOf(passage));
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

        private @Nullable LoggedMessage neighbour(LoggedMessage of, boolean after, long budget, RecallOptions options) {
            LoggedMessage near = after ? child(of) : parent(of);
            // Skips the calls and results of tools.
            while (near != null && !isSaid(near)) {
                near = after ? child(near) : parent(near);
            }
            boolean isNear = near != null
                    && isNew(near)
                    && tokens(near) <= budget
                    && isVisible(near, options)
                    && !Session.isGap(
                            after ? of.createdAt() : near.createdAt(),
                            after ? near.createdAt() : of.createdAt(),
                            options.sessionGap());
            return isNear ? near : null;
        }

        private @Nullable LoggedMessage parent(LoggedMessage of) {
            return messages.headMap(of.sequence()).values().stream()
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

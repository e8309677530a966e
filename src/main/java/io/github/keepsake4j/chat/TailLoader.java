package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.EndedBadly;
import io.github.keepsake4j.context.Meanwhile;
import io.github.keepsake4j.context.Reach;
import io.github.keepsake4j.context.Remembered;
import io.github.keepsake4j.context.Turn;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounts;
import io.github.keepsake4j.tokens.TokenSizes;
import io.github.keepsake4j.view.ViewReader;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads as far back as a strategy requires. The log bounds a read by the tokens that were counted when the messages were
 * appended. Where another counter counts less, or a message is shown shortened or not at all, that leaves room, and more
 * is read: twice as much each time. How much was enough is kept for the next read of the memory. Thread-safe.
 */
final class TailLoader {

    /**
     * The assumed number of messages in a turn, and the factor by which the next read grows. The log does not count
     * turns, so a read that is bounded by turns starts with this guess.
     */
    private static final int MESSAGES_PER_TURN = 4;

    /** More messages than any branch holds, but small enough to calculate with. */
    private static final int ALL = 1 << 30;

    /** The maximum number of memories of which it is known how much to read. */
    private static final int MEMORIES = 1_000;

    /** The factor by which a read that left room is followed by a larger one. */
    private static final int GROWTH = 2;

    /** By this part, at least, more messages are looked at where others were left out. */
    private static final int FINER = 4;

    /** The maximum number of further reads that look for the calls of a turn that goes on. */
    private static final int MOST_FURTHER_READS = 5;

    /** If more than this part of a read was not needed, the next one is smaller. */
    private static final double FAR_TOO_MUCH = 0.75;

    private final ContextStrategy strategy;
    private final TokenCounts counts;
    private final RecentTails recent = new RecentTails();
    private final RecentlyUsed<MemoryKey, Long> enough = new RecentlyUsed<>(MEMORIES);

    /**
     * How many more messages a read needed, because some were left out that ended badly, or system messages that a newer one
     * replaced. The next one reads as many more.
     */
    private final RecentlyUsed<MemoryKey, Integer> uncounted = new RecentlyUsed<>(MEMORIES);

    /** Creates a loader. The executor calls counters that call a server; the clock is that of their pause. */
    TailLoader(ContextStrategy strategy, Executor executor, LongSupplier nanoTime) {
        this.strategy = strategy;
        this.counts = new TokenCounts(executor, nanoTime);
    }

    TokenSizes sizes(MemoryKey key) {
        return counts.of(key);
    }

    /**
     * Reads as far back as the strategy requires. What other turns added while the turn that goes on waited for its tools does
     * not count.
     *
     * @param round the ids of the calls and of the results with which a turn goes on; empty or null for none
     * @param from directs each read to the branch of the turn
     */
    Tail load(
            MessageLog log,
            Object id,
            MemoryKey key,
            int atLeast,
            @Nullable List<String> round,
            UnaryOperator<ReadQuery> from) {
        Reach reach = strategy.reach(id);
        if (reach.messages() < atLeast) {
            reach = new Reach(atLeast, reach.turns(), reach.tokens(), reach.oldest(), reach.toSummary());
        }
        Tail tail = load(log, id, key, reach, round, from);
        if (round == null || round.isEmpty()) {
            return tail;
        }
        boolean summarized = reach.toSummary();
        for (int reads = 0; reads < MOST_FURTHER_READS; reads++) {
            Meanwhile meanwhile = Meanwhile.of(tail.messages(), round);
            if (meanwhile.isRead()) {
                if (meanwhile.messages().isEmpty() || tail.complete()) {
                    return tail;
                }
                Tail exact = load(log, id, key, beyond(reach, meanwhile.messages(), summarized), round, from);
                // A turn that is longer than the strategy looks back still begins with its user message.
                return Meanwhile.of(exact.messages(), round).isRead() ? exact : tail;
            }
            if (tail.complete() && tail.summary() == null) {
                return tail;
            }
            // The calls are farther back than the strategy looks, or covered by a summary.
            summarized = false;
            int more = (int)
                    Math.min(ALL, (long) MESSAGES_PER_TURN * (tail.messages().size() + MESSAGES_PER_TURN));
            tail = load(
                    log,
                    id,
                    key,
                    new Reach(more, Integer.MAX_VALUE, Long.MAX_VALUE, reach.oldest(), false),
                    round,
                    from);
        }
        return tail;
    }

    private static Reach beyond(Reach reach, List<LoggedMessage> others, boolean summarized) {
        long tokens = others.stream().mapToLong(LoggedMessage::tokens).sum();
        return new Reach(
                (int) Math.min(Integer.MAX_VALUE, (long) reach.messages() + others.size()),
                (int) Math.min(Integer.MAX_VALUE, (long) reach.turns() + others.size()),
                Math.max(reach.tokens(), reach.tokens() + tokens),
                reach.oldest(),
                summarized);
    }

    /**
     * Reads on until enough is there beside the messages that are left out before any limit decides. How many more messages an
     * earlier read needed decides only how much is read at once, and not how many of them a strategy gets.
     */
    private Tail load(
            MessageLog log,
            Object id,
            MemoryKey key,
            Reach reach,
            @Nullable List<String> round,
            UnaryOperator<ReadQuery> from) {
        Integer known = uncounted.get(key);
        int fetched = known == null ? 0 : known;
        Tail all = loadCounted(log, id, key, further(reach, fetched), round, from);
        int more = 0;
        while (true) {
            if (more > fetched
                    && !all.complete()
                    && all.messages().size() >= further(reach, fetched).messages()) {
                fetched = (int) Math.min(ALL, (long) GROWTH * more);
                all = loadCounted(log, id, key, further(reach, fetched), round, from);
            }
            int wanted = further(reach, more).messages();
            Tail tail = newest(all, wanted);
            EndedBadly bad = EndedBadly.of(tail.messages(), tail.user());
            int read = tail.messages().size();
            int beside = bad.uncounted() + replacedSystems(tail);
            // Fewer messages mean that a bound of turns or tokens ended the read; those do not count them either.
            boolean enough =
                    tail.complete() || read < wanted || (read - beside >= reach.messages() && !bad.lacksBeginning());
            if (enough) {
                if (more == 0) {
                    uncounted.remove(key);
                } else {
                    uncounted.put(key, more);
                }
                return tail;
            }
            more = (int) Math.min(ALL, Math.max(beside, more + more / FINER + 1L));
        }
    }

    private static Reach further(Reach reach, int more) {
        return new Reach(
                (int) Math.min(Integer.MAX_VALUE, (long) reach.messages() + more),
                reach.turns(),
                reach.tokens(),
                reach.oldest(),
                reach.toSummary());
    }

    private static Tail newest(Tail tail, int most) {
        int left = tail.messages().size() - most;
        return left <= 0
                ? tail
                : new Tail(
                        tail.position(),
                        tail.messages().subList(left, tail.messages().size()),
                        tail.oldest(),
                        tail.system(),
                        tail.user(),
                        tail.view(),
                        tail.summary(),
                        false,
                        null);
    }

    private static int replacedSystems(Tail tail) {
        LoggedMessage inForce = tail.system();
        return (int) tail.messages().stream()
                .filter(message -> message.message() instanceof SystemMessage)
                .filter(message -> inForce == null || !message.id().equals(inForce.id()))
                .count();
    }

    private Tail loadCounted(
            MessageLog log,
            Object id,
            MemoryKey key,
            Reach reach,
            @Nullable List<String> round,
            UnaryOperator<ReadQuery> from) {
        if (reach.oldest() == Integer.MAX_VALUE) {
            ReadQuery everything = from.apply(ReadQuery.wholeBranch());
            return ViewReader.read(
                    log, key, reach.toSummary() ? everything.upToSummary().alsoOldest(ALL) : everything);
        }
        Long known = enough.get(key);
        long tokens = known == null ? reach.tokens() : Math.max(known, reach.tokens());
        while (true) {
            Tail tail = upTo(log, id, key, reach, tokens, from);
            if (tokens == Long.MAX_VALUE) {
                return tail;
            }
            long shownFrom = strategy.shownFrom(strategy.mark(read(id, key, tail, round)));
            if (tail.complete() || tail.messages().size() >= reach.messages() || shownFrom > 0) {
                boolean farTooMuch = tail.messages().stream()
                                .filter(message -> message.sequence() < shownFrom)
                                .count()
                        > tail.messages().size() * FAR_TOO_MUCH;
                remember(key, reach, farTooMuch ? tokens / 2 : tokens);
                return tail;
            }
            tokens = tokens > Long.MAX_VALUE / GROWTH ? Long.MAX_VALUE : GROWTH * tokens;
        }
    }

    private void remember(MemoryKey key, Reach reach, long tokens) {
        if (tokens <= reach.tokens()) {
            enough.remove(key);
        } else {
            enough.put(key, tokens);
        }
    }

    /** Reads until one of the bounds is reached. */
    private Tail upTo(
            MessageLog log, Object id, MemoryKey key, Reach reach, long tokens, UnaryOperator<ReadQuery> from) {
        long guess = reach.turns() == Integer.MAX_VALUE ? reach.messages() : (long) reach.turns() * MESSAGES_PER_TURN;
        while (true) {
            int limit = (int) Math.min(guess, reach.messages());
            Tail tail = recent.read(log, key, from.apply(query(reach, tokens).atMost(limit)));
            // Fewer messages than the limit mean that the view or the token bound ended the read.
            if (tail.messages().size() < limit || limit == reach.messages() || turns(id, key, tail) >= reach.turns()) {
                return tail;
            }
            guess *= MESSAGES_PER_TURN;
        }
    }

    private static ReadQuery query(Reach reach, long tokens) {
        ReadQuery query = ReadQuery.wholeBranch().upToTokens(tokens).alsoOldest(reach.oldest());
        return reach.toSummary() ? query.upToSummary() : query;
    }

    /**
     * Divides what was read into turns, as the strategy requires.
     *
     * @param round the ids of the calls and of the results with which a turn goes on, empty for none, or null if unknown
     * @param remembered the memories that are shown before the turns, or null
     */
    Context context(
            Object memoryId, MemoryKey key, Tail tail, @Nullable List<String> round, @Nullable Remembered remembered) {
        Context read = read(memoryId, key, tail, round).remembering(remembered);
        // If the whole branch is always read, nothing depends on how much was read.
        return strategy.reach(memoryId).oldest() == Integer.MAX_VALUE
                ? read
                : read.unreadBefore(strategy.shownFrom(strategy.mark(read)));
    }

    /** Selects what would be shown, without asking a remote counter. */
    Context selectLocally(Object memoryId, MemoryKey key, Tail tail) {
        return strategy.select(
                read(memoryId, key, tail, null).sizedBy(counts.of(key).locally()));
    }

    private Context read(Object memoryId, MemoryKey key, Tail tail, @Nullable List<String> round) {
        Summary summary = tail.summary();
        return Context.of(
                        memoryId,
                        tail.system(),
                        tail.user(),
                        tail.complete() && summary == null ? tail.messages() : tail.oldest(),
                        tail.messages(),
                        summary == null ? null : message(summary),
                        round)
                .sizedBy(counts.of(key));
    }

    /** Returns a summary as a message whose id is that of the covered message. The strategy decides how to show it. */
    private static LoggedMessage message(Summary summary) {
        return new LoggedMessage(
                summary.coversUpTo(),
                null,
                0,
                UserMessage.from(summary.text()),
                summary.tokens(),
                summary.tokenCounter(),
                summary.createdAt());
    }

    /** Returns the number of turns that were read from their beginning. Other turns have more messages to read. */
    private long turns(Object id, MemoryKey key, Tail tail) {
        Set<String> read = tail.messages().stream().map(LoggedMessage::id).collect(Collectors.toSet());
        return read(id, key, tail, null).turns().stream()
                .filter(turn -> turn.standing() != Turn.Standing.REPEATED)
                .filter(turn -> read.contains(turn.user().id()))
                .count();
    }
}

package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Meanwhile;
import io.github.keepsake4j.context.Reach;
import io.github.keepsake4j.context.Turn;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.view.ViewReader;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads as far back as a strategy requires. */
final class TailLoader {

    /**
     * The assumed number of messages in a turn, and the factor by which the next read grows. The log does not count
     * turns, so a read that is bounded by turns starts with this guess.
     */
    private static final int MESSAGES_PER_TURN = 4;

    /** More messages than any branch holds, but small enough to calculate with. */
    private static final int ALL = 1 << 30;

    /** The maximum number of further reads that look for the calls of a turn that goes on. */
    private static final int MOST_FURTHER_READS = 5;

    private TailLoader() {}

    /**
     * Reads as far back as a strategy requires. What other turns added while the turn that goes on waited for its tools does
     * not count.
     *
     * @param round the ids of the calls and of the results with which a turn goes on; empty or null for none
     */
    static Tail load(MessageLog log, MemoryKey key, Reach reach, @Nullable List<String> round) {
        Tail tail = load(log, key, reach);
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
                Tail exact = load(log, key, beyond(reach, meanwhile.messages(), summarized));
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
            tail = load(log, key, new Reach(more, Integer.MAX_VALUE, Long.MAX_VALUE, reach.oldest(), false));
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

    private static Tail load(MessageLog log, MemoryKey key, Reach reach) {
        if (reach.oldest() == Integer.MAX_VALUE) {
            ReadQuery everything = ReadQuery.wholeBranch();
            return ViewReader.read(
                    log, key, reach.toSummary() ? everything.upToSummary().alsoOldest(ALL) : everything);
        }
        long guess = reach.turns() == Integer.MAX_VALUE ? reach.messages() : (long) reach.turns() * MESSAGES_PER_TURN;
        while (true) {
            int limit = (int) Math.min(guess, reach.messages());
            Tail tail = ViewReader.read(log, key, query(reach).atMost(limit));
            // Fewer messages than the limit mean that the view or the token bound ended the read.
            if (tail.messages().size() < limit || limit == reach.messages() || turns(key, tail) >= reach.turns()) {
                return tail;
            }
            guess *= MESSAGES_PER_TURN;
        }
    }

    private static ReadQuery query(Reach reach) {
        ReadQuery query = ReadQuery.wholeBranch().upToTokens(reach.tokens()).alsoOldest(reach.oldest());
        return reach.toSummary() ? query.upToSummary() : query;
    }

    /**
     * Divides what was read into turns.
     *
     * @param round the ids of the calls and of the results with which a turn goes on, empty for none, or null if unknown
     */
    static Context context(Object memoryId, Tail tail, @Nullable List<String> round) {
        Summary summary = tail.summary();
        return Context.of(
                memoryId,
                tail.system(),
                tail.user(),
                tail.complete() && summary == null ? tail.messages() : tail.oldest(),
                tail.messages(),
                summary == null ? null : message(summary),
                round);
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
    private static long turns(MemoryKey key, Tail tail) {
        Set<String> read = tail.messages().stream().map(LoggedMessage::id).collect(Collectors.toSet());
        return context(key, tail, List.of()).turns().stream()
                .filter(turn -> turn.standing() != Turn.Standing.REPEATED)
                .filter(turn -> read.contains(turn.user().id()))
                .count();
    }
}

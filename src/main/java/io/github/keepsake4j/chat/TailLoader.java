package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Reach;
import io.github.keepsake4j.context.Turn;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.view.ViewReader;
import java.util.Set;
import java.util.stream.Collectors;

/** Reads as far back as a strategy requires. */
final class TailLoader {

    /**
     * The assumed number of messages in a turn, and the factor by which the next read grows. The log does not count
     * turns, so a read that is bounded by turns starts with this guess.
     */
    private static final int MESSAGES_PER_TURN = 4;

    /** More messages than any branch holds, but small enough to calculate with. */
    private static final int ALL = 1 << 30;

    private TailLoader() {}

    static Tail load(MessageLog log, MemoryKey key, Reach reach) {
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

    static Context context(Object memoryId, Tail tail) {
        Summary summary = tail.summary();
        return Context.of(
                memoryId,
                tail.system(),
                tail.user(),
                tail.complete() && summary == null ? tail.messages() : tail.oldest(),
                tail.messages(),
                summary == null ? null : message(summary));
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
        return context(key, tail).turns().stream()
                .filter(turn -> turn.standing() != Turn.Standing.REPEATED)
                .filter(turn -> read.contains(turn.user().id()))
                .count();
    }
}

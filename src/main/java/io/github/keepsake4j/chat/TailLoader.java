package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.ContextTurn;
import io.github.keepsake4j.context.ReadBounds;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenSizes;
import io.github.keepsake4j.view.ViewReader;
import java.lang.ref.SoftReference;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Reads as far back as a strategy requires. The log bounds a read by the tokens that were counted when the messages
 * were appended. If another counter counts less, or a message is shown shortened or not at all, there is space left,
 * and more is read: four times as much each time, and at most 1,000 messages more. The sufficient amount is cached for
 * the next read of the memory. Thread-safe.
 */
final class TailLoader {

    /** The assumed number of messages in a turn. The log does not count turns, so a read that is bounded by turns starts with it. */
    private static final int MESSAGES_PER_TURN = 4;

    /** A number larger than any branch's length, but small enough to calculate with. */
    private static final int ALL = 1 << 30;

    /** The maximum number of memories whose sufficient amount is cached. */
    private static final int MEMORIES = 1_000;

    /**
     * The factor by which a read is larger than a read that was too short, and the largest number of messages that it
     * adds.
     */
    private static final int GROWTH = 4;

    private static final int MOST_MORE = 1_000;

    /** The part by which more messages are read while older ones may be shown. */
    private static final int FINER = 4;

    /** The number of messages, and the part of the tokens, that are read in addition: usually the rest of a turn. */
    private static final int MARGIN = 4;

    private static final int MARGIN_PART = 8;

    private final ContextStrategy strategy;

    /** Whether later requests show what was retrieved for a question. */
    private final boolean showsRetrieved;

    private final Function<Object, TokenSizes> counts;
    private final RecentTails recent = new RecentTails();

    /** The amount that the last read of a memory needed. The next one reads as much at once. */
    private final RecentlyUsed<MemoryKey, ReadBounds> known = new RecentlyUsed<>(MEMORIES);

    /** The tail that was divided last: first to see whether it is enough, and then to select from it. */
    private volatile SoftReference<Divided> divided = new SoftReference<>(null);

    private record Divided(Tail tail, Context context) {}

    /** Creates a loader. The executor runs counters that call a server; the clock measures their pause. */
    TailLoader(ContextStrategy strategy, boolean showsRetrieved, Executor executor, LongSupplier nanoTime) {
        this.strategy = strategy;
        this.showsRetrieved = showsRetrieved;
        this.counts = TokenSizes.kept(executor, nanoTime);
    }

    TokenSizes sizes(MemoryKey key) {
        return counts.apply(key);
    }

    /**
     * Reads more until the strategy shows no older messages. The result depends only on the branch: the cached amount
     * decides only how much is read at once.
     *
     * @param read reads within bounds
     */
    Tail load(Object id, MemoryKey key, int atLeast, Function<ReadQuery, Tail> read) {
        ReadBounds needed = strategy.bounds(id);
        ReadBounds reach = bounds(needed, Math.max(atLeast, needed.messages()), needed.tokens());
        if (reach.oldest() == Integer.MAX_VALUE) {
            ReadQuery everything = ReadQuery.wholeBranch();
            return read.apply(reach.toSummary() ? everything.upToSummary().alsoOldest(ALL) : everything);
        }
        ReadBounds looked = first(reach);
        ReadBounds before = Objects.requireNonNullElse(known.get(key), looked);
        int messages = Math.max(looked.messages(), before.messages());
        ReadBounds fetched = bounds(looked, messages, Math.max(looked.tokens(), before.tokens()));
        Tail all = read.apply(query(fetched));
        while (true) {
            if (!all.complete() && !covers(fetched, looked)) {
                fetched = times(looked);
                all = read.apply(query(fetched));
            }
            Tail tail = newest(all, looked);
            if (tail.complete() || isEnough(reach, id, key, tail)) {
                known.put(key, looked);
                return tail;
            }
            looked = more(looked);
        }
    }

    /** Reads as {@link ViewReader#read} does. */
    Tail read(MessageLog log, MemoryKey key, ReadQuery query) {
        return recent.read(log, key, query);
    }

    /** Records how many messages this process has appended to a memory. */
    void appended(MemoryKey key, int messages) {
        recent.appended(key, messages);
    }

    /** Returns the amount of the first read. The log does not count turns. */
    private static ReadBounds first(ReadBounds reach) {
        long guess = Math.min(reach.messages(), (long) reach.turns() * MESSAGES_PER_TURN) + MARGIN;
        return bounds(reach, guess, reach.tokens() + reach.tokens() / MARGIN_PART);
    }

    private static ReadBounds more(ReadBounds reach) {
        long messages = (long) reach.messages() + reach.messages() / FINER + 1;
        return bounds(reach, messages, reach.tokens() + reach.tokens() / FINER + 1);
    }

    private static ReadBounds times(ReadBounds reach) {
        long messages = Math.min((long) GROWTH * reach.messages(), (long) reach.messages() + MOST_MORE);
        return bounds(reach, messages, GROWTH * reach.tokens());
    }

    /** Where the tokens are so many that their growth might overflow, they are no bound. */
    private static ReadBounds bounds(ReadBounds reach, long messages, long tokens) {
        return new ReadBounds(
                (int) Math.min(Integer.MAX_VALUE, messages),
                reach.turns(),
                reach.tokens() > Long.MAX_VALUE / GROWTH ? Long.MAX_VALUE : tokens,
                reach.oldest(),
                reach.toSummary());
    }

    private static boolean covers(ReadBounds fetched, ReadBounds looked) {
        return fetched.messages() >= looked.messages() && fetched.tokens() >= looked.tokens();
    }

    /** Returns the result of a read of at most these messages and tokens. */
    private static Tail newest(Tail tail, ReadBounds reach) {
        List<LoggedMessage> messages = tail.messages();
        int from = RecentTails.begin(messages.size(), at -> messages.get(at).tokens(), query(reach));
        return from == 0
                ? tail
                : ViewReader.part(tail, messages.subList(from, messages.size()), tail.view(), false, null);
    }

    /** Returns whether the strategy shows no messages older than those that were read. */
    private boolean isEnough(ReadBounds reach, Object id, MemoryKey key, Tail tail) {
        Context read = context(id, key, tail);
        long shownFrom = strategy.shownFrom(strategy.mark(read));
        return shownFrom > 0 || (shownFrom < 0 && isReached(reach, read, tail.messages()));
    }

    /** Returns whether a read reached a bound of a strategy that requires no more. */
    private static boolean isReached(ReadBounds reach, Context read, List<LoggedMessage> messages) {
        return messages.size() >= reach.messages()
                || messages.stream().mapToLong(LoggedMessage::tokens).sum() >= reach.tokens()
                || turns(read, messages) >= reach.turns();
    }

    private static ReadQuery query(ReadBounds reach) {
        ReadQuery query =
                ReadQuery.newest(reach.messages()).upToTokens(reach.tokens()).alsoOldest(reach.oldest());
        return reach.toSummary() ? query.upToSummary() : query;
    }

    /** Selects the messages that would be shown, without calling a remote counter. */
    Context selectLocally(Object memoryId, MemoryKey key, Tail tail) {
        return strategy.select(
                context(memoryId, key, tail).sizedBy(counts.apply(key).locally()));
    }

    /** Divides the messages into turns, as the strategy requires. The sizes are of one use. */
    @SuppressWarnings("ReferenceEquality") // To compare messages takes longer than to divide them.
    Context context(Object memoryId, MemoryKey key, Tail read) {
        Divided last = divided.get();
        if (last == null || last.tail != read || !last.context.memoryId().equals(memoryId)) {
            last = new Divided(read, divide(memoryId, read));
            divided = new SoftReference<>(last);
        }
        return last.context.sizedBy(counts.apply(key));
    }

    private Context divide(Object memoryId, Tail read) {
        Tail tail = showsRetrieved ? read.showing(LoggedMessage::asSent) : read;
        LoggedMessage summary = tail.summary() == null ? null : message(tail.summary());
        List<LoggedMessage> oldest = tail.complete() && summary == null ? tail.messages() : tail.oldest();
        return Context.of(memoryId, tail.system(), tail.user(), oldest, tail.messages(), summary);
    }

    /** Returns a summary as a message with the id of the last covered message. The strategy decides how to show it. */
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
    private static long turns(Context read, List<LoggedMessage> messages) {
        Set<String> ids = messages.stream().map(LoggedMessage::id).collect(Collectors.toSet());
        return read.turns().stream()
                .filter(turn -> turn.standing() != ContextTurn.Standing.REPEATED)
                .filter(turn -> ids.contains(turn.user().id()))
                .count();
    }
}

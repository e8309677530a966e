package io.github.keepsake4j.context;

import io.github.keepsake4j.context.Context.Omission;
import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.context.Turn.Round;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * Makes a context fit one limit: whole turns go first, oldest first, never the newest; then the newest turn's oldest
 * tool rounds, never the last. Sizes count what is hidden too, so a cut never moves back.
 */
final class Trimmer {

    private final ToLongFunction<LoggedMessage> size;
    private final long limit;
    private final Reason reason;

    Trimmer(ToLongFunction<LoggedMessage> size, long limit, Reason reason) {
        this.size = size;
        this.limit = limit;
        this.reason = reason;
    }

    /**
     * Trims.
     *
     * @param context what to trim
     * @param fixed what counts beside the messages
     */
    Context trim(Context context, long fixed) {
        long unavoidable = fixed + (context.system() == null ? 0 : size.applyAsLong(context.system()));
        boolean overflow = context.overflow() || (context.system() != null && unavoidable > limit);
        long total = unavoidable;
        for (Turn turn : context.turns()) {
            total += sizeOf(turn);
        }
        List<Turn> kept = new ArrayList<>(context.turns());
        List<Omission> omitted = new ArrayList<>(context.omitted());
        while (total > limit && kept.size() > 1) {
            Turn oldest = kept.remove(0);
            total -= sizeOf(oldest);
            omit(oldest.messages(), omitted);
        }
        if (kept.size() == 1 && (total > limit || hasLeft(kept.get(0), unavoidable))) {
            Turn newest = kept.get(0);
            Turn shorter = withoutOldRounds(newest, total, omitted);
            if (unavoidable + sizeOf(shorter) <= limit && !hasLeft(newest, unavoidable)) {
                kept.set(0, shorter);
            } else {
                // A turn that is over may go as a whole; one that still runs cannot do without its beginning.
                kept.clear();
                omit(shorter.messages(), omitted);
                overflow |= !newest.closed();
            }
        }
        return new Context(context.system(), kept, omitted, overflow);
    }

    private Turn withoutOldRounds(Turn turn, long size, List<Omission> omitted) {
        long total = size;
        List<Round> rounds = new ArrayList<>(turn.rounds());
        List<Round> cut = new ArrayList<>(turn.cut());
        while (total > limit && rounds.size() > 1) {
            Round oldest = rounds.remove(0);
            cut.add(oldest);
            total -= sizeOf(oldest.all());
            omit(oldest.messages(), omitted);
        }
        return new Turn(turn.user(), rounds, cut);
    }

    /** Whether the turn left when one of its answers closed it; then it does not come back if more follows. */
    private boolean hasLeft(Turn turn, long unavoidable) {
        long user = unavoidable + size.applyAsLong(turn.user());
        return Stream.concat(turn.cut().stream(), turn.rounds().stream())
                .anyMatch(round -> round.isAnswer() && user + sizeOf(round.all()) > limit);
    }

    private long sizeOf(Turn turn) {
        long sum = size.applyAsLong(turn.user());
        for (Round round : turn.rounds()) {
            sum += sizeOf(round.all());
        }
        return sum;
    }

    private long sizeOf(List<LoggedMessage> messages) {
        return messages.stream().mapToLong(size).sum();
    }

    private void omit(List<LoggedMessage> messages, List<Omission> omitted) {
        messages.forEach(message -> omitted.add(new Omission(message, reason)));
    }
}

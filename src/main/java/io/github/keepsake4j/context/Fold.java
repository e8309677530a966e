package io.github.keepsake4j.context;

import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Decides how far a summary should reach: to the end of a turn or, within a turn that is too long by itself, to the end
 * of a round.
 *
 * @param size returns the size of a message
 * @param trigger the size that may stay uncovered by a summary
 * @param keep the size that stays uncovered when a summary is created
 */
record Fold(ToLongFunction<LoggedMessage> size, long trigger, long keep) {

    Optional<String> upTo(Context context) {
        List<ContextTurn> turns = turns(context);
        if (turns.isEmpty()) {
            return Optional.empty();
        }
        int behindCut = behindCut(turns);
        long uncovered = sizeOf(context.read().headless()) + sizeFrom(turns, 0);
        boolean before = !context.read().headless().isEmpty() || context.endsAtPassed();
        boolean cut = behindCut > 0 || before || turns.get(turns.size() - 1).isCut();
        if (uncovered <= trigger && !cut) {
            return Optional.empty();
        }
        // A limit lower than the trigger must not make a summary due in every turn.
        long shown = turns.stream().mapToLong(turn -> sizeOf(turn.messages())).sum();
        long target = cut ? Math.min(keep, shown * keep / trigger) : keep;
        int first = behindCut;
        long left = sizeFrom(turns, first);
        while (first < turns.size() - 1 && left > target) {
            left -= sizeOf(turns.get(first));
            first++;
        }
        return Optional.ofNullable(before(turns, first, before, target));
    }

    /**
     * Returns the turns without those from the branch's beginning. Those were read only because they are pinned, and
     * there is a gap after them.
     */
    static List<ContextTurn> turns(Context context) {
        return context.turns().stream()
                .filter(turn -> turn.standing() != ContextTurn.Standing.BEGINNING)
                .toList();
    }

    /** Returns the index of the first turn from which on no limit removed or skipped a turn. */
    private static int behindCut(List<ContextTurn> turns) {
        int first = turns.size();
        while (first > 0 && !isGone(turns.get(first - 1))) {
            first--;
        }
        // The newest turn was removed because it does not fit. It is folded only when it is complete.
        return first == turns.size() && !turns.get(first - 1).closed() ? first - 1 : first;
    }

    private static boolean isGone(ContextTurn turn) {
        return turn.cut().whole() || turn.form() != ContextTurn.Form.WHOLE;
    }

    /** Returns the id of the message before a turn in the log, if no earlier turn continues beyond that place. */
    private @Nullable String before(List<ContextTurn> turns, int first, boolean anythingBefore, long target) {
        if (first == turns.size()) {
            return newest(turns).id();
        }
        List<Boolean> ends = endsBefore(turns);
        int least = anythingBefore ? first : Math.max(first, 1);
        for (int t = least; t < turns.size(); t++) {
            if (ends.get(t)) {
                return begin(turns, t).parentId();
            }
        }
        if (first > 0) {
            // Turns overlap all the time. The messages of those that end later are left to the next summary.
            LoggedMessage newest = newest(turns.subList(0, first));
            if (turns.subList(first, turns.size()).stream().allMatch(turn -> isDivisible(turn, newest.sequence()))) {
                return newest.id();
            }
        }
        ContextTurn last = turns.get(turns.size() - 1);
        return turns.size() == 1 || sizeOf(last) > trigger ? withinTurn(last, target) : null;
    }

    /** Returns whether a summary may end at a place within a turn: the turn is bound, and no round of it goes on there. */
    private static boolean isDivisible(ContextTurn turn, long place) {
        return turn.user().sequence() > place
                || (turn.user().question() != null
                        && turn.rounds().stream()
                                .allMatch(round -> round.sequence() > place
                                        || (round.newest() <= place
                                                && round.hidden() != Omission.Reason.UNANSWERED_CALL)));
    }

    private @Nullable String withinTurn(ContextTurn turn, long target) {
        List<ContextTurn.Round> rounds = turn.rounds();
        int first = turn.cut().from();
        long total = size.applyAsLong(turn.user())
                + rounds.stream()
                        .skip(first)
                        .mapToLong(round -> sizeOf(round.messages()))
                        .sum();
        while (first < rounds.size() - 1 && total > target) {
            total -= sizeOf(rounds.get(first++).messages());
        }
        for (int r = Math.max(first, 1); r < rounds.size(); r++) {
            LoggedMessage next = rounds.get(r).messages().get(0);
            if (rounds.subList(0, r).stream().allMatch(round -> round.newest() < next.sequence())) {
                return next.parentId();
            }
        }
        return null;
    }

    /**
     * Returns for each turn whether all turns before it are complete before it and those behind it begin, so that a
     * summary may cover them.
     */
    static List<Boolean> endsBefore(List<ContextTurn> turns) {
        List<Boolean> ends = new ArrayList<>();
        long newest = Long.MIN_VALUE;
        for (int t = 0; t < turns.size(); t++) {
            ends.add(newest < turns.get(t).user().sequence()
                    && newest < begin(turns, t).sequence());
            newest = Math.max(newest, newest(List.of(turns.get(t))).sequence());
        }
        return ends;
    }

    /** Returns the oldest message of a turn and of those behind it. */
    static LoggedMessage begin(List<ContextTurn> turns, int first) {
        return turns.subList(first, turns.size()).stream()
                .map(ContextTurn::user)
                .min(Comparator.comparingLong(LoggedMessage::sequence))
                .orElseThrow();
    }

    static LoggedMessage newest(List<ContextTurn> turns) {
        return turns.stream()
                .flatMap(ContextTurn::all)
                .max(Comparator.comparingLong(LoggedMessage::sequence))
                .orElseThrow();
    }

    private long sizeFrom(List<ContextTurn> turns, int first) {
        return turns.subList(first, turns.size()).stream()
                .mapToLong(this::sizeOf)
                .sum();
    }

    private long sizeOf(ContextTurn turn) {
        return turn.all().mapToLong(size).sum();
    }

    private long sizeOf(List<LoggedMessage> messages) {
        return messages.stream().mapToLong(size).sum();
    }
}

package io.github.keepsake4j.context;

import io.github.keepsake4j.context.ContextTurn.Form;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * Skips turns that are over and that alone exceed a limit: the other turns are shown as if these did not exist. A turn
 * is over when it is complete, when another turn follows it, or when it is a question without anything else. All limits
 * of a combination decide before any of them counts. The decision depends on the turn, on the limits, and on the
 * messages that are always shown, so a skipped turn stays skipped. A turn with a pinned part is never skipped.
 */
final class SkippedTurns {

    /** The largest number of messages of skipped turns. A view ends at the turn that exceeds this number. */
    private static final int MOST_MESSAGES = 1_000;

    private SkippedTurns() {}

    /**
     * Marks the turns that strategies skip. Marking twice is the same as marking once.
     *
     * @param strategies the strategies with limits, which decide together
     */
    static Context mark(Context context, List<? extends LimitStrategy> strategies) {
        Context placed = context;
        for (LimitStrategy strategy : strategies) {
            placed = strategy.place(placed);
        }
        Context counted = placed;
        return mark(strategies.stream().map(strategy -> strategy.limit(counted)).toList(), counted);
    }

    private static Context mark(List<Limit> limits, Context context) {
        List<ContextTurn> turns = new ArrayList<>(context.turns());
        long passed = 0;
        for (int t = turns.size() - 1; t >= 0; t--) {
            ContextTurn turn = turns.get(t);
            if (isOver(context, turn, t == turns.size() - 1)) {
                for (Limit limit : limits) {
                    Form form = limit.form(turn);
                    turn = form == Form.WHOLE ? turn : turn.passedBy(form, limit.reason());
                }
            }
            turns.set(t, turn);
            passed += turn.form() == Form.WHOLE ? 0 : turn.all().count();
            if (passed > MOST_MESSAGES) {
                return end(context, turns, t);
            }
        }
        List<LoggedMessage> headless = context.read().headless();
        return passed + headless.size() > MOST_MESSAGES
                        && limits.stream().anyMatch(limit -> limit.isExceededBy(context, headless))
                ? end(context, turns, -1)
                : passed == 0 ? context : context.withTurns(turns, context.over());
    }

    private static boolean isOver(Context context, ContextTurn turn, boolean isNewest) {
        boolean isQuestion = turn.rounds().isEmpty() && turn.place() >= context.unread();
        return (!isNewest || turn.closed() || isQuestion)
                && turn.standing() != ContextTurn.Standing.BEGINNING
                && turn.pinned() == ContextTurn.NOT_PINNED;
    }

    /** Ends the view at a turn, or at messages whose turn's beginning was not read. Only pinned turns before it stay. */
    private static Context end(Context context, List<ContextTurn> turns, int last) {
        List<Omission> before = new ArrayList<>();
        List<ContextTurn> stay = new ArrayList<>();
        context.read().headless().forEach(message -> before.add(new Omission(message, Reason.TOO_FAR_BACK)));
        for (int t = 0; t < turns.size(); t++) {
            ContextTurn turn = turns.get(t);
            if (t < last && turn.pinned() == ContextTurn.NOT_PINNED) {
                turn.all().forEach(message -> before.add(new Omission(message, Reason.TOO_FAR_BACK)));
            } else {
                stay.add(t == last ? turn.passedBy(Form.NOTHING, Reason.TOO_FAR_BACK) : turn);
            }
        }
        long place = last + 1 < turns.size()
                ? turns.get(last + 1).place()
                : Fold.newest(turns).sequence() + 1;
        return context.endingAtPassed(before, stay, place);
    }
}

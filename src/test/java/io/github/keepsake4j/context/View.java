package io.github.keepsake4j.context;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.RandomBranch.Part;
import java.util.List;

/**
 * The result of a strategy.
 *
 * @param shown the messages that a model sees
 * @param omitted the messages that it does not see
 * @param overflow whether the open turn did not fit
 */
record View(List<LoggedMessage> shown, List<Omission> omitted, boolean overflow) {

    static final Object ID = "id";

    /** Shows a branch. */
    @FunctionalInterface
    interface Viewer {
        View of(Part branch);
    }

    static View of(Context context) {
        return new View(context.shown(), context.omitted(), context.overflow());
    }

    /** Creates a viewer that reads the whole branch. */
    static Viewer whole(ContextStrategy strategy) {
        return branch -> of(strategy.select(read(strategy, branch, branch)));
    }

    /**
     * Creates a viewer that reads no more than the strategy requires, as {@code chat} does with a {@link MessageLog}.
     */
    static Viewer bounded(ContextStrategy strategy) {
        return branch -> {
            ReadBounds wanted = strategy.bounds(ID);
            if (wanted.oldest() == Integer.MAX_VALUE) {
                return whole(strategy).of(branch);
            }
            for (int factor = 1; ; factor *= 2) {
                ReadBounds reach = new ReadBounds(
                        times(wanted.messages(), factor),
                        times(wanted.turns(), factor),
                        wanted.tokens() > Long.MAX_VALUE / factor ? Long.MAX_VALUE : wanted.tokens() * factor,
                        wanted.oldest(),
                        wanted.toSummary());
                Part read = newest(branch, reach);
                Context context = read(strategy, branch, read);
                boolean all = read.messages().size() == branch.messages().size();
                long from = strategy.shownFrom(strategy.mark(context));
                if (all || from != 0) {
                    return of(strategy.select(context));
                }
            }
        };
    }

    private static int times(int number, int factor) {
        return (int) Math.min(Integer.MAX_VALUE, (long) number * factor);
    }

    static Context read(ContextStrategy strategy, Part branch, Part newest) {
        int oldest = Math.min(strategy.bounds(ID).oldest(), branch.messages().size());
        return Context.of(
                ID, branch.system(), branch.user(), branch.messages().subList(0, oldest), newest.messages(), null);
    }

    static Part newest(Part branch, ReadBounds reach) {
        Part part = branch.newest(reach.messages(), reach.tokens());
        List<LoggedMessage> messages = part.messages();
        if (reach.turns() == Integer.MAX_VALUE) {
            return part;
        }
        int turns = 0;
        for (int i = messages.size() - 1; i >= 0; i--) {
            turns += begins(messages, i) ? 1 : 0;
            if (turns == reach.turns()) {
                return new Part(part.system(), part.user(), messages.subList(i, messages.size()));
            }
        }
        return part;
    }

    /** Returns whether a turn that is shown begins here. */
    private static boolean begins(List<LoggedMessage> messages, int place) {
        return messages.get(place).message() instanceof UserMessage
                && Context.of(null, null, messages.subList(place, messages.size())).turns().stream()
                        .findFirst()
                        .filter(turn ->
                                turn.user() == messages.get(place) && turn.standing() == ContextTurn.Standing.WHOLE)
                        .isPresent();
    }
}

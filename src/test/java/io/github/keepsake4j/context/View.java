package io.github.keepsake4j.context;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context.Omission;
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
            Reach wanted = strategy.reach(ID);
            for (long more = 0; ; more = 2 * more + 1) {
                int messages = (int) Math.min(Integer.MAX_VALUE, wanted.messages() + more);
                Reach reach = new Reach(messages, wanted.turns(), wanted.tokens(), wanted.oldest(), wanted.toSummary());
                Part read = bounded(strategy, branch, reach);
                EndedBadly bad = EndedBadly.of(read.messages(), read.user());
                int size = read.messages().size();
                boolean enough = size == branch.messages().size()
                        || size < messages
                        || (size - bad.uncounted() >= wanted.messages() && !bad.lacksBeginning());
                if (enough) {
                    Context context = read(strategy, branch, read);
                    boolean always = wanted.oldest() == Integer.MAX_VALUE;
                    long from = strategy.shownFrom(strategy.mark(context));
                    return of(strategy.select(always ? context : context.unreadBefore(from)));
                }
            }
        };
    }

    private static Part bounded(ContextStrategy strategy, Part branch, Reach reach) {
        for (long tokens = reach.tokens(); ; tokens = tokens > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : 2 * tokens) {
            Reach further = new Reach(reach.messages(), reach.turns(), tokens, reach.oldest(), reach.toSummary());
            Part newest = ofTurn(branch, further);
            Context context = read(strategy, branch, newest);
            boolean all = newest.messages().size() == branch.messages().size();
            long from = strategy.shownFrom(strategy.mark(context));
            if (all || tokens == Long.MAX_VALUE || newest.messages().size() >= reach.messages() || from > 0) {
                return newest;
            }
        }
    }

    /** What other turns said while the newest turn waited for its tools is read, but does not count. */
    private static Part ofTurn(Part branch, Reach reach) {
        List<LoggedMessage> all = branch.messages();
        List<LoggedMessage> others = Meanwhile.of(all, null).messages();
        if (others.isEmpty()) {
            return newest(branch, reach);
        }
        List<LoggedMessage> own =
                all.stream().filter(message -> !others.contains(message)).toList();
        List<LoggedMessage> read =
                newest(new Part(branch.system(), null, own), reach).messages();
        int calls = all.indexOf(own.get(all.indexOf(others.get(0)) - 1));
        int begin = read.isEmpty() ? all.size() : all.indexOf(read.get(0));
        for (int i = calls; i >= 0; i--) {
            if (!Context.of(null, null, List.of(all.get(i))).turns().isEmpty()) {
                begin = Math.min(begin, i);
                break;
            }
        }
        return new Part(branch.system(), branch.user(), all.subList(begin, all.size()));
    }

    static Context read(ContextStrategy strategy, Part branch, Part newest) {
        int oldest = Math.min(strategy.reach(ID).oldest(), branch.messages().size());
        return Context.of(
                ID, branch.system(), branch.user(), branch.messages().subList(0, oldest), newest.messages(), null);
    }

    static Part newest(Part branch, Reach reach) {
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
                        .filter(turn -> turn.user() == messages.get(place) && turn.standing() == Turn.Standing.WHOLE)
                        .isPresent();
    }
}

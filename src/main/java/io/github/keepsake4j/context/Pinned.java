package io.github.keepsake4j.context;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Keeps messages in view that a limit would remove, each together with the user message that began its turn. It limits
 * nothing by itself: {@code Pinned.firstMessages(4).and(SlidingWindow.withMaxMessages(50))}.
 *
 * <p>Pinned messages count against a limit. They take at most half of the room that is left after the system message,
 * the oldest first. Pinned messages beyond that are removed like any other turn. Immutable.
 */
public final class Pinned implements ContextStrategy {

    private final int first;
    private final Predicate<LoggedMessage> pinned;

    private Pinned(int first, Predicate<LoggedMessage> pinned) {
        this.first = first;
        this.pinned = pinned;
    }

    /**
     * Keeps a conversation's first messages, such as the task that an agent was given. If a tool round is not
     * completely among them, it is left out. A message that does not belong to the turn of one of their user messages
     * is left out too.
     *
     * @param messages the number of messages, 1 or more
     * @return the strategy
     * @throws InvalidInputException if the number is less than 1
     */
    public static Pinned firstMessages(int messages) {
        InvalidInputException.checkAtLeast("messages", 1, messages);
        return new Pinned(messages, message -> false);
    }

    /**
     * Keeps the whole turns of some messages. To find them, the whole branch is read every time.
     *
     * @param isPinned returns whether a message is pinned; a pure function that always returns the same result for the
     *     same message
     * @return the strategy
     */
    public static Pinned messages(Predicate<LoggedMessage> isPinned) {
        return new Pinned(Integer.MAX_VALUE, InvalidInputException.given("isPinned", isPinned));
    }

    @Override
    public Context select(Context context) {
        return mark(context);
    }

    @Override
    public Context mark(Context context) {
        if (first == Integer.MAX_VALUE) {
            return context.placeTurns(turn -> turn.all().anyMatch(pinned) ? turn.pin(ContextTurn.WHOLLY_PINNED) : turn);
        }
        List<LoggedMessage> beginning = context.oldest().stream().limit(first).toList();
        Set<String> ids = beginning.stream().map(LoggedMessage::id).collect(Collectors.toSet());
        String last = beginning.stream()
                .filter(message -> message.message() instanceof UserMessage)
                .map(LoggedMessage::id)
                .reduce((older, newer) -> newer)
                .orElse(null);
        // The messages after the beginning are read with it. So this does not depend on the rest of the read.
        boolean isOver =
                context.oldest().size() <= first || context.oldest().get(first).message() instanceof UserMessage;
        return context.placeTurns(turn -> ids.contains(turn.user().id())
                ? turn.pin(rounds(turn, ids, isOver || !turn.user().id().equals(last)))
                : turn);
    }

    @Override
    public ReadBounds bounds(Object memoryId) {
        // One more message shows whether the last turn among them continues, and therefore whether its last answer is
        // shown.
        int oldest = first == Integer.MAX_VALUE ? first : first + 1;
        return new ReadBounds(Integer.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE, oldest, false);
    }

    /**
     * Returns the number of a turn's first rounds that are completely among the oldest messages. An answer at their end
     * may be followed by calls, so it counts only if the turn is over.
     */
    private static int rounds(ContextTurn turn, Set<String> oldest, boolean isOver) {
        List<ContextTurn.Round> rounds = turn.rounds();
        int whole = 0;
        // Calls that wait for results may get them from messages after the pinned ones.
        while (whole < rounds.size()
                && rounds.get(whole).hidden() != Omission.Reason.UNANSWERED_CALL
                && rounds.get(whole).messages().stream().allMatch(message -> oldest.contains(message.id()))) {
            whole++;
        }
        while (!isOver && whole > 0 && rounds.get(whole - 1).isAnswer()) {
            whole--;
        }
        return whole;
    }
}

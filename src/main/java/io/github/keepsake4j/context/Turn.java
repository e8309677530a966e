package io.github.keepsake4j.context;

import dev.langchain4j.data.message.AiMessage;
import io.github.keepsake4j.context.Context.Omission;
import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A user message and what followed it, with what the limits so far leave of it.
 *
 * @param user the message that began it
 * @param rounds what followed, oldest first
 * @param standing whether it is shown at all where there is room
 * @param pinned how many of its first rounds are pinned, its user message with them; or {@link #NOT_PINNED}
 * @param cut what the limits so far take away
 */
public record Turn(LoggedMessage user, List<Round> rounds, Standing standing, int pinned, Cut cut) {

    /** No part of the turn is pinned. */
    public static final int NOT_PINNED = -1;

    /** What a turn is before any limit. */
    public enum Standing {
        /** A turn like any other. */
        WHOLE,
        /** The same user message follows at once, so this one is not shown. */
        REPEATED,
        /** From the branch's beginning, with unread messages behind it: only what is pinned of it is shown. */
        BEGINNING
    }

    /**
     * A message, or an assistant message with tool calls and its results: what can only be shown together.
     *
     * @param messages the messages, calls first
     * @param hidden why it is not shown, or null if it is; limits count it all the same, so that nothing older comes back
     *     when it is found to be dead
     */
    public record Round(List<LoggedMessage> messages, @Nullable Reason hidden) {

        /** Copies the list. */
        public Round {
            messages = List.copyOf(messages);
        }

        /**
         * Tells whether this is a message without tool calls, which closes a turn.
         *
         * @return false for calls and their results
         */
        public boolean isAnswer() {
            return !calls();
        }

        /** Whether it is an assistant message with tool calls, and its results. */
        boolean calls() {
            return messages.get(0).message() instanceof AiMessage ai && ai.hasToolExecutionRequests();
        }
    }

    /**
     * What limits take away of a turn.
     *
     * @param reason the first limit that took something, or null
     * @param whole whether the turn is gone but for what is pinned of it
     * @param from the first of its rounds that is shown, behind the pinned ones
     * @param pinGone whether not even the pinned part is shown
     */
    public record Cut(@Nullable Reason reason, boolean whole, int from, boolean pinGone) {

        static final Cut NOTHING = new Cut(null, false, 0, false);

        static Cut whole(Reason reason) {
            return new Cut(reason, true, 0, true);
        }

        Cut and(Cut other) {
            return new Cut(
                    reason == null ? other.reason : reason,
                    whole || other.whole,
                    Math.max(from, other.from),
                    pinGone || other.pinGone);
        }
    }

    /** Copies the list. */
    public Turn {
        rounds = List.copyOf(rounds);
    }

    /**
     * Tells whether the turn came to its end: its last message is an answer without tool calls.
     *
     * @return whether it did
     */
    public boolean closed() {
        return !rounds.isEmpty() && rounds.get(rounds.size() - 1).isAnswer();
    }

    /**
     * Returns what is shown, in order.
     *
     * @return the user message and the rounds' messages; empty if the turn is not shown
     */
    public List<LoggedMessage> messages() {
        List<LoggedMessage> messages = new ArrayList<>();
        if (isShown()) {
            messages.add(user);
            for (int r = 0; r < rounds.size(); r++) {
                if (isShown(r)) {
                    messages.addAll(rounds.get(r).messages());
                }
            }
        }
        return messages;
    }

    /** Whether a limit took something away. */
    boolean isCut() {
        return cut.whole() || cut.from() > 0;
    }

    /** What is not shown, with the reason. */
    List<Omission> omitted() {
        List<Omission> omitted = new ArrayList<>();
        Reason limit = cut.reason() == null ? Reason.NO_USER_MESSAGE : cut.reason();
        if (!isShown()) {
            omitted.add(new Omission(user, standing == Standing.REPEATED ? Reason.REPEATED_USER_MESSAGE : limit));
        }
        for (int r = 0; r < rounds.size(); r++) {
            if (!isShown() || !isShown(r)) {
                Reason hidden = rounds.get(r).hidden();
                rounds.get(r)
                        .messages()
                        .forEach(message -> omitted.add(new Omission(message, hidden == null ? limit : hidden)));
            }
        }
        return omitted;
    }

    Turn cut(Cut more) {
        return new Turn(user, rounds, standing, pinned, cut.and(more));
    }

    Turn pin(int firstRounds) {
        return new Turn(user, rounds, standing, Math.max(pinned, firstRounds), cut);
    }

    private boolean isShown() {
        return standing != Standing.REPEATED && (isOrdinary() || isPinned());
    }

    private boolean isShown(int round) {
        return rounds.get(round).hidden() == null
                && ((isOrdinary() && round >= cut.from()) || (isPinned() && isInPinnedPart(round)));
    }

    /** An answer at the end of a part would stand directly before the calls that are shown behind it. */
    private boolean isInPinnedPart(int round) {
        return round < pinned
                && (pinned >= rounds.size()
                        || !rounds.subList(round, pinned).stream().allMatch(Round::isAnswer));
    }

    private boolean isOrdinary() {
        return standing == Standing.WHOLE && !cut.whole();
    }

    private boolean isPinned() {
        return pinned != NOT_PINNED && !cut.pinGone();
    }
}

package io.github.keepsake4j.context;

import io.github.keepsake4j.context.ContextTurn.Standing;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A turn while its messages are read: its question, and all that belongs to it. */
final class ReadTurn {
    /** The initial capacity. Most turns have one or two rounds, and a window has many turns. */
    private static final int FEW = 2;

    /** The question, or null if it is not among the messages. */
    final @Nullable LoggedMessage user;

    /** The index of the question among the messages that were read, or -1 if it was not. */
    final int began;

    final List<OpenRound> rounds = new ArrayList<>(FEW);

    /** Whether the same question follows, and nothing of this turn was shown before it. */
    boolean repeated;

    /** The turn that asked the same before, or null. */
    @Nullable
    ReadTurn repeats;

    /** Whether messages behind its question are unknown, among which its answer may be. */
    boolean hasGap;

    /** Whether a message of it may belong to an older question that was not read, or it may have one that was not. */
    boolean isUncertain;

    /** Whether a repair found its question unreadable, or a message that may be its answer. */
    boolean unreadable;

    /** Why the turn is left out, except for its complete rounds, or null. */
    @Nullable
    Reason hidden;

    ReadTurn(@Nullable LoggedMessage user, int began) {
        this.user = user;
        this.began = began;
    }

    /** Returns whether this is the turn of an AI service's call, whose messages name its question. */
    boolean isBound() {
        return user != null && user.id().equals(user.question());
    }

    boolean asksAs(LoggedMessage other) {
        return user != null && user.message().equals(other.message());
    }

    boolean isFailed() {
        return user != null && user.outcome() != null && user.outcome().kind() == Kind.FAILED && !hasAnswer();
    }

    /** Returns whether this is a bound turn that has neither an answer nor a complete round. */
    boolean isUnanswered() {
        return isBound() && !hasCompleteRound() && !hasAnswer();
    }

    boolean hasAnswer() {
        for (OpenRound round : rounds) {
            if (round.isModelsAnswer()) {
                return true;
            }
        }
        return false;
    }

    boolean hasCompleteRound() {
        for (OpenRound round : rounds) {
            if (round.isComplete()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the sequence of its newest message, or 0. */
    long newest() {
        return all().mapToLong(LoggedMessage::sequence).max().orElse(0);
    }

    boolean has(String messageId) {
        return all().anyMatch(message -> message.id().equals(messageId));
    }

    private Stream<LoggedMessage> all() {
        return Stream.concat(Stream.ofNullable(user), rounds.stream().flatMap(round -> round.messages.stream()));
    }

    /** Returns whether nothing of the turn is shown. */
    boolean isGone() {
        return user == null || hidden == Reason.UNREADABLE || (hidden != null && !hasCompleteRound());
    }

    /** Adds the messages that are left out before any limit decides. */
    void leftOut(Consumer<Omission> to) {
        Reason reason = hidden;
        if (user != null && reason != null && isGone()) {
            to.accept(new Omission(user, reason));
        }
        for (OpenRound round : rounds) {
            Reason own = round.isRejected() ? Reason.REJECTED : isLeftOut(round) ? reason : null;
            if (own != null) {
                round.messages.forEach(message -> to.accept(new Omission(message, own)));
            }
        }
    }

    private boolean isLeftOut(OpenRound round) {
        return hidden != null && (isGone() || !round.isShown());
    }

    /** Returns the turn with the rounds that limits count. */
    Placed placed() {
        List<OpenRound> open = rounds.stream()
                .filter(round -> !round.isRejected() && !isLeftOut(round))
                .toList();
        int calls = open.size() - 1;
        while (calls >= 0 && !open.get(calls).isComplete()) {
            calls--;
        }
        List<ContextTurn.Round> counted = new ArrayList<>(open.size());
        List<OpenRound> shown = new ArrayList<>(open.size());
        boolean answered = false;
        for (int r = 0; r < open.size(); r++) {
            OpenRound round = open.get(r);
            boolean isEarly = r < calls && round.isModelsAnswer();
            boolean answers = !isEarly && round.isModelsAnswer() && isAnswer(round.messages.get(0));
            Reason own = answers && answered ? Reason.ANSWERED_BEFORE : round.hidden();
            ContextTurn.Round next = new ContextTurn.Round(round.messages, isEarly ? Reason.ANSWER_BEFORE_CALL : own);
            counted.add(next);
            if (next.hidden() == null) {
                shown.add(round);
            }
            answered |= answers;
        }
        return new Placed(this, counted, place(shown));
    }

    /** Returns whether a message of a bound turn answers its question. What is added behind an answer does not. */
    private boolean isAnswer(LoggedMessage message) {
        return user != null
                && (message.question() != null || (isBound() && user.id().equals(message.parentId())));
    }

    /**
     * Returns the index of the message that gives the turn its place among others. A bound turn has the place of the
     * answer with which it ended, and until then that of its first complete round. Other turns have their question's.
     */
    private int place(List<OpenRound> shown) {
        OpenRound last = shown.isEmpty() || (user != null && !isBound()) ? null : shown.get(shown.size() - 1);
        return last == null ? began : last.isAnswer() ? last.newest : shown.get(0).newest;
    }

    /**
     * A turn that is over for this read.
     *
     * @param turn the turn
     * @param counted the rounds that limits count
     * @param at the index of the message that gives the turn its place
     */
    record Placed(ReadTurn turn, List<ContextTurn.Round> counted, int at) {

        /** Returns the turn as limits see it, at a place behind the turns before it. */
        ContextTurn close(LoggedMessage user, Standing standing, long behind) {
            return new ContextTurn(
                    user,
                    counted,
                    turn.repeated ? Standing.REPEATED : standing,
                    turn.hasGap ? user.sequence() : Math.max(behind, user.sequence()),
                    ContextTurn.NOT_PINNED,
                    ContextTurn.Form.WHOLE,
                    ContextTurn.Cut.NOTHING);
        }
    }
}

package io.github.keepsake4j.context;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A user message and the messages that follow it, as they were read from the log, with the cuts of the limits so far.
 * It is a part of a {@link Context} and says nothing about who wrote it or whether it may be written.
 *
 * @param user the message that began the turn
 * @param rounds the messages that follow it, oldest first
 * @param standing the turn's state before any limit
 * @param place its place in the log for limits, which later messages do not change: the sequence of its user message, or
 *     the one behind the end of the turn before it, if that ended later
 * @param pinned the number of its first rounds that are pinned together with its user message,
 *     {@link Integer#MAX_VALUE} if all are, or {@link #NOT_PINNED}
 * @param form the part of it that any limit counts and shows
 * @param cut the parts that the limits so far removed
 */
public record ContextTurn(
        LoggedMessage user, List<Round> rounds, Standing standing, long place, int pinned, Form form, Cut cut) {

    /** Indicates that no part of the turn is pinned. */
    public static final int NOT_PINNED = -1;

    /** The number of pinned rounds of a turn that is pinned as a whole, however long it becomes. */
    static final int WHOLLY_PINNED = Integer.MAX_VALUE;

    /** The state of a turn before any limit. */
    public enum Standing {
        /** An ordinary turn. */
        WHOLE,
        /** The same user message follows directly, so this turn is not shown. */
        REPEATED,
        /**
         * The turn is from the branch's beginning, and there are unread messages after it. Only its pinned part is
         * shown.
         */
        BEGINNING
    }

    /**
     * The part of a turn that limits count and show. A finished turn that alone exceeds a limit is skipped, so that the
     * turns before it stay in view.
     */
    public enum Form {
        /** The whole turn. */
        WHOLE,
        /** The turn is skipped, except for its user message and its last answer. */
        QUESTION_AND_ANSWER,
        /** The turn is skipped: everything else is shown as if the turn did not exist. */
        NOTHING;

        /** Returns the smaller of two forms. */
        Form and(Form other) {
            return compareTo(other) >= 0 ? this : other;
        }
    }

    /**
     * A message, or an assistant message with tool calls and the results of these calls. A round is the smallest unit
     * that can be shown.
     *
     * @param messages the messages, calls first
     * @param hidden why the round is not shown, or null if it is shown; limits count a hidden round too, so that no
     *     older message comes back when the round turns out to be incomplete
     */
    public record Round(List<LoggedMessage> messages, @Nullable Reason hidden) {

        /** Copies the list. */
        public Round {
            messages = List.copyOf(messages);
        }

        /**
         * Returns whether this is a message without tool calls, which closes a turn.
         *
         * @return false for calls and their results
         */
        public boolean isAnswer() {
            return !calls(messages.get(0));
        }

        /** Returns the sequence of the calls, or of the message itself. */
        long sequence() {
            return messages.get(0).sequence();
        }

        /** Returns the sequence of the round's newest message. */
        long newest() {
            return messages.stream().mapToLong(LoggedMessage::sequence).max().orElse(0);
        }
    }

    /**
     * The parts of a turn that limits removed.
     *
     * @param reason the reason of the first limit that removed a part, or null
     * @param whole whether the turn was removed except for its pinned part
     * @param from the index of the first round that is shown after the pinned rounds
     * @param pinGone whether the pinned part was removed too
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
    public ContextTurn {
        rounds = List.copyOf(rounds);
    }

    /** Returns whether a user message begins a turn. */
    static boolean begins(UserMessage user) {
        // Each read asks this of each user message several times, so it makes no stream.
        for (Content content : user.contents()) {
            if (!isBlank(content)) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether a message calls tools, so that it is no answer. */
    static boolean calls(LoggedMessage message) {
        return message.message() instanceof AiMessage ai && ai.hasToolExecutionRequests();
    }

    static boolean isBlank(Content content) {
        return content instanceof TextContent text && text.text().isBlank();
    }

    /**
     * Returns whether the turn is complete: its last message is an answer without tool calls.
     *
     * @return whether the turn is complete
     */
    public boolean closed() {
        return !rounds.isEmpty() && rounds.get(rounds.size() - 1).isAnswer();
    }

    /**
     * Returns the messages that are shown, in order.
     *
     * @return the user message and the rounds' messages; empty if the turn is not shown
     */
    public List<LoggedMessage> messages() {
        List<LoggedMessage> shown = new ArrayList<>();
        addTo(shown);
        return List.copyOf(shown);
    }

    /** Adds the messages that are shown, in order. Each read does this, so it makes no lists of its own. */
    void addTo(List<LoggedMessage> shown) {
        if (!isShown()) {
            return;
        }
        shown.add(user);
        for (int r = 0; r < rounds.size(); r++) {
            if (isShown(r)) {
                shown.addAll(rounds.get(r).messages());
            }
        }
    }

    /** Returns all messages of the turn, whether they are shown or not. */
    Stream<LoggedMessage> all() {
        return Stream.concat(Stream.of(user), rounds.stream().flatMap(round -> round.messages().stream()));
    }

    /** Returns the sequence of its newest message. */
    long newest() {
        return rounds.stream().mapToLong(Round::newest).reduce(user.sequence(), Math::max);
    }

    /** Returns the number of rounds that are pinned and were read. */
    int pinnedRounds() {
        return Math.max(0, Math.min(pinned, rounds.size()));
    }

    /**
     * Returns whether a limit or a strategy leaves out the turn or some of its rounds.
     *
     * @return whether any part is left out
     */
    public boolean isCut() {
        return form != Form.WHOLE || cut.whole() || cut.from() > 0;
    }

    /** Returns the turn as limits see it: only question and answer if only these are shown. */
    ContextTurn counted() {
        return form != Form.QUESTION_AND_ANSWER
                ? this
                : new ContextTurn(
                        user, rounds.subList(rounds.size() - 1, rounds.size()), standing, place, pinned, form, cut);
    }

    ContextTurn passedBy(Form smaller, Reason reason) {
        return new ContextTurn(
                user, rounds, standing, place, pinned, form.and(smaller), cut.and(new Cut(reason, false, 0, false)));
    }

    /** Returns the messages that are not shown, each with the reason. */
    List<Omission> omitted() {
        List<Omission> omitted = new ArrayList<>();
        Reason limit = Objects.requireNonNullElse(cut.reason(), Reason.NO_USER_MESSAGE);
        if (!isShown()) {
            omitted.add(new Omission(user, standing == Standing.REPEATED ? Reason.REPEATED_USER_MESSAGE : limit));
        }
        for (int r = 0; r < rounds.size(); r++) {
            if (!isShown() || !isShown(r)) {
                Reason reason = Objects.requireNonNullElse(rounds.get(r).hidden(), limit);
                rounds.get(r).messages().forEach(message -> omitted.add(new Omission(message, reason)));
            }
        }
        return omitted;
    }

    ContextTurn cut(Cut more) {
        return new ContextTurn(user, rounds, standing, place, pinned, form, cut.and(more));
    }

    ContextTurn pin(int firstRounds) {
        // Where it stands must not depend on what follows its beginning, which may not be read.
        return new ContextTurn(user, rounds, standing, user.sequence(), Math.max(pinned, firstRounds), form, cut);
    }

    private boolean isShown() {
        return standing != Standing.REPEATED && (isOrdinary() || isPinned());
    }

    private boolean isShown(int round) {
        return rounds.get(round).hidden() == null
                && ((isOrdinary() && round >= shownFrom()) || (isPinned() && isInPinnedPart(round)));
    }

    /**
     * An answer at the end of the pinned part is left out, because it would be directly before the calls that are shown
     * next.
     */
    private boolean isInPinnedPart(int round) {
        return round < pinned
                && (pinned >= rounds.size()
                        || !rounds.subList(round, pinned).stream().allMatch(Round::isAnswer));
    }

    private int shownFrom() {
        return form == Form.QUESTION_AND_ANSWER ? rounds.size() - 1 : cut.from();
    }

    private boolean isOrdinary() {
        return standing == Standing.WHOLE && form != Form.NOTHING && !cut.whole();
    }

    private boolean isPinned() {
        return pinned != NOT_PINNED && !cut.pinGone();
    }
}

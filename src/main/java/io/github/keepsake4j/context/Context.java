package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What was read of a memory, and what a model sees of it. A limit takes nothing away: it marks what is not shown, so that
 * the next one decides on the same turns, and all limits of a combination hold in any order.
 *
 * @param memoryId the id as LangChain4j gave it, for limits that depend on it
 * @param system the system message in force, which stands first, or null
 * @param summary the summary of what stands before the turns, which is shown behind the system message, or null
 * @param oldest the branch's oldest messages, oldest first, as far as {@link Reach#oldest()} asked for them
 * @param unread the sequence before which nothing was read but the oldest messages and the newest turn's user message; 0 if
 *     the branch was read from its beginning
 * @param headless what was read of a turn whose beginning was not, results behind their calls; never shown
 * @param turns the turns behind it, oldest first, shown or not
 * @param repaired what a provider would refuse or this version does not know, with the reason
 * @param replaced what is shown in place of a message, by the message's id; its size still counts as before
 * @param reserved tokens that something beside the memory takes, such as tool specifications; 0 or more
 * @param overflow whether even the newest turn's user message and last round are over a limit, so that they are not shown
 */
public record Context(
        Object memoryId,
        @Nullable LoggedMessage system,
        @Nullable LoggedMessage summary,
        List<LoggedMessage> oldest,
        long unread,
        List<LoggedMessage> headless,
        List<Turn> turns,
        List<Omission> repaired,
        Map<String, ChatMessage> replaced,
        long reserved,
        boolean overflow) {

    /** Why a message is not shown. */
    public enum Reason {
        /** Over the limit of messages or turns. */
        MESSAGE_LIMIT,
        /** Over the limit of tokens. */
        TOKEN_LIMIT,
        /** A strategy of the user's own left it out. */
        STRATEGY,
        /** A result whose call is not shown, or was answered already. */
        ORPHAN_RESULT,
        /** A call that was never answered: its turn died, or still waits. */
        UNANSWERED_CALL,
        /** An answer that another tool round followed at once, as when turns interleave; not every provider takes that. */
        ANSWER_BEFORE_CALL,
        /** The same user message follows: the turn failed and was tried again. */
        REPEATED_USER_MESSAGE,
        /** It has no text, which providers refuse. */
        EMPTY_TEXT,
        /** It stands before the first user message that was read. */
        NO_USER_MESSAGE,
        /** A newer system message is in force. */
        OLD_SYSTEM_MESSAGE,
        /** A type that this version does not know. */
        UNKNOWN_TYPE
    }

    /**
     * A message that is not shown.
     *
     * @param message the message
     * @param reason why
     */
    public record Omission(LoggedMessage message, Reason reason) {}

    /** Copies the collections. */
    public Context {
        oldest = List.copyOf(oldest);
        headless = List.copyOf(headless);
        turns = List.copyOf(turns);
        repaired = List.copyOf(repaired);
        replaced = Map.copyOf(replaced);
    }

    /**
     * Returns everything that is shown, in order.
     *
     * @return the system message and the summary, if there are, and the turns' messages, as they are shown
     */
    public List<LoggedMessage> shown() {
        return shown(beside());
    }

    /**
     * Returns everything that is shown and stands in the log, in order.
     *
     * @return what is shown but the summary
     */
    public List<LoggedMessage> logged() {
        return shown(system == null ? List.of() : List.of(system));
    }

    /**
     * Returns everything that is shown, as LangChain4j's messages.
     *
     * @return a new list
     */
    public List<ChatMessage> messages() {
        List<ChatMessage> messages = new ArrayList<>();
        shown().forEach(logged -> messages.add(logged.message()));
        return messages;
    }

    /**
     * Returns what was read and is not shown.
     *
     * @return what was repaired first, then the turns' messages, oldest first
     */
    public List<Omission> omitted() {
        return Stream.concat(
                        Stream.concat(
                                repaired.stream(),
                                headless.stream().map(message -> new Omission(message, Reason.NO_USER_MESSAGE))),
                        turns.stream().flatMap(turn -> turn.omitted().stream()))
                .toList();
    }

    /**
     * Returns where all turns so far are over, so that a summary may reach up to there.
     *
     * @return the ids of the last messages before other turns, and of the newest one if it closed its turn; oldest first
     */
    public List<String> ends() {
        List<Turn> read = Fold.turns(this);
        List<Boolean> endsBefore = Fold.endsBefore(read);
        List<String> ends = new ArrayList<>();
        for (int t = 0; t < read.size(); t++) {
            String before = read.get(t).user().parentId();
            if (before != null && endsBefore.get(t)) {
                ends.add(before);
            }
        }
        if (!read.isEmpty() && read.get(read.size() - 1).closed()) {
            ends.add(Fold.newest(read).id());
        }
        return ends;
    }

    /**
     * Leaves out turns, for a strategy of the user's own. What was left out before stays out.
     *
     * @param keep whether a turn may be shown
     * @return a copy
     */
    public Context keepTurns(Predicate<Turn> keep) {
        return mapTurns(turn -> keep.test(turn) ? turn : turn.cut(Turn.Cut.whole(Reason.STRATEGY)));
    }

    /**
     * Shows something else in place of messages.
     *
     * @param more what to show, by the id of the message whose place it takes
     * @return a copy
     */
    public Context replacing(Map<String, ChatMessage> more) {
        Map<String, ChatMessage> all = new HashMap<>(replaced);
        all.putAll(more);
        return new Context(
                memoryId, system, summary, oldest, unread, headless, turns, repaired, all, reserved, overflow);
    }

    /**
     * Counts what stands beside the memory's messages.
     *
     * @param tokens how many tokens it takes, 0 or more
     * @return a copy
     */
    public Context reserving(long tokens) {
        return new Context(
                memoryId, system, summary, oldest, unread, headless, turns, repaired, replaced, tokens, overflow);
    }

    /**
     * Says which messages are the branch's oldest.
     *
     * @param messages the messages, oldest first
     * @return a copy
     */
    public Context beginningWith(List<LoggedMessage> messages) {
        return new Context(
                memoryId, system, summary, messages, unread, headless, turns, repaired, replaced, reserved, overflow);
    }

    /**
     * Puts a summary before the turns.
     *
     * @param message what is shown of it, with its size
     * @return a copy
     */
    public Context summarizedBy(@Nullable LoggedMessage message) {
        return new Context(
                memoryId, system, message, oldest, unread, headless, turns, repaired, replaced, reserved, overflow);
    }

    /** What is shown before the turns. */
    List<LoggedMessage> beside() {
        return Stream.of(Optional.ofNullable(system), Optional.ofNullable(summary))
                .flatMap(Optional::stream)
                .toList();
    }

    Context mapTurns(Function<Turn, Turn> change) {
        return withTurns(turns.stream().map(change).toList(), overflow);
    }

    Context withTurns(List<Turn> changed, boolean overflowed) {
        return new Context(
                memoryId, system, summary, oldest, unread, headless, changed, repaired, replaced, reserved, overflowed);
    }

    private List<LoggedMessage> shown(List<LoggedMessage> before) {
        List<LoggedMessage> shown = new ArrayList<>(before);
        turns.forEach(turn -> turn.messages().forEach(message -> shown.add(asShown(message))));
        return shown;
    }

    private LoggedMessage asShown(LoggedMessage logged) {
        ChatMessage other = replaced.get(logged.id());
        return other == null ? logged : logged.withMessage(other);
    }
}

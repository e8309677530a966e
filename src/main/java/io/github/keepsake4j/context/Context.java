package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.tokens.TokenSizes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The part of a memory that was read, and what a model sees of it. A limit removes nothing from the context. It marks
 * the messages that are not shown, so that the next limit decides on the same turns, and all limits of a combination
 * hold in any order.
 *
 * @param memoryId the memory's id as LangChain4j passed it, for limits that depend on it
 * @param opening the messages that are shown before the turns
 * @param read the messages that were read in addition to the turns
 * @param turns the turns after the headless messages, oldest first, whether they are shown or not
 * @param forms the forms in which messages are shown, and their sizes
 * @param over the part that does not fit into a limit and cannot be left out, or null
 */
public record Context(
        Object memoryId, Opening opening, Read read, List<ContextTurn> turns, Forms forms, @Nullable Overflow over) {

    /** The memory id that LangChain4j passes when there is none. */
    private static final String NO_ID = "default";

    /**
     * What does not fit into a limit.
     *
     * @param part the part of the context that is too large
     * @param reason the limit's unit: {@link Reason#MESSAGE_LIMIT} or {@link Reason#TOKEN_LIMIT}
     * @param limit the limit
     * @param size the size of the part, together with everything that is always shown
     * @param newest the id of the newest message of the turn that does not fit, or null if it is not a turn
     */
    public record Overflow(Part part, Reason reason, long limit, long size, @Nullable String newest) {

        /** The parts of a context that cannot be left out. */
        public enum Part {
            /** The system message, the summary, the memories, and the reserved tokens. */
            SYSTEM_MESSAGE,
            /** The newest user message. */
            QUESTION,
            /** The newest turn's user message with its last round. */
            LAST_ROUND
        }
    }

    /**
     * What is shown before the turns.
     *
     * @param system the current system message, which is shown first, or null
     * @param summary the summary of the messages before the turns, in the form in which it is shown, or null
     * @param remembered the long-term memories of the conversation, which are shown last, or null
     */
    public record Opening(
            @Nullable LoggedMessage system, @Nullable LoggedMessage summary, @Nullable Remembered remembered) {

        /**
         * Returns the messages.
         *
         * @return those that are present, in order; unmodifiable
         */
        public List<LoggedMessage> messages() {
            return Stream.of(system, summary, remembered == null ? null : remembered.message())
                    .flatMap(Stream::ofNullable)
                    .toList();
        }
    }

    /**
     * The messages that were read in addition to the turns.
     *
     * @param oldest the branch's oldest messages, oldest first, as many as {@link ReadBounds#oldest()} requires
     * @param unread the sequence before which only the oldest messages and the newest turn's user message were read; 0 if
     *     the branch was read from its beginning
     * @param headless the messages that were read of a turn whose beginning was not read, with results after their calls;
     *     never shown
     * @param repaired messages that a provider would refuse or that this version does not know, each with the reason
     */
    public record Read(List<LoggedMessage> oldest, long unread, List<LoggedMessage> headless, List<Omission> repaired) {

        /** Copies the lists. */
        public Read {
            oldest = List.copyOf(oldest);
            headless = List.copyOf(headless);
            repaired = List.copyOf(repaired);
        }

        /** Leaves out the texts of messages, so that the result may be logged. */
        @Override
        public String toString() {
            return "Read[unread=" + unread + ", oldest=" + oldest.size() + ", headless=" + headless.size() + "]";
        }
    }

    /**
     * The forms in which messages are shown, and their sizes.
     *
     * @param replaced the messages that are shown in place of others, by the other message's id. Limits count the larger
     * one of both, but instead of the marker of a cleared result always the message that it replaces
     * @param sizes the sizes of the messages by any counter
     * @param reserved the number of tokens that are used outside of the memory, such as by tool specifications; 0 or
     * more
     */
    public record Forms(Map<String, ChatMessage> replaced, TokenSizes sizes, long reserved) {

        /** Copies the map. */
        public Forms {
            replaced = Map.copyOf(replaced);
        }

        /** Leaves out the texts of messages, so that the result may be logged. */
        @Override
        public String toString() {
            return "Forms[replaced=" + replaced.keySet() + ", reserved=" + reserved + "]";
        }
    }

    /** Copies the turns. */
    public Context {
        turns = List.copyOf(turns);
    }

    /**
     * Returns the system message of the opening.
     *
     * @return the current system message, or null
     */
    public @Nullable LoggedMessage system() {
        return opening.system();
    }

    /**
     * Returns the summary of the opening.
     *
     * @return the summary in the form in which it is shown, or null
     */
    public @Nullable LoggedMessage summary() {
        return opening.summary();
    }

    /**
     * Returns the memories of the opening.
     *
     * @return the memories that are shown, or null
     */
    public @Nullable Remembered remembered() {
        return opening.remembered();
    }

    /**
     * Returns the oldest messages that were read.
     *
     * @return the branch's oldest messages, oldest first
     */
    public List<LoggedMessage> oldest() {
        return read.oldest();
    }

    /**
     * Returns what is shown in another form.
     *
     * @return the messages that are shown in place of others, by the other message's id
     */
    public Map<String, ChatMessage> replaced() {
        return forms.replaced();
    }

    /**
     * Returns the sizes of the messages.
     *
     * @return the sizes of the messages by any counter
     */
    public TokenSizes sizes() {
        return forms.sizes();
    }

    /**
     * Divides a branch's newest part into turns. Results are placed directly after their calls. Calls that lack a
     * result, and results without their call, are not shown. If the messages end with results, the results' turn
     * continues: messages that other turns added after the calls are not shown.
     *
     * @param system the current system message, or null
     * @param user the newest user message, which begins the newest turn even if it is older than the messages; or null
     * @param messages the messages, oldest first
     * @return the context before any limit
     */
    public static Context of(
            @Nullable LoggedMessage system, @Nullable LoggedMessage user, List<LoggedMessage> messages) {
        return of(NO_ID, system, user, List.of(), messages, null);
    }

    /**
     * Divides the messages that no summary covers, and the branch's oldest part, into turns. Messages before the
     * summary are shown only if they are pinned. If the summary ends within the newest turn, that turn consists of its
     * user message and the messages that the summary does not cover.
     *
     * @param memoryId the memory's id as LangChain4j passed it
     * @param system the current system message, or null
     * @param user the newest user message, which begins the newest turn even if it is older than the messages; or null
     * @param oldest the branch's oldest messages, oldest first; they may overlap with the newest messages; may be empty
     * @param messages the newest messages, oldest first
     * @param summary the summary that replaces all messages in between, or null if there is none
     * @return the context before any limit
     */
    public static Context of(
            Object memoryId,
            @Nullable LoggedMessage system,
            @Nullable LoggedMessage user,
            List<LoggedMessage> oldest,
            List<LoggedMessage> messages,
            @Nullable LoggedMessage summary) {
        return new TurnSplitter(system).split(memoryId, user, oldest, messages, summary);
    }

    /**
     * Returns whether a required part does not fit into a limit. If that is the newest turn, the turn is not shown.
     *
     * @return whether there is an {@link #over() overflow}
     */
    public boolean overflow() {
        return over != null;
    }

    /**
     * Returns all messages that are shown, in order.
     *
     * @return the system message, the summary and the memories, if present, followed by the turns' messages in the form in which they
     *     are shown
     */
    public List<LoggedMessage> shown() {
        return followedByTurns(new ArrayList<>(opening.messages()));
    }

    /**
     * Returns all shown messages that are part of the log, in order.
     *
     * @return the shown messages without the summary and the memories
     */
    public List<LoggedMessage> logged() {
        return followedByTurns(new ArrayList<>(new Opening(opening.system(), null, null).messages()));
    }

    /**
     * Returns all messages that are shown, as LangChain4j's messages.
     *
     * @return a new list
     */
    public List<ChatMessage> messages() {
        return new ArrayList<>(shown().stream().map(LoggedMessage::message).toList());
    }

    /**
     * Returns the messages that were read and are not shown.
     *
     * @return the repaired messages, followed by the turns' messages, oldest first
     */
    public List<Omission> omitted() {
        List<Omission> omitted = new ArrayList<>(read.repaired());
        read.headless().forEach(message -> omitted.add(Omission.ofUnread(message)));
        turns.forEach(turn -> omitted.addAll(turn.omitted()));
        return omitted;
    }

    /**
     * Returns the bound turns that were not over and have complete tool rounds. Such a turn moves behind others when it
     * ends.
     *
     * @return the ids of their questions, in order
     */
    public List<String> open() {
        return turns.stream()
                .filter(turn -> turn.user().id().equals(turn.user().question()) && !turn.closed())
                .filter(turn -> turn.rounds().stream().anyMatch(round -> round.hidden() == null))
                .map(turn -> turn.user().id())
                .toList();
    }

    /** Returns the turns as limits see them: without skipped turns. */
    List<ContextTurn> counted() {
        return turns.stream()
                .filter(turn -> turn.form() != ContextTurn.Form.NOTHING)
                .map(ContextTurn::counted)
                .toList();
    }

    /** Returns whether the view ends because too many messages are skipped. */
    boolean endsAtPassed() {
        return read.repaired().stream().anyMatch(omission -> omission.reason() == Reason.TOO_FAR_BACK)
                || turns.stream().anyMatch(turn -> turn.cut().reason() == Reason.TOO_FAR_BACK);
    }

    Context endingAtPassed(List<Omission> before, List<ContextTurn> rest, long place) {
        List<Omission> more = new ArrayList<>(read.repaired());
        more.addAll(before);
        Read shorter = new Read(read.oldest(), Math.max(read.unread(), place), List.of(), more);
        return new Context(memoryId, opening, shorter, rest, forms, over);
    }

    /**
     * Returns the messages beyond which no earlier turn continues. A summary may cover the branch up to any of them.
     *
     * @return the ids of the messages directly before a turn, and of the newest message if it closed its turn; oldest
     * first
     */
    public List<String> ends() {
        List<ContextTurn> read = Fold.turns(this);
        List<Boolean> endsBefore = Fold.endsBefore(read);
        List<String> ends = new ArrayList<>();
        for (int t = 0; t < read.size(); t++) {
            String before = Fold.begin(read, t).parentId();
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
     * Excludes turns, for a custom strategy. Turns that were excluded before stay excluded.
     *
     * @param keep whether a turn may be shown
     * @return a copy
     */
    public Context keepTurns(Predicate<ContextTurn> keep) {
        ContextTurn.Cut gone = ContextTurn.Cut.whole(Reason.STRATEGY);
        Stream<ContextTurn> kept = turns.stream().map(turn -> keep.test(turn) ? turn : turn.cut(gone));
        return withTurns(kept.toList(), over);
    }

    /**
     * Shows other messages in place of some messages.
     *
     * @param more the messages to show, by the id of the message that each of them replaces
     * @return a copy
     */
    public Context replacing(Map<String, ChatMessage> more) {
        Map<String, ChatMessage> all = new HashMap<>(replaced());
        all.putAll(more);
        return withReplaced(all);
    }

    /**
     * Shows tool results shortened. Of two forms of a result, the shorter one is shown, and a marker is shown rather
     * than a shortened form.
     */
    Context shortening(Map<String, ChatMessage> shortened) {
        if (shortened.isEmpty()) {
            return this;
        }
        Map<String, ChatMessage> all = new HashMap<>(replaced());
        shortened.forEach((id, form) -> all.merge(id, form, Context::shorter));
        return withReplaced(all);
    }

    static ChatMessage shorter(ChatMessage some, ChatMessage other) {
        return ClearedResult.is(some)
                        || (some instanceof ToolExecutionResultMessage result
                                && other instanceof ToolExecutionResultMessage form
                                && isShorter(result, form))
                ? some
                : other;
    }

    private static boolean isShorter(ToolExecutionResultMessage result, ToolExecutionResultMessage form) {
        if (result.hasSingleText() && form.hasSingleText()) {
            return result.text().length() <= form.text().length();
        }
        TokenCounter counter = TokenCounter.standard();
        return counter.count(result).tokens() <= counter.count(form).tokens();
    }

    private Context withReplaced(Map<String, ChatMessage> all) {
        return with(opening, read, new Forms(all, forms.sizes(), forms.reserved()));
    }

    /**
     * Sets the sizes of the messages.
     *
     * @param ofMessages the sizes by any counter
     * @return a copy
     */
    public Context sizedBy(TokenSizes ofMessages) {
        return with(opening, read, new Forms(forms.replaced(), ofMessages, forms.reserved()));
    }

    /**
     * Treats everything before a place as if it had not been read, so that the shown messages do not depend on how much
     * was read.
     *
     * @param place a sequence, 0 or more
     * @return a copy, or this if nothing was read there
     */
    public Context unreadBefore(long place) {
        return place <= read.unread()
                ? this
                : with(opening, new Read(read.oldest(), place, read.headless(), read.repaired()), forms);
    }

    /**
     * Returns the stored messages in whose place other messages are shown.
     *
     * @return the stored messages by id
     */
    public Map<String, LoggedMessage> originals() {
        Map<String, LoggedMessage> originals = new HashMap<>();
        if (!replaced().isEmpty()) {
            turns.stream()
                    .flatMap(ContextTurn::all)
                    .filter(message -> replaced().containsKey(message.id()))
                    .forEach(message -> originals.put(message.id(), message));
        }
        return originals;
    }

    /**
     * Sets the number of tokens that are used outside of the memory's messages.
     *
     * @param tokens the number of tokens, 0 or more
     * @return a copy
     */
    public Context reserving(long tokens) {
        return with(opening, read, new Forms(forms.replaced(), forms.sizes(), tokens));
    }

    /**
     * Sets the branch's oldest messages.
     *
     * @param messages the messages, oldest first
     * @return a copy
     */
    public Context beginningWith(List<LoggedMessage> messages) {
        return with(opening, new Read(messages, read.unread(), read.headless(), read.repaired()), forms);
    }

    /**
     * Sets the summary that is shown before the turns.
     *
     * @param message the summary in the form in which it is shown, with its size, or null for none
     * @return a copy
     */
    public Context summarizedBy(@Nullable LoggedMessage message) {
        return with(new Opening(opening.system(), message, opening.remembered()), read, forms);
    }

    /**
     * Sets the memories that are shown before the turns.
     *
     * @param memories the memories in the form in which they are shown, with their size, or null for none
     * @return a copy
     */
    public Context remembering(@Nullable Remembered memories) {
        return with(new Opening(opening.system(), opening.summary(), memories), read, forms);
    }

    long unread() {
        return read.unread();
    }

    private Context with(Opening otherOpening, Read otherRead, Forms otherForms) {
        return new Context(memoryId, otherOpening, otherRead, turns, otherForms, over);
    }

    /** A message, and its place in the log for limits. */
    record Placed(long place, LoggedMessage message) {}

    /**
     * Returns the headless messages. A result counts at the place of its calls, as it did while the turn's
     * beginning was still read.
     */
    List<Placed> placedHeadless() {
        List<Placed> placed = new ArrayList<>();
        long place = 0;
        for (LoggedMessage message : read.headless()) {
            place = message.message() instanceof ToolExecutionResultMessage ? place : message.sequence();
            placed.add(new Placed(place, message));
        }
        return placed;
    }

    /** Changes turns, and sorts them by their places. */
    Context placeTurns(Function<ContextTurn, ContextTurn> change) {
        Stream<ContextTurn> placed = turns.stream().map(change).sorted(Comparator.comparingLong(ContextTurn::place));
        return withTurns(placed.toList(), over);
    }

    Context withTurns(List<ContextTurn> changed, @Nullable Overflow overflow) {
        return new Context(memoryId, opening, read, changed, forms, overflow);
    }

    /** Adds the turns' messages to a list, in the form in which they are shown, and returns the list. */
    private List<LoggedMessage> followedByTurns(List<LoggedMessage> list) {
        int before = list.size();
        turns.forEach(turn -> turn.addTo(list));
        if (!replaced().isEmpty()) {
            list.subList(before, list.size()).replaceAll(this::asShown);
        }
        return list;
    }

    private LoggedMessage asShown(LoggedMessage logged) {
        ChatMessage other = replaced().get(logged.id());
        return other == null ? logged : logged.withMessage(other);
    }

    /** Leaves out the replacements of messages, so that the result may be logged. */
    @Override
    public String toString() {
        return "Context[memoryId=" + memoryId + ", turns=" + turns.size() + ", unread=" + read.unread() + "]";
    }
}

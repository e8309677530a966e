package io.github.keepsake4j.log;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The newest part of a branch.
 *
 * @param position the position of the memory
 * @param messages the messages that were requested, oldest first
 * @param oldest the oldest messages of the same branch, or those that follow {@link ReadQuery#after()} if that is
 *     given, oldest first. It holds as many as {@link ReadQuery#alsoOldest} requested, or all if there are fewer, and
 *     none if none were requested. Some or all of them may be in {@code messages} too. If {@code messages} reaches back
 * to the root or to {@code after}, it begins with {@code oldest}
 * @param system the system message in force at the branch's end, or null. It may be older than the messages, but
 *     follows {@link ReadQuery#after()} if that is given
 * @param user the newest user message up to the same end, which began the newest turn, or null. It may be older than
 *     the messages
 * @param view the view in force on this branch, or null
 * @param summary the newest summary on this branch if {@link ReadQuery#toSummary()} requested it, or null
 * @param complete whether no message of the branch was left out: the messages reach back to the root, to the ancestor
 *     at which the read stops, or to the summary
 * @param missingParent the parent id that the branch's oldest message names and that is not in the memory, or null
 */
public record Tail(
        Position position,
        List<LoggedMessage> messages,
        List<LoggedMessage> oldest,
        @Nullable LoggedMessage system,
        @Nullable LoggedMessage user,
        @Nullable View view,
        @Nullable Summary summary,
        boolean complete,
        @Nullable String missingParent) {

    /** Copies the components. */
    public Tail {
        messages = List.copyOf(messages);
        oldest = List.copyOf(oldest);
        system = readable(system);
        user = readable(user);
    }

    private static @Nullable LoggedMessage readable(@Nullable LoggedMessage message) {
        return message == null || Outcome.UNREADABLE.equals(message.outcome()) ? null : message;
    }

    /**
     * Returns the tail of a memory without messages.
     *
     * @param position the position of the memory
     * @return the tail
     */
    public static Tail empty(Position position) {
        return new Tail(position, List.of(), List.of(), null, null, null, null, true, null);
    }

    /**
     * Returns the memory's head.
     *
     * @return the message id, or null if the memory has no messages
     */
    public @Nullable String head() {
        return position.head();
    }

    /**
     * Returns the epoch in force.
     *
     * @return the epoch; see {@link Position#epoch()}
     */
    public long epoch() {
        return position.epoch();
    }

    /**
     * Returns the revision in force.
     *
     * @return the revision; see {@link Position#revision()}
     */
    public long revision() {
        return position.revision();
    }

    /**
     * Returns this tail with a batch that was appended under the head.
     *
     * @param batch the messages
     * @param result the outcome of the append
     * @return the tail as a read would return it now, or null if another writer changed the memory in between
     */
    public @Nullable Tail after(List<NewMessage> batch, AppendResult result) {
        boolean isNext = !result.replayed()
                && position.isSameRevision(result.position())
                && Objects.equals(result.previousHead(), position.head());
        if (!isNext) {
            return null;
        }
        return followedBy(batch, result.position(), position.head(), result.lastSequence() - batch.size());
    }

    /**
     * Returns this tail with a batch that was appended since, without what others appended in between.
     *
     * @param batch the messages
     * @param result the outcome of the append
     * @return a tail at the same position
     */
    public Tail behindOthers(List<NewMessage> batch, AppendResult result) {
        return followedBy(batch, position, result.previousHead(), result.lastSequence() - batch.size());
    }

    /**
     * Returns this tail as if messages had been appended, to find out which messages would be shown then.
     *
     * @param batch the messages
     * @return a hypothetical tail
     */
    public Tail followedBy(List<NewMessage> batch) {
        return followedBy(batch, position, position.head(), newest());
    }

    private Tail followedBy(List<NewMessage> batch, Position after, @Nullable String head, long before) {
        List<LoggedMessage> added = new ArrayList<>();
        String parent = head;
        long sequence = before;
        for (NewMessage message : batch) {
            added.add(message.logged(message.id(), parent, ++sequence, Instant.now()));
            parent = message.id();
        }
        return with(added, after);
    }

    /**
     * Returns the highest sequence of its messages.
     *
     * @return the sequence, or 0 if there are no messages
     */
    public long newest() {
        return messages.stream().mapToLong(LoggedMessage::sequence).max().orElse(0);
    }

    /**
     * Returns this tail with messages that are not on its branch, or behind its end.
     *
     * @param more the messages, oldest first
     * @return a tail at the same position
     */
    public Tail with(List<LoggedMessage> more) {
        return more.isEmpty() ? this : with(more, position);
    }

    private Tail with(List<LoggedMessage> more, Position after) {
        List<LoggedMessage> longer = new ArrayList<>(messages);
        longer.addAll(more);
        LoggedMessage newestSystem = newest(more, SystemMessage.class).orElse(system);
        LoggedMessage newestUser = newest(more, UserMessage.class).orElse(user);
        return with(after, longer, oldestOf(longer), newestSystem, newestUser);
    }

    private Tail with(
            Position after,
            List<LoggedMessage> branch,
            List<LoggedMessage> first,
            @Nullable LoggedMessage newestSystem,
            @Nullable LoggedMessage newestUser) {
        return new Tail(after, branch, first, newestSystem, newestUser, view, summary, complete, missingParent);
    }

    private static Optional<LoggedMessage> newest(List<LoggedMessage> list, Class<? extends ChatMessage> kind) {
        return list.stream().filter(logged -> kind.isInstance(logged.message())).reduce((older, newer) -> newer);
    }

    /**
     * Returns this tail without a message.
     *
     * @param messageId the message's id
     * @return a hypothetical tail
     */
    public Tail without(String messageId) {
        List<LoggedMessage> fewer = without(messages, messageId);
        boolean isUser = user != null && user.id().equals(messageId);
        LoggedMessage newestUser = isUser ? newest(fewer, UserMessage.class).orElse(null) : user;
        return with(position, fewer, without(oldest, messageId), system, newestUser);
    }

    /**
     * Returns this tail with messages in other forms.
     *
     * @param form returns the form of a message, under the same id
     * @return a tail with the results in place of the messages
     */
    public Tail showing(UnaryOperator<LoggedMessage> form) {
        return with(
                position,
                messages.stream().map(form).toList(),
                oldest.stream().map(form).toList(),
                system,
                user == null ? null : form.apply(user));
    }

    private static List<LoggedMessage> without(List<LoggedMessage> list, String messageId) {
        return list.stream().filter(message -> !message.id().equals(messageId)).toList();
    }

    /**
     * Returns the oldest messages of a longer branch. They are unchanged, unless they reached the newest message; then
     * the new messages are added. The requested number is not known here, so a caller that needs n messages takes the
     * first n.
     */
    private List<LoggedMessage> oldestOf(List<LoggedMessage> longer) {
        boolean reachNewest = !oldest.isEmpty()
                && !messages.isEmpty()
                && oldest.get(oldest.size() - 1)
                        .id()
                        .equals(messages.get(messages.size() - 1).id());
        if (!reachNewest) {
            return oldest;
        }
        List<LoggedMessage> all = new ArrayList<>(oldest);
        all.addAll(longer.subList(messages.size(), longer.size()));
        return all;
    }
}

package io.github.keepsake4j.backend;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The rules of an append, which are the same for every store. All methods are pure functions. */
public final class AppendRules {

    private AppendRules() {}

    /**
     * Creates the error of a view that an empty memory cannot have.
     *
     * @param key the memory
     * @return the error
     */
    public static InvalidInputException noMessages(MemoryKey key) {
        return new InvalidInputException(
                "view", "cannot be set on memory " + key + ", which has no messages; append a message first");
    }

    /**
     * Returns whether a batch is already stored.
     *
     * @param key the memory
     * @param append the batch
     * @param stored the stored messages whose ids occur in the batch, by id
     * @return true if the whole batch is stored, false if none of it is
     * @throws MessageIdConflictException if an id is used for something else, or only a part of the batch is stored
     */
    public static boolean isReplay(MemoryKey key, Append append, Map<String, LoggedMessage> stored) {
        if (stored.isEmpty()) {
            return false;
        }
        NewMessage missing = null;
        NewMessage previous = null;
        for (NewMessage sent : append.messages()) {
            LoggedMessage there = stored.get(sent.id());
            if (there == null) {
                missing = sent;
            } else if (!there.message().equals(sent.message())) {
                throw new MessageIdConflictException(key, sent.id(), "is used with other content; use a new id");
            } else if (!sameParent(append.parent(), previous, there.parentId())) {
                throw new MessageIdConflictException(key, sent.id(), "is used under another parent; use a new id");
            }
            previous = sent;
        }
        if (missing != null) {
            throw new MessageIdConflictException(
                    key,
                    stored.keySet().iterator().next(),
                    "is stored, but " + missing.id() + " of the same batch is not; send the original batch, or use "
                            + "new ids");
        }
        return true;
    }

    /**
     * Refuses work that began before the memory was erased.
     *
     * @param key the memory
     * @param expected the epoch that the work belongs to, or null for any
     * @param current the epoch in force
     * @throws ErasedException if they differ
     */
    public static void checkEpoch(MemoryKey key, @Nullable Long expected, long current) {
        if (expected != null && expected != current) {
            throw new ErasedException(key, expected, current);
        }
    }

    /**
     * Refuses an append that expects another position.
     *
     * @param key the memory
     * @param append the append
     * @param actual the actual position
     * @throws HeadConflictException if the revision or the head differs
     */
    public static void checkPosition(MemoryKey key, Append append, Position actual) {
        Long revision = append.revision();
        if (revision != null && revision != actual.revision()) {
            throw new HeadConflictException(key, revision, actual);
        }
        if (append.expectsHead() && !Objects.equals(append.expectedHead(), actual.head())) {
            throw new HeadConflictException(key, append.expectedHead(), actual.head());
        }
    }

    /**
     * Refuses an append whose view names a message that is not in the memory. Such a view would hide messages of the
     * memory.
     *
     * @param key the memory
     * @param append the append
     * @param there returns whether a message is in the memory
     * @throws UnknownMessageException if the anchor, a run or the summary names a message that is neither in the memory
     *     nor in the batch
     */
    public static void checkView(MemoryKey key, Append append, Predicate<String> there) {
        View view = append.view();
        if (view == null) {
            return;
        }
        if (view.anchor() != null && !there.test(view.anchor())) {
            throw UnknownMessageException.notThere(key, "view anchor", view.anchor());
        }
        for (String id : append.namedByView()) {
            if (!there.test(id)) {
                throw UnknownMessageException.notThere(key, "view", id);
            }
        }
    }

    /**
     * Returns whether an append raises the revision. It does if it sets a view, or if its messages do not simply follow
     * the head.
     *
     * @param append the append
     * @param parentId the id of the first message's parent, or null
     * @param head the head before the append, or null
     * @return whether it raises the revision
     */
    public static boolean raisesRevision(Append append, @Nullable String parentId, @Nullable String head) {
        return append.view() != null || (!append.messages().isEmpty() && !Objects.equals(parentId, head));
    }

    /**
     * Returns the day to which a message's usage is added.
     *
     * @param createdAt the message's time
     * @return its day in UTC
     */
    public static LocalDate day(Instant createdAt) {
        return LocalDate.ofInstant(createdAt, ZoneOffset.UTC);
    }

    /**
     * Returns the usage of a batch by days.
     *
     * @param append the batch
     * @param now the time of messages without a time of their own
     * @return the sums by day in UTC; empty if no message has a usage
     */
    public static SortedMap<LocalDate, Usage> usageByDay(Append append, Instant now) {
        SortedMap<LocalDate, Usage> sums = new TreeMap<>();
        for (NewMessage message : append.messages()) {
            Usage used = message.made().usage();
            if (used != null) {
                Instant made = message.createdAt();
                sums.merge(day(made == null ? now : made), used, Usage::plus);
            }
        }
        return sums;
    }

    /**
     * Creates the exception for a message that cannot be read. It names the message and the memory.
     *
     * @param key the memory
     * @param messageId the message's id
     * @param cause the codec's exception
     * @return the exception to throw
     */
    public static UnreadableDataException unreadable(MemoryKey key, String messageId, UnreadableDataException cause) {
        return new UnreadableDataException(
                "Memory " + key + ": message " + messageId + " cannot be read (" + cause.getMessage()
                        + "). Its bytes are kept: repair or remove them",
                cause);
    }

    /**
     * Compares the parents only if the append names one. Otherwise the parent depends on the head, or on "the message
     * before in time", and both may have moved since.
     */
    private static boolean sameParent(Parent named, @Nullable NewMessage previous, @Nullable String stored) {
        if (previous != null) {
            return previous.id().equals(stored);
        }
        if (named instanceof Parent.Of of) {
            return of.id().equals(Ids.BEFORE_IN_TIME) || of.id().equals(stored);
        }
        return named instanceof Parent.Head || stored == null;
    }

    /**
     * Returns the marker for a message that a repair found unreadable and of which only the place can be read.
     *
     * @param id the message's id
     * @param parentId the parent's id, or null
     * @param sequence the message's sequence
     * @param tokens its tokens, as far as they are known
     * @return the marker, of the time 1970
     */
    public static LoggedMessage marker(String id, @Nullable String parentId, long sequence, long tokens) {
        int size = (int) Math.max(0, Math.min(Integer.MAX_VALUE, tokens));
        return new LoggedMessage(
                id,
                parentId,
                sequence,
                UnknownMessage.unreadable(),
                size,
                "unknown",
                Instant.EPOCH,
                Outcome.UNREADABLE,
                null,
                null);
    }
}

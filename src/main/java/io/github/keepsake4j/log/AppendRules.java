package io.github.keepsake4j.log;

import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What every backend decides alike when it appends. Pure functions. */
public final class AppendRules {

    private AppendRules() {}

    /**
     * Decides whether a batch is there already.
     *
     * @param key the memory
     * @param append the batch
     * @param stored the stored messages whose ids stand in the batch, by id
     * @return true if the whole batch is there, false if nothing of it is
     * @throws MessageIdConflictException if an id is used for something else, or only a part is there
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
                throw new MessageIdConflictException(key, sent.id(), "is used with other content");
            } else if (!sameParent(append.parent(), previous, there.parentId())) {
                throw new MessageIdConflictException(key, sent.id(), "is used under another parent");
            }
            previous = sent;
        }
        if (missing != null) {
            throw new MessageIdConflictException(
                    key,
                    stored.keySet().iterator().next(),
                    "is there, but " + missing.id() + " of the same batch is not");
        }
        return true;
    }

    /**
     * Refuses work that was begun before the memory was erased.
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
     * Refuses an append whose caller expects another position.
     *
     * @param key the memory
     * @param append the append
     * @param actual the position that is there
     * @throws HeadConflictException if revision or head differ
     */
    public static void checkPosition(MemoryKey key, Append append, Position actual) {
        Long revision = append.revision();
        if (revision != null && revision != actual.revision()) {
            throw new HeadConflictException(key, revision, actual);
        }
        Append.Expected expected = append.expected();
        if (expected != null && !Objects.equals(expected.head(), actual.head())) {
            throw new HeadConflictException(key, expected.head(), actual.head());
        }
    }

    /**
     * Refuses an append whose view names what is not there. A view that names nothing would hide what is there.
     *
     * @param key the memory
     * @param append the append
     * @param there tells whether a message is in the memory
     * @throws UnknownMessageException if anchor, runs or summary name a message that is neither there nor in the batch
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
     * Tells whether an append raises the revision: it sets a view, or its messages do not simply follow the head.
     *
     * @param append the append
     * @param parentId the id of what its first message follows, or null
     * @param head the head from before, or null
     * @return whether it does
     */
    public static boolean raisesRevision(Append append, @Nullable String parentId, @Nullable String head) {
        return append.view() != null || (!append.messages().isEmpty() && !Objects.equals(parentId, head));
    }

    /**
     * Says which message of which memory cannot be read.
     *
     * @param key the memory
     * @param messageId the message's id
     * @param cause what the codec said
     * @return the error to throw
     */
    public static UnreadableDataException unreadable(MemoryKey key, String messageId, UnreadableDataException cause) {
        return new UnreadableDataException(
                "Memory " + key + ": message " + messageId + " cannot be read (" + cause.getMessage()
                        + "). Its bytes are kept: repair or remove them",
                cause);
    }

    /** Only a parent that was named counts: the head may have moved, and so may "the message before in time". */
    private static boolean sameParent(Parent named, @Nullable NewMessage previous, @Nullable String stored) {
        if (previous != null) {
            return previous.id().equals(stored);
        }
        if (named instanceof Parent.Of of) {
            return of.id().equals(Ids.BEFORE_IN_TIME) || of.id().equals(stored);
        }
        return named instanceof Parent.Head || stored == null;
    }
}

package io.github.keepsake4j.log;

import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The input of {@link MessageLog#append}. Created by {@link #under(Parent, List)} and narrowed by the other methods.
 *
 * @param parent the parent of the first message; each further message follows the one before it
 * @param messages the messages, oldest first; empty only if a view is set
 * @param epoch the epoch that must be in force, or null for any
 * @param revision the revision that must be in force, or null for any
 * @param expectsHead whether the memory must have the expected head
 * @param expectedHead the expected head's id, or null for a memory without messages
 * @param view the view to set, or null to set none
 * @param importing whether a parent that is not in the memory is accepted and reported by reads, instead of refused
 * @param reference the name of the named branch that this append moves instead of the head, or null; see
 *     {@link #onBranch}
 * @param metadata the metadata of the memory if this append creates it; see {@link #creating}
 */
public record Append(
        Parent parent,
        List<NewMessage> messages,
        @Nullable Long epoch,
        @Nullable Long revision,
        boolean expectsHead,
        @Nullable String expectedHead,
        @Nullable View view,
        boolean importing,
        @Nullable String reference,
        Map<String, String> metadata) {

    /** Checks the components. */
    public Append {
        InvalidInputException.given("parent", parent);
        messages = List.copyOf(messages);
        metadata = Collections.unmodifiableMap(new LinkedHashMap<>(metadata));
        if (!metadata.isEmpty()) {
            InputRules.checkDescription(null, new LinkedHashMap<String, @Nullable String>(metadata));
            MemoryInfo.Expiry.of(metadata);
        }
        if (reference != null) {
            Ids.check("branch name", reference);
        }
        if (messages.isEmpty() && view == null) {
            throw new InvalidInputException("messages", "must not be empty");
        }
        Set<String> ids = new HashSet<>();
        for (NewMessage message : messages) {
            if (!ids.add(message.id())) {
                throw new InvalidInputException("messages", "the batch contains the id " + message.id() + " twice");
            }
        }
    }

    /**
     * Creates an append of messages.
     *
     * @param parent the parent of the first message
     * @param messages the messages, oldest first
     * @return the append
     */
    public static Append under(Parent parent, List<NewMessage> messages) {
        return new Append(parent, messages, null, null, false, null, null, false, null, Map.of());
    }

    /**
     * Creates an append of messages under the head.
     *
     * @param messages the messages, oldest first
     * @return the append
     */
    public static Append underHead(NewMessage... messages) {
        return under(Parent.head(), List.of(messages));
    }

    /**
     * Creates an append that sets a view and adds no messages.
     *
     * @param view the view
     * @return the append
     */
    public static Append viewOnly(View view) {
        return new Append(Parent.head(), List.of(), null, null, false, null, view, false, null, Map.of());
    }

    /**
     * Makes this append a compare-and-set on the head.
     *
     * @param head the head that the memory must have, or null for a memory without messages
     * @return a copy
     */
    public Append expectingHead(@Nullable String head) {
        return new Append(parent, messages, epoch, revision, true, head, view, importing, reference, metadata);
    }

    /**
     * Makes this append a compare-and-set on the whole position.
     *
     * @param position the position that the memory must have
     * @return a copy
     */
    public Append at(Position position) {
        return sinceRevisionOf(position).expectingHead(position.head());
    }

    /**
     * Makes this append a compare-and-set on epoch and revision. It succeeds even if messages were appended under the
     * head in the meantime.
     *
     * @param position a position of the revision that must be in force
     * @return a copy
     */
    public Append sinceRevisionOf(Position position) {
        return new Append(
                parent,
                messages,
                position.epoch(),
                position.revision(),
                expectsHead,
                expectedHead,
                view,
                importing,
                reference,
                metadata);
    }

    /**
     * Ties this append to an epoch. It is refused after the memory was erased.
     *
     * @param inForce the epoch that must be in force
     * @return a copy
     */
    public Append inEpoch(long inForce) {
        return new Append(
                parent, messages, inForce, revision, expectsHead, expectedHead, view, importing, reference, metadata);
    }

    /**
     * Sets a view in the same step.
     *
     * @param set the view
     * @return a copy
     */
    public Append withView(View set) {
        return new Append(
                parent, messages, epoch, revision, expectsHead, expectedHead, set, importing, reference, metadata);
    }

    /**
     * Accepts a parent that is not in the memory. Reads report it as {@link Tail#missingParent()}.
     *
     * @return a copy
     */
    public Append asImport() {
        return new Append(
                parent, messages, epoch, revision, expectsHead, expectedHead, view, true, reference, metadata);
    }

    /**
     * Appends to a named branch. The head does not move. The name moves to the last message of the batch. {@link
     * Parent#head()}, the expected head, and the head of the result then mean the newest message of that branch. A
     * branch of this name begins with the first append to it, at the head. It is deleted with the memory.
     *
     * @param name the branch's name, an id as in {@link Ids#check}, or null for the head
     * @return a copy
     */
    public Append onBranch(@Nullable String name) {
        return new Append(
                parent, messages, epoch, revision, expectsHead, expectedHead, view, importing, name, metadata);
    }

    /**
     * Sets the metadata of the memory if this append creates it, in the same step. A memory that exists keeps its own.
     *
     * @param described short texts by name
     * @return a copy
     * @throws io.github.keepsake4j.message.InvalidInputException if a name or a text is null
     */
    public Append creating(Map<String, String> described) {
        return new Append(
                parent, messages, epoch, revision, expectsHead, expectedHead, view, importing, reference, described);
    }

    /**
     * Returns the messages that the view names and that this append does not contain.
     *
     * @return the ids; empty without a view
     */
    public Set<String> namedByView() {
        if (view == null) {
            return Set.of();
        }
        Set<String> names = view.names();
        messages.forEach(message -> names.remove(message.id()));
        return names;
    }

    /** Leaves out the metadata, so that the result may be logged. */
    @Override
    public String toString() {
        return "Append[parent=" + parent + ", messages=" + messages + ", epoch=" + epoch + ", revision=" + revision
                + ", expectedHead=" + (expectsHead ? expectedHead : "any") + ", reference=" + reference + "]";
    }
}

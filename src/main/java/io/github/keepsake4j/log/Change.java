package io.github.keepsake4j.log;

import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.Outcome;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A change of a memory other than an append, for {@link MessageLog#change}. A change that names a message throws {@link
 * UnknownMessageException} if the message is not in the memory. A change that names an epoch throws {@link
 * ErasedException} if the memory was erased since.
 *
 * @param <R> the type of the change's result
 */
public sealed interface Change<R> {

    /**
     * Calls the method for this kind of change.
     *
     * @param kinds a store's methods
     * @return the result
     */
    R by(Kinds kinds);

    /**
     * Returns the name of this kind of change, for metrics.
     *
     * @return a name such as {@code moveHead}
     */
    default String kind() {
        String name = getClass().getSimpleName();
        return Character.toLowerCase(name.charAt(0)) + name.substring(1);
    }

    /** Implements each kind of change for a store. The kinds are described at their records. */
    interface Kinds {

        /**
         * Does {@link MoveHead}.
         *
         * @param change the change
         * @return the previous head
         */
        String moveHead(MoveHead change);

        /**
         * Does {@link MoveBranch}.
         *
         * @param change the change
         */
        void moveBranch(MoveBranch change);

        /**
         * Does {@link SetOutcome}.
         *
         * @param change the change
         */
        void setOutcome(SetOutcome change);

        /**
         * Does {@link Describe}.
         *
         * @param change the change
         * @return the metadata after the change, or none if it keeps them
         */
        Map<String, String> describe(Describe change);

        /**
         * Does {@link PutSummary}.
         *
         * @param change the change
         */
        void putSummary(PutSummary change);
    }

    /**
     * Moves the head to another message. Returns the previous head. Nothing is deleted: the head can be moved back.
     *
     * @param messageId the new head
     * @param epoch the epoch that the caller works in, or null for the epoch in force
     */
    record MoveHead(String messageId, @Nullable Long epoch) implements Change<String> {
        @Override
        public String by(Kinds kinds) {
            return kinds.moveHead(this);
        }
    }

    /**
     * Moves a named branch to a message, without an append. The branch begins there if it does not exist yet. Does not raise
     * the revision.
     *
     * @param name the branch's name, as in {@link Append#onBranch}
     * @param messageId the branch's new newest message
     * @param epoch the epoch that the caller works in, or null for the epoch in force
     */
    record MoveBranch(String name, String messageId, @Nullable Long epoch) implements Change<Void> {

        /**
         * Checks the name.
         *
         * @throws InvalidInputException if the name breaks a rule
         */
        public MoveBranch {
            Ids.check("branch", name);
        }

        @Override
        public Void by(Kinds kinds) {
            kinds.moveBranch(this);
            return null;
        }
    }

    /**
     * Sets or removes the outcome of a message. Raises the revision. Does nothing if the message already has this
     * outcome.
     *
     * @param messageId the message
     * @param outcome how the message ended, or null to remove its outcome
     * @param epoch the epoch that the caller works in, or null for the epoch in force
     */
    record SetOutcome(String messageId, @Nullable Outcome outcome, @Nullable Long epoch) implements Change<Void> {
        @Override
        public Void by(Kinds kinds) {
            kinds.setOutcome(this);
            return null;
        }
    }

    /**
     * Changes the title and the metadata that a list of memories shows. Returns the metadata after the change, or none if it
     * keeps them.
     *
     * <p>A change that merges keeps the title and the metadata of other names. So nothing is lost if several callers
     * change different names at the same time. It writes nothing if it makes no difference. Every other change creates
     * the memory if it does not exist.
     *
     * @param title the title, without NUL and at most 1,000 characters, or null for none
     * @param metadata short texts by name; if this is null, the metadata are kept; if the change merges, a text of null removes a
     *     name
     * @param merge whether the change merges
     */
    record Describe(@Nullable String title, @Nullable Map<String, @Nullable String> metadata, boolean merge)
            implements Change<Map<String, String>> {

        /**
         * Checks and copies the components.
         *
         * @throws InvalidInputException if the title breaks a rule, or the metadata contain a null that is not allowed, or an
         * expiry that {@link MemoryInfo.Expiry} refuses
         */
        public Describe {
            if (metadata != null) {
                metadata = Collections.unmodifiableMap(new LinkedHashMap<String, @Nullable String>(metadata));
            }
            if (!merge) {
                InputRules.checkDescription(title, metadata);
            }
            if (metadata != null) {
                MemoryInfo.Expiry.of(metadata);
            }
        }

        /**
         * Replaces the title and the metadata.
         *
         * @param title the title, or null for none
         * @param metadata short texts by name
         * @return the change
         */
        public static Describe as(@Nullable String title, Map<String, String> metadata) {
            return new Describe(title, new LinkedHashMap<String, @Nullable String>(metadata), false);
        }

        /**
         * Replaces the title and keeps the metadata.
         *
         * @param title the title, or null for none
         * @return the change
         */
        public static Describe title(@Nullable String title) {
            return new Describe(title, null, false);
        }

        /**
         * Changes a part of the metadata and keeps the title.
         *
         * @param changes texts by name; null removes a name; an empty map only reads
         * @return the change
         */
        public static Describe merging(Map<String, @Nullable String> changes) {
            return new Describe(null, changes, true);
        }

        /**
         * Returns the metadata after this change.
         *
         * @param before the metadata before
         * @return short texts by name; none if the change keeps the metadata
         * @throws InvalidInputException if a name is null
         */
        public Map<String, String> after(Map<String, String> before) {
            Map<String, String> after = new LinkedHashMap<>(merge ? before : Map.of());
            if (metadata == null) {
                return after;
            }
            metadata.forEach((name, text) -> {
                if (name == null) {
                    throw new InvalidInputException("metadata", "must not have a name that is null");
                }
                if (text == null) {
                    after.remove(name);
                } else {
                    after.put(name, text);
                }
            });
            return Map.copyOf(after);
        }

        @Override
        public Map<String, String> by(Kinds kinds) {
            return kinds.describe(this);
        }

        /** Leaves out the title and the metadata, so that the result may be logged. */
        @Override
        public String toString() {
            return "Describe[merge=" + merge + "]";
        }
    }

    /**
     * Stores a summary in addition to the messages. Earlier summaries are kept. On each branch, the summary that covers
     * the most messages is in force. If several cover the same messages, the newest of them is in force.
     *
     * <p>A summary that has a version, because it is copied, is stored once: does nothing if the memory already has a
     * summary with this version or a higher one.
     *
     * @param summary the summary, which names the last message that it covers
     * @param epoch the epoch in which the summarized messages were read
     */
    record PutSummary(Summary summary, long epoch) implements Change<Void> {

        /** Checks the components. */
        public PutSummary {
            Objects.requireNonNull(summary, "summary");
        }

        @Override
        public Void by(Kinds kinds) {
            kinds.putSummary(this);
            return null;
        }
    }
}

package io.github.keepsake4j.backend;

import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Outcome;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A part of a change of a memory that is decided and not made yet. {@link MemoryTree#apply} makes it. So a store can
 * write a change before the tree in its heap has it, and can build a tree from the changes that it wrote. Messages are
 * named by sequences; ids are added so that a reader can compare both.
 */
public sealed interface TreeStep {

    /**
     * Messages are appended, a view is set, or both.
     *
     * @param messages the messages, oldest first; may be empty
     * @param reference the named branch that moves to the last message instead of the head, or null
     * @param view the view that is set, with its anchor, or null
     */
    record Appended(List<Added> messages, @Nullable String reference, @Nullable View view) implements TreeStep {}

    /**
     * The head is moved.
     *
     * @param id the new head's id, or null if that is not known or there is none
     * @param sequence the new head's sequence, or 0 for none
     */
    record HeadMoved(@Nullable String id, long sequence) implements TreeStep {}

    /**
     * A named branch is moved, or begins.
     *
     * @param name the branch's name
     * @param id the id of its newest message
     * @param sequence that message's sequence
     */
    record BranchMoved(String name, @Nullable String id, long sequence) implements TreeStep {}

    /**
     * The outcome of a message is set or removed.
     *
     * @param id the message's id
     * @param sequence the message's sequence
     * @param outcome the outcome, or null for none
     */
    record Ended(@Nullable String id, long sequence, @Nullable Outcome outcome) implements TreeStep {}

    /**
     * Title and metadata are replaced.
     *
     * @param title the title, or null
     * @param metadata short texts by name
     */
    record Described(@Nullable String title, Map<String, String> metadata) implements TreeStep {

        /** Leaves out the texts, so that the result may be logged. */
        @Override
        public String toString() {
            return "Described[metadata=" + metadata.size() + "]";
        }
    }

    /**
     * A summary is stored.
     *
     * @param summary the summary with its version
     * @param sequence the sequence of the last message that it covers
     */
    record Summarized(Summary summary, long sequence) implements TreeStep {}

    /**
     * A repair skips unreadable parts.
     *
     * @param views the anchors' sequences of the views that are dropped
     * @param references the names of the branches that are dropped
     * @param summaries the versions of the summaries that are dropped
     * @param unreadable the sequences of the messages that are marked as unreadable
     */
    record Repaired(List<Long> views, List<String> references, List<Long> summaries, List<Long> unreadable)
            implements TreeStep {}

    /**
     * A message that is appended.
     *
     * @param entry the message
     * @param inherited the values that it inherits from its parent
     * @param usage the tokens that were used for it, or null
     */
    record Added(Entry entry, Inherited inherited, @Nullable Usage usage) {}

    /**
     * The values that a message inherits from its parent, so that reads need not walk to the root. Sequences are 0 if
     * there is no such message.
     *
     * @param parent the parent's sequence
     * @param run the sequence of the first of the messages without gaps on its branch that it belongs to
     * @param depth its place on its branch, from 1
     * @param path the tokens of its branch up to it
     * @param system the sequence of the newest system message up to it
     * @param user the sequence of the newest user message up to it
     */
    record Inherited(long parent, long run, long depth, long path, long system, long user) {}
}

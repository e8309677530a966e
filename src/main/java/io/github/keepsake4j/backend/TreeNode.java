package io.github.keepsake4j.backend;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.backend.Entry.Text;
import io.github.keepsake4j.backend.TreeStep.Inherited;
import io.github.keepsake4j.log.Made;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** A stored message with the values that it inherits from its parent, so that reads need not walk to the root. */
final class TreeNode {

    private static final Text LOST = new Text("", Made.NOTHING);

    /** Replaced if only the outcome differs. */
    Entry entry;

    final @Nullable TreeNode parent;
    final TreeNode runStart;
    final int depth;
    final long path;
    final @Nullable TreeNode system;
    final @Nullable TreeNode user;

    /** Whether no message of its branch up to it is lost. */
    final boolean isSound;

    TreeNode(Entry entry, @Nullable TreeNode parent) {
        this.entry = entry;
        this.parent = parent;
        this.runStart = parent != null && parent.sequence() == entry.sequence() - 1 ? parent.runStart : this;
        this.depth = parent == null ? 1 : parent.depth + 1;
        this.path = entry.tokens() + (parent == null ? 0 : parent.path);
        this.system = entry.type() == ChatMessageType.SYSTEM ? this : parent == null ? null : parent.system;
        this.user = entry.type() == ChatMessageType.USER ? this : parent == null ? null : parent.user;
        this.isSound = !isLost() && (parent == null || parent.isSound);
    }

    /** Returns the place of a message of which only the sequence is known. */
    static TreeNode lost(long sequence) {
        String id = "unreadable-" + sequence;
        return new TreeNode(
                new Entry(id, null, sequence, LOST, ChatMessageType.CUSTOM, 0, "unknown", Instant.EPOCH, null, null),
                null);
    }

    boolean isLost() {
        return entry.body() == LOST;
    }

    long sequence() {
        return entry.sequence();
    }

    Inherited inherited() {
        return new Inherited(sequence(parent), runStart.sequence(), depth, path, sequence(system), sequence(user));
    }

    private static long sequence(@Nullable TreeNode node) {
        return node == null ? 0 : node.sequence();
    }
}

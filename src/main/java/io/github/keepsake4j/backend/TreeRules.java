package io.github.keepsake4j.backend;

import io.github.keepsake4j.log.View;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Compares a written change with the memory to which it is to be applied. */
final class TreeRules {

    /**
     * The largest number of messages that may be lost between two changes. A larger gap means a wrong number rather
     * than a lost change.
     */
    private static final int LARGEST_GAP = 100_000;

    private final MemoryTree tree;

    /** The messages of the same change. */
    private final List<TreeNode> added = new ArrayList<>();

    TreeRules(MemoryTree tree) {
        this.tree = tree;
    }

    @Nullable
    String problem(List<TreeStep> steps) {
        return steps.stream()
                .map(this::problem)
                .filter(problem -> problem != null)
                .findFirst()
                .orElse(null);
    }

    private @Nullable String problem(TreeStep step) {
        if (step instanceof TreeStep.Appended appended) {
            for (TreeStep.Added message : appended.messages()) {
                String problem = problem(message);
                if (problem != null) {
                    return problem;
                }
            }
            View view = appended.view();
            return view == null ? null : missing(view.anchorSequence(), view.anchor());
        }
        if (step instanceof TreeStep.HeadMoved moved) {
            return moved.sequence() == 0 && moved.id() == null ? null : missing(moved.sequence(), moved.id());
        }
        if (step instanceof TreeStep.BranchMoved moved) {
            return missing(moved.sequence(), moved.id());
        }
        if (step instanceof TreeStep.Ended ended) {
            return missing(ended.sequence(), ended.id());
        }
        if (step instanceof TreeStep.Summarized put) {
            return missing(put.sequence(), put.summary().coversUpTo());
        }
        if (step instanceof TreeStep.Repaired repaired) {
            return repaired.unreadable().stream().anyMatch(sequence -> find(sequence) == null)
                    ? "it marks a missing message"
                    : null;
        }
        return null;
    }

    private @Nullable String missing(long sequence, @Nullable String id) {
        TreeNode node = find(sequence);
        boolean isOther = node != null && id != null && !node.isLost() && !id.equals(node.entry.id());
        return node == null || isOther ? "it names a missing message" : null;
    }

    private @Nullable String problem(TreeStep.Added message) {
        Entry entry = message.entry();
        long sequence = entry.sequence();
        long last = last();
        long largest = last + 1 + (added.isEmpty() ? LARGEST_GAP : 0);
        if (sequence <= last || sequence > largest) {
            return "message " + sequence + " cannot follow message " + last;
        }
        if (tree.find(entry.id()) != null) {
            return "the id of message " + sequence + " is used already";
        }
        long parent = message.inherited().parent();
        if (parent < 0 || parent >= sequence) {
            return "the parent of message " + sequence + " does not come before it";
        }
        // The messages between the known ones and this change are lost.
        TreeNode above = parent == 0 ? null : find(parent) == null ? TreeNode.lost(parent) : find(parent);
        if (above != null && !above.isLost() && !above.entry.id().equals(entry.parentId())) {
            return "the parent of message " + sequence + " has another id";
        }
        TreeNode node = new TreeNode(entry, above);
        added.add(node);
        return node.isSound && !node.inherited().equals(message.inherited())
                ? "message " + sequence + " does not continue its parent"
                : null;
    }

    private long last() {
        return added.isEmpty() ? tree.nodes.size() : added.get(added.size() - 1).sequence();
    }

    private @Nullable TreeNode find(long sequence) {
        if (sequence >= 1 && sequence <= tree.nodes.size()) {
            return tree.at(sequence);
        }
        long first = added.isEmpty() ? Long.MAX_VALUE : added.get(0).sequence();
        return sequence < first || sequence > last() ? null : added.get((int) (sequence - first));
    }
}

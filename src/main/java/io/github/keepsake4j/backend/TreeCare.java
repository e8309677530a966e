package io.github.keepsake4j.backend;

import io.github.keepsake4j.backend.MemoryTree.Plan;
import io.github.keepsake4j.codec.MessageCodec.Row;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds the damage of a memory, and plans its repair. */
record TreeCare(MemoryTree tree) {

    /** Returns the views and summaries of missing messages. */
    static List<Damage> contradictions(MemoryTree tree) {
        TreeCare care = new TreeCare(tree);
        return Stream.concat(
                        tree.views.values().stream()
                                .filter(view -> !care.isAnchored(view))
                                .map(TreeCare::damaged),
                        tree.summaries.stream()
                                .filter(summary -> !care.isCovering(summary))
                                .map(TreeCare::damaged))
                .toList();
    }

    /** Returns whether damage remains after a repair. A loss remains; a wrong value is corrected. */
    static boolean isKept(Damage damage) {
        return damage.kind() == Damage.Kind.MESSAGE || isGap(damage);
    }

    private static boolean isGap(Damage damage) {
        return damage.kind() == Damage.Kind.SEQUENCE && damage.messageId() == null;
    }

    List<Damage> check() {
        return damage(unreadable());
    }

    Plan<Repair> repair() {
        Map<TreeNode, Damage> unreadable = unreadable();
        List<Damage> damage = damage(unreadable);
        if (tree.broken.stream().anyMatch(each -> each.kind() == Damage.Kind.SEQUENCE && !isGap(each))) {
            tree.requireSound();
        }
        TreeNode head = tree.head;
        boolean movesHead = tree.lostHead != null || (head != null && !head.isSound);
        TreeNode end = movesHead ? newestSound() : head;
        String before = tree.lostHead != null || head == null || head.isLost() ? tree.lostHead : head.entry.id();
        List<Long> views = tree.views.values().stream()
                .filter(view -> !isAnchored(view) || !isSound(view))
                .map(View::anchorSequence)
                .toList();
        List<String> references = tree.references.entrySet().stream()
                .filter(reference -> !reference.getValue().isSound)
                .map(Map.Entry::getKey)
                .toList();
        List<Long> summaries = tree.summaries.stream()
                .filter(summary -> !isCovering(summary))
                .map(Summary::version)
                .toList();
        List<Long> marked = tree.nodes.stream()
                .filter(node -> node.isLost() || unreadable.containsKey(node))
                .filter(node -> !Outcome.UNREADABLE.equals(node.entry.outcome()))
                .map(TreeNode::sequence)
                .toList();
        Repair repair = new Repair(
                damage,
                before,
                MemoryTree.id(end),
                views.size(),
                summaries.size(),
                references.size() + tree.lostReferences);
        boolean changes = !tree.broken.isEmpty()
                || !marked.isEmpty()
                || repair.droppedViews() + repair.droppedSummaries() + repair.droppedReferences() > 0
                || !Objects.equals(before, repair.head());
        return new Plan<>(
                repair,
                null,
                changes ? tree.revision + 1 : tree.revision,
                changes
                        ? steps(movesHead, end, new TreeStep.Repaired(views, references, summaries, marked))
                        : List.of());
    }

    private static List<TreeStep> steps(boolean movesHead, @Nullable TreeNode end, TreeStep.Repaired repaired) {
        return movesHead
                ? List.of(new TreeStep.HeadMoved(MemoryTree.id(end), end == null ? 0 : end.sequence()), repaired)
                : List.of(repaired);
    }

    private @Nullable TreeNode newestSound() {
        for (int i = tree.nodes.size() - 1; i >= 0; i--) {
            if (tree.nodes.get(i).isSound) {
                return tree.nodes.get(i);
            }
        }
        return null;
    }

    private List<Damage> damage(Map<TreeNode, Damage> unreadable) {
        // A message of which only the place could be read comes a second time.
        Set<Damage> damage = new LinkedHashSet<>(tree.passedOver);
        damage.addAll(tree.broken);
        damage.addAll(unreadable.values());
        if (tree.bodies.reportsMissingParents()) {
            tree.nodes.stream().filter(this::lacksParent).forEach(node -> damage.add(orphaned(node)));
        }
        tree.views.values().stream()
                .filter(view -> isAnchored(view) && !names(view))
                .forEach(view -> damage.add(damaged(view)));
        return damage.stream().limit(Damage.MAX_REPORTED).toList();
    }

    private Map<TreeNode, Damage> unreadable() {
        Map<TreeNode, Damage> unreadable = new LinkedHashMap<>();
        for (TreeNode node : tree.nodes) {
            if (!node.isLost() && !isReadable(node)) {
                String problem = "the message cannot be read";
                unreadable.put(node, new Damage(Damage.Kind.MESSAGE, node.sequence(), node.entry.id(), problem));
            }
        }
        return unreadable;
    }

    private boolean isReadable(TreeNode node) {
        try {
            Row unused = tree.bodies.row(node.entry);
            return true;
        } catch (UnreadableDataException e) {
            return false;
        }
    }

    private boolean lacksParent(TreeNode node) {
        String parent = node.entry.parentId();
        return parent != null && tree.find(parent) == null;
    }

    private boolean isAnchored(View view) {
        TreeNode anchor = view.anchor() == null ? null : tree.find(view.anchor());
        return anchor != null && anchor.sequence() == view.anchorSequence();
    }

    /** Returns whether all messages that a view names exist. */
    private boolean names(View view) {
        return view.names().stream().allMatch(id -> tree.find(id) != null);
    }

    private boolean isSound(View view) {
        return Stream.concat(Stream.ofNullable(view.anchor()), view.names().stream())
                .map(tree::find)
                .allMatch(node -> node != null && node.isSound);
    }

    private boolean isCovering(Summary summary) {
        return tree.find(summary.coversUpTo()) != null;
    }

    private static Damage orphaned(TreeNode node) {
        return new Damage(Damage.Kind.TREE, node.sequence(), node.entry.id(), "the message's parent is missing");
    }

    private static Damage damaged(View view) {
        return new Damage(Damage.Kind.VIEW, view.anchorSequence(), view.anchor(), "the view names a missing message");
    }

    private static Damage damaged(Summary summary) {
        return new Damage(
                Damage.Kind.SUMMARY, null, summary.coversUpTo(), "the summary covers up to a missing message");
    }
}

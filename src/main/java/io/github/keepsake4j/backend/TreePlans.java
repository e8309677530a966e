package io.github.keepsake4j.backend;

import io.github.keepsake4j.backend.MemoryTree.Plan;
import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.codec.MessageCodec.Row;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.UnknownParentException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Plans changes by the rules of every store, without making them. Each method plans the method of
 * {@link io.github.keepsake4j.log.MessageLog} of its name.
 */
record TreePlans(MemoryTree tree) {

    TreePlans {
        tree.requireSound();
    }

    Plan<AppendResult> append(Append append, Instant now) {
        Instant time = InputRules.time("clock", now);
        AppendRules.checkEpoch(tree.key, append.epoch(), tree.epoch);
        TreeNode before = tree.end(append.reference());
        if (AppendRules.isReplay(tree.key, append, stored(append))) {
            return unchanged(new AppendResult(MemoryTree.id(before), tree.position(before), 0, true));
        }
        AppendRules.checkPosition(tree.key, append, tree.position(before));
        String parentId = parentId(append, before);
        AppendRules.checkView(tree.key, append, id -> tree.find(id) != null);
        // Encoding can refuse a message, so everything is encoded before anything else is done.
        List<String> texts = append.messages().stream()
                .map(message -> tree.bodies.encode(new Row(message.message(), null, message.asked())))
                .toList();
        View view = append.view();
        if (view != null && before == null && texts.isEmpty()) {
            throw AppendRules.noMessages(tree.key);
        }

        long raised =
                AppendRules.raisesRevision(append, parentId, MemoryTree.id(before)) ? tree.revision + 1 : tree.revision;
        List<TreeStep.Added> added = new ArrayList<>();
        TreeNode end = texts.isEmpty() ? before : null;
        for (int i = 0; i < texts.size(); i++) {
            NewMessage message = append.messages().get(i);
            TreeNode parent = i > 0 ? end : parentId == null ? null : tree.find(parentId);
            String above = i > 0 ? MemoryTree.id(end) : parentId;
            end = new TreeNode(entry(message, above, tree.nodes.size() + i + 1L, texts.get(i), time), parent);
            added.add(new TreeStep.Added(
                    end.entry, end.inherited(), message.made().usage()));
        }
        View set = view == null ? null : anchored(view, before, Objects.requireNonNull(end));
        long last = texts.isEmpty() ? 0 : tree.nodes.size() + texts.size();
        return new Plan<>(
                new AppendResult(
                        MemoryTree.id(before), new Position(tree.epoch, raised, MemoryTree.id(end)), last, false),
                time,
                raised,
                tree.isThere() || append.metadata().isEmpty()
                        ? List.of(new TreeStep.Appended(added, append.reference(), set))
                        : List.of(
                                new TreeStep.Appended(added, append.reference(), set),
                                new TreeStep.Described(null, append.metadata())));
    }

    private Map<String, LoggedMessage> stored(Append append) {
        List<String> ids = append.messages().stream().map(NewMessage::id).toList();
        return tree.find(ids, false).stream()
                .map(Found::message)
                .collect(Collectors.toMap(LoggedMessage::id, Function.identity()));
    }

    private static Entry entry(
            NewMessage message, @Nullable String parentId, long sequence, String text, Instant time) {
        Instant made = message.createdAt();
        return new Entry(
                message.id(),
                parentId,
                sequence,
                new Entry.Text(text, message.made()),
                message.message().type(),
                message.tokens(),
                message.tokenCounter(),
                made == null ? time : made,
                message.outcome(),
                message.question());
    }

    private @Nullable String parentId(Append append, @Nullable TreeNode end) {
        Parent parent = append.parent();
        if (parent instanceof Parent.Head) {
            return MemoryTree.id(end);
        }
        if (parent instanceof Parent.Root) {
            return null;
        }
        String named = ((Parent.Of) parent).id();
        if (named.equals(Ids.BEFORE_IN_TIME)) {
            return MemoryTree.id(tree.at(tree.nodes.size()));
        }
        if (tree.find(named) == null && !append.importing()) {
            throw new UnknownParentException(tree.key, named);
        }
        return named;
    }

    private View anchored(View view, @Nullable TreeNode before, TreeNode end) {
        TreeNode anchor = view.anchor() == null ? end : tree.existing("view anchor", view.anchor());
        View resolved = view.resolved(MemoryTree.id(before));
        return new View(anchor.entry.id(), anchor.sequence(), resolved.runs(), resolved.summary());
    }

    Plan<String> moveHead(Change.MoveHead change) {
        TreeNode target = existing(change.messageId(), change.epoch());
        String before = MemoryTree.id(tree.head);
        return new Plan<>(
                before == null ? change.messageId() : before,
                null,
                tree.revision + 1,
                List.of(new TreeStep.HeadMoved(change.messageId(), target.sequence())));
    }

    Plan<Boolean> moveBranch(Change.MoveBranch change) {
        TreeNode target = existing(change.messageId(), change.epoch());
        return plan(new TreeStep.BranchMoved(change.name(), change.messageId(), target.sequence()), tree.revision);
    }

    Plan<Boolean> setOutcome(Change.SetOutcome change) {
        TreeNode node = existing(change.messageId(), change.epoch());
        return Objects.equals(node.entry.outcome(), change.outcome())
                ? unchanged(false)
                : plan(new TreeStep.Ended(change.messageId(), node.sequence(), change.outcome()), tree.revision + 1);
    }

    private TreeNode existing(String messageId, @Nullable Long expectedEpoch) {
        AppendRules.checkEpoch(tree.key, expectedEpoch, tree.epoch);
        return tree.existing("messageId", messageId);
    }

    Plan<Map<String, String>> describe(Change.Describe change, Instant now) {
        Map<String, String> before = tree.metadata();
        Map<String, String> after = change.after(before);
        if (change.merge() && after.equals(before)) {
            return unchanged(after);
        }
        TreeStep described = new TreeStep.Described(
                change.merge() ? tree.title : change.title(), change.metadata() == null ? before : after);
        return new Plan<>(after, InputRules.time("clock", now), tree.revision, List.of(described));
    }

    Plan<Boolean> putSummary(Change.PutSummary change) {
        AppendRules.checkEpoch(tree.key, change.epoch(), tree.epoch);
        Summary summary = change.summary();
        TreeNode covered = tree.existing("coversUpTo", summary.coversUpTo());
        long next = tree.nextVersion();
        return summary.version() > 0 && summary.version() < next
                ? unchanged(true)
                : plan(new TreeStep.Summarized(summary.withVersion(next), covered.sequence()), tree.revision);
    }

    private <T> Plan<T> unchanged(T result) {
        return new Plan<>(result, null, tree.revision, List.of());
    }

    private static Plan<Boolean> plan(TreeStep step, long revision) {
        return new Plan<>(true, null, revision, List.of(step));
    }
}

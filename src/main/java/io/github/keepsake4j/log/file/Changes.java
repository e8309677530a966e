package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.AppendRules;
import io.github.keepsake4j.log.InputRules;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.UnknownParentException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Turns a change into the line that makes it, by the rules of every backend. Nothing is written here. To be used with the
 * memory's lock.
 */
final class Changes {

    private static final Part NOWHERE = new Part(0, 0);

    /** What a change comes to. A line of null changes nothing. */
    record Change<T>(T result, @Nullable String line) {}

    private final MemoryKey key;

    /** The memory, or null if it has no file. */
    private final @Nullable Tree tree;

    private final long epoch;
    private final long revision;

    Changes(MemoryKey key, @Nullable Tree tree, Tombstone absent) {
        this.key = key;
        this.tree = tree;
        this.epoch = tree == null ? absent.epoch() : tree.state().epoch;
        this.revision = tree == null ? absent.revision() : tree.state().revision;
    }

    Change<AppendResult> append(Append append, Instant now) throws IOException {
        Instant time = InputRules.time("clock", now);
        AppendRules.checkEpoch(key, append.epoch(), epoch);
        Node before = end(append.reference());
        String beforeId = id(before);
        if (AppendRules.isReplay(key, append, stored(append))) {
            return new Change<>(new AppendResult(beforeId, new Position(epoch, revision, beforeId), 0, true), null);
        }
        AppendRules.checkPosition(key, append, new Position(epoch, revision, beforeId));
        Node parent = parent(append, before);
        String parentId = parentId(append, parent, beforeId);
        checkView(append);
        List<String> texts = append.messages().stream()
                .map(NewMessage::message)
                .map(Contents.CODEC::encode)
                .toList();
        if (append.view() != null && before == null && texts.isEmpty()) {
            throw new InvalidInputException("view", "cannot be set on memory " + key + ", which has no messages");
        }

        long raised = AppendRules.raisesRevision(append, parentId, beforeId) ? revision + 1 : revision;
        Map<String, Long> added = new HashMap<>();
        List<String> messages = new ArrayList<>();
        Node end = before;
        String endId = beforeId;
        for (int i = 0; i < texts.size(); i++) {
            NewMessage message = append.messages().get(i);
            Node node = Node.child(
                    i == 0 ? parent : end,
                    count() + i + 1,
                    NOWHERE,
                    0,
                    message.tokens(),
                    message.message().type());
            messages.add(Contents.message(message, node, i == 0 ? parentId : endId, texts.get(i), time));
            added.put(message.id(), node.seq());
            end = node;
            endId = message.id();
        }
        JsonText line = new JsonText().number("revision", raised);
        if (!messages.isEmpty()) {
            line.objects("messages", messages).text("reference", append.reference());
        }
        if (append.view() != null) {
            line.raw("view", view(append.view().resolved(beforeId), added, Objects.requireNonNull(endId), end));
        }
        long last = texts.isEmpty() ? 0 : count() + texts.size();
        return new Change<>(new AppendResult(beforeId, new Position(epoch, raised, endId), last, false), line.end());
    }

    private Map<String, LoggedMessage> stored(Append append) throws IOException {
        Map<String, LoggedMessage> stored = new HashMap<>();
        for (NewMessage message : append.messages()) {
            Node there = find(message.id());
            if (there != null) {
                stored.put(message.id(), Objects.requireNonNull(tree).logged(there));
            }
        }
        return stored;
    }

    private @Nullable Node parent(Append append, @Nullable Node before) throws IOException {
        if (append.parent() instanceof Parent.Head) {
            return before;
        }
        if (append.parent() instanceof Parent.Root) {
            return null;
        }
        String named = ((Parent.Of) append.parent()).id();
        if (named.equals(Ids.BEFORE_IN_TIME)) {
            return node(count());
        }
        Node parent = find(named);
        if (parent == null && !append.importing()) {
            throw new UnknownParentException(key, named);
        }
        return parent;
    }

    /** Only an import has a named parent that is not there: its name is kept for reads to report. */
    private @Nullable String parentId(Append append, @Nullable Node parent, @Nullable String beforeId)
            throws IOException {
        if (append.parent() instanceof Parent.Head) {
            return beforeId;
        }
        return append.parent() instanceof Parent.Of of && !of.id().equals(Ids.BEFORE_IN_TIME) ? of.id() : id(parent);
    }

    private void checkView(Append append) throws IOException {
        if (append.view() == null) {
            return;
        }
        Map<String, Boolean> there = new HashMap<>();
        for (String id : append.namedByView()) {
            there.put(id, find(id) != null);
        }
        String anchor = append.view().anchor();
        if (anchor != null) {
            there.put(anchor, find(anchor) != null);
        }
        AppendRules.checkView(key, append, id -> there.getOrDefault(id, false));
    }

    private String view(View view, Map<String, Long> added, String endId, @Nullable Node end) throws IOException {
        String anchor = view.anchor() == null ? endId : view.anchor();
        Long seq = added.get(anchor);
        if (seq == null) {
            Node there = anchor.equals(endId) ? end : find(anchor);
            seq = Objects.requireNonNull(there).seq();
        }
        return Contents.view(view, anchor, seq);
    }

    Change<String> moveHead(String messageId, @Nullable Long expectedEpoch) throws IOException {
        AppendRules.checkEpoch(key, expectedEpoch, epoch);
        Node target = existing("messageId", messageId);
        String before = id(end(null));
        String line = new JsonText()
                .number("revision", revision + 1)
                .raw("head", head(target.seq(), messageId))
                .end();
        return new Change<>(before == null ? messageId : before, line);
    }

    Change<Boolean> moveBranch(String name, String messageId, @Nullable Long expectedEpoch) throws IOException {
        AppendRules.checkEpoch(key, expectedEpoch, epoch);
        Node target = existing("messageId", messageId);
        String line = new JsonText()
                .number("revision", revision)
                .raw("branch", head(target.seq(), messageId))
                .text("reference", name)
                .end();
        return new Change<>(true, line);
    }

    private static String head(long seq, @Nullable String id) {
        return new JsonText().text("id", id).numberIfAny("seq", seq).end();
    }

    Change<Boolean> setOutcome(String messageId, @Nullable Outcome outcome, @Nullable Long expectedEpoch)
            throws IOException {
        AppendRules.checkEpoch(key, expectedEpoch, epoch);
        Node node = existing("messageId", messageId);
        if (Objects.equals(Objects.requireNonNull(tree).logged(node).outcome(), outcome)) {
            return new Change<>(false, null);
        }
        JsonText set = new JsonText().text("id", messageId).number("seq", node.seq());
        String line = new JsonText()
                .number("revision", revision + 1)
                .raw("outcome", Contents.outcome(set, outcome))
                .end();
        return new Change<>(true, line);
    }

    Change<Map<String, String>> describe(io.github.keepsake4j.log.Change.Describe change, Instant now)
            throws IOException {
        Contents.Description before = description();
        Map<String, String> after = change.after(before.metadata());
        if (change.merge() && after.equals(before.metadata())) {
            return new Change<>(after, null);
        }
        InputRules.time("clock", now);
        String line = new JsonText()
                .number("revision", revision)
                .raw(
                        "description",
                        Contents.description(
                                change.merge() ? before.title() : change.title(),
                                change.metadata() == null ? before.metadata() : after))
                .end();
        return new Change<>(after, line);
    }

    private Contents.Description description() throws IOException {
        return tree == null ? Contents.Description.NONE : tree.description();
    }

    Change<Boolean> putSummary(Summary summary, long expectedEpoch) throws IOException {
        AppendRules.checkEpoch(key, expectedEpoch, epoch);
        Node covered = existing("coversUpTo", summary.coversUpTo());
        long version = Objects.requireNonNull(tree).state().versions + 1;
        String line = new JsonText()
                .number("revision", revision)
                .raw("summary", Contents.summary(summary, covered.seq(), version))
                .end();
        return new Change<>(true, line);
    }

    /** Moves the head, if it is to be moved, drops views and named branches, and marks what cannot be read. */
    static String repair(
            long raised,
            boolean movesHead,
            long head,
            @Nullable String headId,
            List<Long> views,
            List<String> names,
            List<Long> unreadable) {
        JsonText line = new JsonText().number("revision", raised);
        if (movesHead) {
            line.raw("head", head(head, headId));
        }
        return line.raw(
                        "repair",
                        new JsonText()
                                .numbers("views", views)
                                .texts("references", names)
                                .objects(
                                        "unreadable",
                                        unreadable.stream()
                                                .map(seq -> Contents.outcome(
                                                        new JsonText().number("seq", seq), Outcome.UNREADABLE))
                                                .toList())
                                .end())
                .end();
    }

    private long count() {
        return tree == null ? 0 : tree.state().count;
    }

    private @Nullable Node end(@Nullable String reference) throws IOException {
        return tree == null ? null : node(tree.end(reference));
    }

    private @Nullable Node node(long seq) throws IOException {
        return tree == null || seq == 0 ? null : tree.node(seq);
    }

    private @Nullable Node find(String id) throws IOException {
        return tree == null ? null : tree.find(id);
    }

    private Node existing(String field, String id) throws IOException {
        if (tree == null) {
            throw UnknownMessageException.notThere(key, field, id);
        }
        return tree.existing(field, id);
    }

    private @Nullable String id(@Nullable Node node) throws IOException {
        return node == null ? null : Objects.requireNonNull(tree).id(node);
    }
}

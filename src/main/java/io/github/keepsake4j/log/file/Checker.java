package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks and repairs one memory. Goes through all lines. Keeps the damage, and one bit for each message. */
final class Checker {

    private static final Logger LOG = LoggerFactory.getLogger(Checker.class);

    private final Memory memory;
    private final State state;
    private final Tree tree;
    private final List<Damage> damage = new ArrayList<>();

    /** The messages whose path to the root is not sound, or that cannot be read. */
    private final BitSet unsound = new BitSet();

    private final List<Long> unreadable = new ArrayList<>();
    private final List<Long> badViews = new ArrayList<>();
    private final List<String> badReferences = new ArrayList<>();
    private long next = 1;
    private long newestSound;

    Checker(Tree tree) {
        this.tree = tree;
        this.memory = tree.memory();
        this.state = tree.state();
    }

    List<Damage> check() throws IOException {
        Linker.lines(memory.data(), memory.header().end(), state.covered, this::line);
        missing(state.count + 1);
        checkViews();
        for (Map.Entry<String, Long> reference : tree.references().entrySet()) {
            if (isUnsound(reference.getValue())) {
                badReferences.add(reference.getKey());
            }
        }
        return List.copyOf(damage);
    }

    private void line(byte[] bytes, int start, int end, long offset) throws IOException {
        List<Line.Entry> messages;
        try {
            messages = Line.read(state.fileId, bytes, start, end, offset).messages();
        } catch (BadLineException e) {
            messages = Line.salvaged(state.fileId, bytes, start, end, offset);
            if (messages.isEmpty()) {
                add(Damage.Kind.MESSAGE, null, null, "the line at byte " + offset + " cannot be read: " + e.problem());
            }
        }
        for (Line.Entry entry : messages) {
            long seq = entry.node().seq();
            if (seq < next
                    || seq > state.count
                    || tree.node(seq).part().offset() != entry.node().part().offset()) {
                add(
                        Damage.Kind.TREE,
                        seq,
                        entry.id(),
                        "message " + seq + " at byte " + offset + " does not follow the lines before it");
                continue;
            }
            missing(seq);
            next = seq + 1;
            message(entry, bytes, start, offset);
        }
    }

    private void message(Line.Entry entry, byte[] bytes, int start, long offset) throws IOException {
        long seq = entry.node().seq();
        boolean sound = !isUnsound(entry.node().parent());
        Part part = entry.node().part();
        int from = start + (int) (part.offset() - offset);
        try {
            Contents.message(tree.key(), entry.node(), Fields.of(bytes, from, from + part.length()), null);
        } catch (BadLineException | UnreadableDataException e) {
            add(Damage.Kind.MESSAGE, seq, entry.id(), "the message cannot be read");
            mark(seq);
        }
        Node found = tree.find(entry.id());
        if (found == null || found.seq() != seq) {
            add(Damage.Kind.SEQUENCE, seq, entry.id(), "the id of message " + seq + " is used again");
        }
        if (sound) {
            newestSound = seq;
        } else {
            unsound.set((int) seq);
        }
    }

    private void mark(long seq) throws IOException {
        if (!tree.isMarked(tree.node(seq))) {
            unreadable.add(seq);
        }
    }

    /** Notes that messages before a number are not there. */
    private void missing(long before) throws IOException {
        if (next < before) {
            String which = before == next + 1
                    ? "message " + next + " is"
                    : "messages " + next + " to " + (before - 1) + " are";
            add(Damage.Kind.SEQUENCE, next, null, which + " missing");
            unsound.set((int) next, (int) before);
            for (; next < before; next++) {
                mark(next);
            }
        }
    }

    private boolean isUnsound(long seq) {
        return seq != 0 && unsound.get((int) seq);
    }

    private void checkViews() throws IOException {
        if (state.views == 0 || state.count == 0) {
            return;
        }
        for (long seq = memory.index().newest(Index.Mark.VIEW, state.count);
                seq != 0;
                seq = seq == 1 ? 0 : memory.index().newest(Index.Mark.VIEW, seq - 1)) {
            View view = tree.view(seq);
            boolean isGone = false;
            boolean isUnsound = isUnsound(seq);
            for (String name : view.names()) {
                Node node = tree.find(name);
                isGone |= node == null;
                isUnsound |= node != null && isUnsound(node.seq());
            }
            if (isGone) {
                add(Damage.Kind.VIEW, seq, view.anchor(), "the view names a message that is not there");
            }
            if (isGone || isUnsound) {
                badViews.add(seq);
            }
        }
    }

    private void add(Damage.Kind kind, @Nullable Long seq, @Nullable String id, String problem) {
        if (damage.size() < Damage.MAX_REPORTED) {
            damage.add(new Damage(kind, seq, id, problem));
        }
    }

    /** Appends a line that mends what was found, after it was told. To be called with the memory's lock. */
    Repair repair() throws IOException {
        check();
        boolean movesHead = isUnsound(state.head);
        long head = movesHead ? newestSound : state.head;
        String headId = head == 0 ? null : tree.id(tree.node(head));
        String previous = state.head == 0 || !tree.node(state.head).hasPlace() ? null : tree.id(tree.node(state.head));
        Repair repair = new Repair(List.copyOf(damage), previous, headId, badViews.size(), 0, badReferences.size());
        if (state.badLines > 0
                || movesHead
                || !unreadable.isEmpty()
                || !badViews.isEmpty()
                || !badReferences.isEmpty()) {
            LOG.info(
                    "Memory {} is going to be repaired: the head is moved from {} to {}, {} views and {} named branches"
                            + " are dropped, {} messages are marked as unreadable, {} unreadable lines are passed over and kept",
                    tree.key(),
                    previous,
                    headId,
                    badViews.size(),
                    badReferences.size(),
                    unreadable.size(),
                    state.badLines);
            memory.append(
                    state,
                    Changes.repair(state.revision + 1, movesHead, head, headId, badViews, badReferences, unreadable));
        }
        return repair;
    }
}

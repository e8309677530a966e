package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.AppendRules;
import io.github.keepsake4j.log.Usage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Adds lines of a memory's file to its index. A line is checked against the lines before it first. */
final class Linker {

    private static final int CHUNK = 1 << 16;

    /** More messages are not taken to be lost between two lines: a number is then wrong rather than a line gone. */
    private static final int LARGEST_GAP = 100_000;

    private final Memory memory;
    private final Index index;
    private final State state;

    /** Whether the index is made anew, so that ids are linked in the end. */
    private final boolean anew;

    private Part lastBad = new Part(0, 0);

    Linker(Memory memory, State state, boolean anew) {
        this.memory = memory;
        this.index = memory.index();
        this.state = state;
        this.anew = anew;
    }

    /** What is done with each line of a file. */
    interface Visitor {
        void line(byte[] bytes, int start, int end, long offset) throws IOException;
    }

    /**
     * Goes through the whole lines of a file.
     *
     * @param from where a line begins
     * @param to where to stop
     * @return where the last line ends; less than {@code to} if something without a line's end follows
     */
    static long lines(Disk data, long from, long to, Visitor visitor) throws IOException {
        byte[] buffer = new byte[CHUNK];
        int filled = 0;
        long offset = from;
        while (offset + filled < to) {
            if (filled == buffer.length) {
                buffer = Arrays.copyOf(buffer, Math.multiplyExact(buffer.length, 2));
            }
            byte[] more = new byte[(int) Math.min(buffer.length - filled, to - offset - filled)];
            int got = data.read(offset + filled, more);
            if (got == 0) {
                break;
            }
            System.arraycopy(more, 0, buffer, filled, got);
            int start = 0;
            for (int i = filled; i < filled + got; i++) {
                if (buffer[i] == '\n') {
                    visitor.line(buffer, start, i, offset + start);
                    start = i + 1;
                }
            }
            filled += got - start;
            System.arraycopy(buffer, start, buffer, 0, filled);
            offset += start;
        }
        return offset;
    }

    /** Adds all whole lines from where the index ends. */
    void catchUp(long size) throws IOException {
        state.covered = lines(memory.data(), state.covered, size, (bytes, start, end, offset) -> {
            try {
                Line line = Line.read(state.fileId, bytes, start, end, offset);
                check(line);
                apply(line);
            } catch (BadLineException e) {
                bad(new Part(offset, end + 1 - start));
                salvage(bytes, start, end, offset);
            }
        });
        state.tail = memory.tail(state.covered);
        if (anew) {
            index.linkAll(state.count);
        }
    }

    /** Adds the messages of a line that cannot be read, if their places can and follow the lines before them. */
    private void salvage(byte[] bytes, int start, int end, long offset) throws IOException {
        List<Line.Entry> messages = Line.salvaged(state.fileId, bytes, start, end, offset);
        String raw = new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
        try {
            check(Line.of(messages));
        } catch (BadLineException e) {
            return;
        }
        for (Line.Entry entry : messages) {
            fillGap(entry.node());
            add(entry.node(), true);
            state.tokens += entry.node().tokens();
            note(entry.createdAt());
        }
        if (!messages.isEmpty() && !raw.contains("\"reference\":")) {
            state.head = state.count;
        }
    }

    private void bad(Part line) {
        lastBad = line;
        if (state.badLines++ == 0) {
            state.badLine = line;
        }
    }

    /** Checks that a line follows the lines before it. */
    void check(Line line) throws BadLineException, IOException {
        long next = state.count + 1;
        Node previous = null;
        for (Line.Entry entry : line.messages()) {
            Node node = entry.node();
            if (previous == null ? node.seq() < next || node.seq() > next + LARGEST_GAP : node.seq() != next) {
                throw new BadLineException("message " + node.seq() + " cannot follow message " + (next - 1));
            }
            Node above = node.parent() == 0 || node.parent() >= node.seq() ? null : above(node.parent(), previous);
            String problem = node.problem(above);
            if (problem != null) {
                throw new BadLineException(problem);
            }
            String parentId = entry.parentId();
            if (above != null
                    && above.hasPlace()
                    && (parentId == null || Line.hash(state.fileId, parentId) != above.idHash())) {
                throw new BadLineException("the parent of message " + node.seq() + " has another id");
            }
            previous = node;
            next = node.seq() + 1;
        }
        checkThere(line.view(), next);
        checkThere(line.summary(), next);
        checkThere(line.outcome(), next);
        if (line.head() != null && line.head() >= next) {
            throw new BadLineException("its head is not there");
        }
        if (line.branch() != null && (line.branch() < 1 || line.branch() >= next || line.reference() == null)) {
            throw new BadLineException("its branch's message is not there");
        }
        if (line.mend() != null) {
            for (long view : line.mend().views()) {
                checkThere(new Line.Anchored(view, lastBad), next);
            }
            for (Line.Anchored outcome : line.mend().unreadable()) {
                checkThere(outcome, next);
            }
        }
    }

    private static void checkThere(Line.@Nullable Anchored anchored, long next) throws BadLineException {
        if (anchored != null && (anchored.seq() < 1 || anchored.seq() >= next)) {
            throw new BadLineException("its message is not there");
        }
    }

    private Node above(long parent, @Nullable Node previous) throws IOException {
        if (previous != null && previous.seq() == parent) {
            return previous;
        }
        // Between the known messages and this line, they are lost.
        return parent > state.count ? Node.lost(parent, lastBad) : index.node(parent);
    }

    /** Adds a line that was checked. */
    void apply(Line line) throws IOException {
        state.revision = Math.max(state.revision, line.revision());
        for (Line.Entry entry : line.messages()) {
            fillGap(entry.node());
            add(entry.node(), true);
            state.tokens += entry.node().tokens();
            note(entry.createdAt());
            if (entry.usage() != null) {
                long day = AppendRules.day(entry.createdAt()).toEpochDay();
                count(day, entry.usage());
                state.usageDay = Math.max(state.usageDay, day);
            }
        }
        if (!line.messages().isEmpty()) {
            if (line.reference() == null) {
                state.head = state.count;
            } else {
                long name = Line.hash(state.fileId, line.reference());
                moveReference(name, state.count, Objects.requireNonNull(line.referencePart()));
            }
        }
        if (line.head() != null) {
            state.head = line.head();
        }
        if (line.branch() != null) {
            long name = Line.hash(state.fileId, Objects.requireNonNull(line.reference()));
            moveReference(name, line.branch(), Objects.requireNonNull(line.referencePart()));
        }
        if (line.description() != null) {
            state.description = line.description();
        }
        if (line.view() != null) {
            index.setView(line.view().seq(), addSide(line.view(), 0));
            index.mark(Index.Mark.VIEW, line.view().seq());
            state.views++;
        }
        if (line.summary() != null) {
            state.lastSummary = addSide(line.summary(), state.lastSummary);
            index.setSummary(line.summary().seq(), state.lastSummary);
            index.mark(Index.Mark.SUMMARY, line.summary().seq());
            state.summaries++;
            state.versions = Math.max(state.versions, line.version());
        }
        if (line.outcome() != null) {
            index.setOutcome(line.outcome().seq(), addSide(line.outcome(), 0));
        }
        if (line.mend() != null) {
            mend(line.mend());
        }
    }

    private void note(Instant time) {
        if (state.firstMessageAt == null) {
            state.firstMessageAt = time;
        }
        Instant active = state.activeAt;
        state.activeAt = active == null || time.isAfter(active) ? time : active;
    }

    private void fillGap(Node next) throws IOException {
        if (next.seq() > state.count + 1 && state.badLines == 0) {
            // No line is bad, so lines are gone.
            bad(next.part());
        }
        while (state.count < next.seq() - 1) {
            add(Node.lost(state.count + 1, lastBad), false);
        }
    }

    private void add(Node node, boolean hasId) throws IOException {
        index.add(node);
        state.count++;
        if (!anew) {
            index.link(node.seq(), node.idHash(), hasId);
        }
    }

    private int addSide(Line.Anchored anchored, int previous) throws IOException {
        index.write(++state.sides, Side.at(anchored.seq(), anchored.part(), previous));
        return state.sides;
    }

    private void moveReference(long name, long seq, Part part) throws IOException {
        for (int at = state.lastReference; at != 0; ) {
            Side side = index.side(at);
            if (side.name() == name) {
                index.write(at, side.movedTo(seq, part));
                return;
            }
            at = side.previous();
        }
        index.write(++state.sides, new Side(seq, part, state.lastReference, name, Usage.NONE));
        state.lastReference = state.sides;
    }

    private void count(long day, Usage usage) throws IOException {
        for (int at = state.lastDay; at != 0; ) {
            Side side = index.side(at);
            if (side.name() == day) {
                Usage sum = side.usage().plus(usage);
                index.write(at, new Side(0, side.part(), side.previous(), day, sum));
                return;
            }
            at = side.previous();
        }
        index.write(++state.sides, new Side(0, new Part(0, 0), state.lastDay, day, usage));
        state.lastDay = state.sides;
    }

    private void mend(Line.Mend mend) throws IOException {
        for (long view : mend.views()) {
            index.setView(view, 0);
            index.unmark(Index.Mark.VIEW, view);
        }
        for (Line.Anchored outcome : mend.unreadable()) {
            index.setOutcome(outcome.seq(), addSide(outcome, 0));
        }
        List<Long> names = mend.references().stream()
                .map(name -> Line.hash(state.fileId, name))
                .toList();
        for (int at = state.lastReference; at != 0; ) {
            Side side = index.side(at);
            if (names.contains(side.name())) {
                index.write(at, side.movedTo(0, side.part()));
            }
            at = side.previous();
        }
        state.badLines = 0;
        state.badLine = new Part(0, 0);
    }
}

package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.AppendRules;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.Forks;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Reads of one memory in one state. Each method does what the method of the log of the same name says. */
final class Tree {

    /** The messages of a branch that are looked at at once. */
    private static final int CHUNK = 64;

    /** Parts of the file that are not farther apart are read at once. */
    private static final int NEAR = 512;

    private static final int MOST_AT_ONCE = 1 << 20;

    /** The beginning of a message, in which its id is. An id that is escaped may be longer than most. */
    private static final int USUAL_PREFIX = 192;

    private static final int LONGEST_PREFIX = 1 << 13;

    private final Memory memory;
    private final Index index;
    private final State state;
    private final MemoryKey key;

    /** Whether something was looked at that a writer changes in its place, so that the answer holds only if none did. */
    private boolean needsUnchanged;

    /** Reads a memory that may be damaged. */
    Tree(Memory memory, State state) {
        this.memory = memory;
        this.index = memory.index();
        this.state = state;
        this.key = memory.header().key();
    }

    /** Returns this tree, or fails if a line cannot be read, because that line may have said anything. */
    Tree sound() {
        if (state.badLines > 0) {
            throw new UnreadableDataException(
                    "Memory " + key + ": " + state.badLines + " lines of "
                            + memory.names().data() + " cannot be read, the first of them at byte "
                            + state.badLine.offset()
                            + ". Nothing is written over it: check() lists the damage, repair() mends it",
                    null);
        }
        return this;
    }

    Memory memory() {
        return memory;
    }

    boolean needsUnchanged() {
        return needsUnchanged;
    }

    State state() {
        return state;
    }

    MemoryKey key() {
        return key;
    }

    Position position(long end) throws IOException {
        return new Position(state.epoch, state.revision, end == 0 ? null : id(index.node(end)));
    }

    /** Returns the end of a named branch, or the head if there is no branch of that name. */
    long end(@Nullable String reference) throws IOException {
        long named = reference == null ? 0 : named(reference);
        return named == 0 ? state.head : named;
    }

    /** Returns the end of a named branch, or 0 if there is no branch of that name. */
    private long named(String reference) throws IOException {
        long name = Line.hash(state.fileId, reference);
        needsUnchanged = true;
        for (int at = state.lastReference; at != 0; ) {
            Side side = index.side(at);
            if (side.name() == name) {
                return side.seq();
            }
            at = side.previous();
        }
        return 0;
    }

    /** Returns the ends of the named branches, by name. */
    Map<String, Long> references() throws IOException {
        Map<String, Long> references = new TreeMap<>();
        needsUnchanged |= state.lastReference != 0;
        for (int at = state.lastReference; at != 0; ) {
            Side side = index.side(at);
            if (side.seq() != 0) {
                references.put(name(side.part()), side.seq());
            }
            at = side.previous();
        }
        return references;
    }

    private String name(Part part) throws IOException {
        try {
            byte[] json = read(part);
            return Contents.CODEC.decodeText(new String(json, StandardCharsets.UTF_8));
        } catch (UnreadableDataException e) {
            throw new BrokenIndexException("a branch's name is not where it should be");
        }
    }

    Node node(long seq) throws IOException {
        return index.node(seq);
    }

    Node existing(String field, String id) throws IOException {
        Node node = find(id);
        if (node == null) {
            throw UnknownMessageException.notThere(key, field, id);
        }
        return node;
    }

    /** Returns a message by its id, or null. */
    @Nullable
    Node find(String id) throws IOException {
        long hash = Line.hash(state.fileId, id);
        for (long seq = state.count; seq > 0; seq--) {
            seq = index.find(hash, state.count, seq);
            if (seq == 0) {
                break;
            }
            Node node = index.node(seq);
            if (id.equals(id(node))) {
                return node;
            }
        }
        needsUnchanged = true;
        return null;
    }

    Tail read(ReadQuery query) throws IOException {
        long end = end(query.reference());
        Position position = position(end);
        Node start = query.from() != null ? existing("messageId", query.from()) : end == 0 ? null : index.node(end);
        if (start == null) {
            return Tail.empty(position);
        }
        Node after = query.after() == null ? null : existing("after", query.after());
        if (after != null && !isOnBranch(after.seq(), start)) {
            throw UnknownMessageException.noAncestor(key, "after");
        }
        long behind = after == null ? 0 : after.seq();
        long covered = query.toSummary() && state.summaries > 0 ? newest(Index.Mark.SUMMARY, start) : 0;
        List<Node> newest = branch(start, Math.max(behind, covered), query);
        Node oldest = newest.isEmpty() ? null : newest.get(0);
        long before = oldest == null ? start.seq() : oldest.parent();
        boolean complete = before <= Math.max(behind, covered);

        List<Node> first = first(start, after, query.oldest());
        Set<Long> wanted = new LinkedHashSet<>();
        newest.forEach(node -> wanted.add(node.seq()));
        first.forEach(node -> wanted.add(node.seq()));
        List<Node> nodes = new ArrayList<>(newest);
        nodes.addAll(first);
        for (long other : new long[] {start.system(), start.user()}) {
            if (other > behind && wanted.add(other)) {
                nodes.add(index.node(other));
            }
        }
        Map<Long, LoggedMessage> read = logged(nodes);
        long view = state.views == 0 ? 0 : newest(Index.Mark.VIEW, start);
        return new Tail(
                position,
                pick(read, newest),
                pick(read, first),
                start.system() > behind ? read.get(start.system()) : null,
                start.user() > behind ? read.get(start.user()) : null,
                view == 0 ? null : view(view),
                covered == 0 ? null : summary(side(index.node(covered).summary())),
                complete,
                oldest != null && before == 0
                        ? pick(read, List.of(oldest)).get(0).parentId()
                        : null);
    }

    private static List<LoggedMessage> pick(Map<Long, LoggedMessage> read, List<Node> nodes) {
        return nodes.stream()
                .map(node -> Objects.requireNonNull(read.get(node.seq())))
                .toList();
    }

    /** The newest messages of a branch, oldest first. */
    private List<Node> branch(Node start, long floor, ReadQuery query) throws IOException {
        List<Node> newestFirst = new ArrayList<>();
        long tokens = 0;
        long next = start.seq();
        while (next > floor && newestFirst.size() < query.maxMessages() && tokens < query.maxTokens()) {
            Node end = next == start.seq() ? start : index.node(next);
            checkNotLost(end);
            long wanted = Math.min(CHUNK, query.maxMessages() - newestFirst.size());
            long from = Math.max(Math.max(end.run(), floor + 1), next - wanted + 1);
            List<Node> part = from == next ? List.of(end) : index.nodes(from, next);
            for (int i = part.size() - 1; i >= 0 && tokens < query.maxTokens(); i--) {
                newestFirst.add(part.get(i));
                tokens += part.get(i).tokens();
                next = part.get(i).parent();
            }
        }
        Collections.reverse(newestFirst);
        return newestFirst;
    }

    /** From run to run back to where the branch begins; depth tells which of a run's messages are among the first. */
    private List<Node> first(Node start, @Nullable Node after, int wanted) throws IOException {
        List<Node> newestFirst = new ArrayList<>();
        long first = after == null ? 1 : after.depth() + 1;
        long last = Math.min(start.depth(), first + wanted - 1);
        Node end = start;
        while (wanted > 0 && end.depth() >= first) {
            checkNotLost(end);
            Node begin = end.run() == end.seq() ? end : index.node(end.run());
            long low = Math.max(begin.depth(), first);
            long high = Math.min(end.depth(), last);
            if (low <= high) {
                List<Node> part = new ArrayList<>(
                        index.nodes(begin.seq() + low - begin.depth(), begin.seq() + high - begin.depth()));
                Collections.reverse(part);
                newestFirst.addAll(part);
            }
            if (begin.parent() == 0) {
                break;
            }
            end = index.node(begin.parent());
        }
        Collections.reverse(newestFirst);
        return newestFirst;
    }

    private boolean isOnBranch(long seq, Node end) throws IOException {
        Node node = end;
        while (node.run() > seq) {
            checkNotLost(node);
            Node begin = node.run() == node.seq() ? node : index.node(node.run());
            if (begin.parent() == 0) {
                return false;
            }
            node = index.node(begin.parent());
        }
        return node.seq() >= seq;
    }

    /** Goes from run to run: within a run, without gaps, everything is on the branch. Returns 0 if there is none. */
    private long newest(Index.Mark mark, Node end) throws IOException {
        Node node = end;
        while (true) {
            long seq = index.newest(mark, node.seq());
            if (seq == 0 || seq >= node.run()) {
                return seq;
            }
            Node begin = node.run() == node.seq() ? node : index.node(node.run());
            if (begin.parent() == 0) {
                return 0;
            }
            node = index.node(begin.parent());
        }
    }

    List<Found> find(Collection<String> ids, boolean withMade) throws IOException {
        List<Node> nodes = new ArrayList<>();
        for (String id : new LinkedHashSet<>(ids)) {
            Node node = find(id);
            if (node != null) {
                nodes.add(node);
            }
        }
        nodes.sort(Comparator.comparingLong(Node::seq));
        return found(nodes, withMade);
    }

    List<Found> findAt(Collection<Long> sequences, boolean withMade) throws IOException {
        List<Node> nodes = new ArrayList<>();
        for (long seq : new TreeSet<>(sequences)) {
            if (seq >= 1 && seq <= state.count) {
                nodes.add(index.node(seq));
            }
        }
        return found(nodes, withMade);
    }

    private List<Found> found(List<Node> nodes, boolean withMade) throws IOException {
        List<LoggedMessage> messages = pick(logged(nodes), nodes);
        List<Found> found = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            found.add(new Found(messages.get(i), withMade ? made(nodes.get(i)) : null));
        }
        return found;
    }

    Set<Long> onBranch(Collection<Long> sequences) throws IOException {
        Set<Long> found = new HashSet<>();
        for (long seq : sequences) {
            if (seq >= 1 && seq <= state.head && isOnBranch(seq, index.node(state.head))) {
                found.add(seq);
            }
        }
        return found;
    }

    HistoryPage history(HistoryQuery query) throws IOException {
        long size = state.count;
        long from = query.forward()
                ? Math.min(query.sequence(), size)
                : Math.max(0, Math.min(query.sequence() - 1, size) - query.limit() - 1L);
        long to = query.forward()
                ? Math.min(size, from + query.limit() + 1L)
                : Math.max(0, Math.min(query.sequence() - 1, size));
        List<Node> nodes = from == to ? List.of() : index.nodes(from + 1, to);
        return HistoryPage.of(query, pick(logged(nodes), nodes));
    }

    /** Goes through the runs by their numbers. A run's end is a leaf if no other run begins under it. */
    List<Branch> branches() throws IOException {
        Map<Long, List<String>> names = new HashMap<>();
        references().forEach((name, end) -> names.computeIfAbsent(end, any -> new ArrayList<>())
                .add(name));
        Set<Long> parents = new HashSet<>();
        List<Node> ends = new ArrayList<>();
        List<Forks.Run> runs = new ArrayList<>();
        for (long seq = state.count; seq > 0; ) {
            Node end = index.node(seq);
            Node begin = end.run() == seq ? end : index.node(end.run());
            parents.add(begin.parent());
            long beside = begin.parent() + 1;
            runs.add(new Forks.Run(
                    begin.seq(),
                    begin.parent(),
                    beside > 1 && beside < begin.seq() && index.node(beside).run() < beside));
            if (end.hasPlace()) {
                ends.add(end);
            }
            seq = begin.seq() - 1;
        }
        ends.removeIf(end -> parents.contains(end.seq()));
        Forks forks = Forks.of(runs);
        Map<Long, Node> named = new HashMap<>();
        for (Node leaf : ends) {
            named.put(leaf.seq(), leaf);
            Node first = index.node(forks.first(leaf.seq()));
            if (first.hasPlace()) {
                named.put(first.seq(), first);
            }
        }
        Map<Long, LoggedMessage> read = logged(named.values());
        List<Branch> branches = new ArrayList<>();
        for (Node leaf : ends) {
            LoggedMessage message = pick(read, List.of(leaf)).get(0);
            branches.add(new Branch(
                    message.id(),
                    // A message that cannot be read has no id.
                    read.getOrDefault(forks.first(leaf.seq()), message).id(),
                    leaf.depth(),
                    message.createdAt(),
                    leaf.seq() == state.head,
                    names.getOrDefault(leaf.seq(), List.of())));
        }
        return branches;
    }

    private List<Summary> summaries() throws IOException {
        List<Summary> newestFirst = new ArrayList<>();
        for (int at = state.lastSummary; at != 0; ) {
            Side side = index.side(at);
            newestFirst.add(summary(side));
            at = side.previous();
        }
        Collections.reverse(newestFirst);
        return newestFirst;
    }

    private @Nullable Made made(Node node) throws IOException {
        try {
            return Contents.made(Fields.of(read(node.part()))).ifKnown().orElse(null);
        } catch (BadLineException e) {
            throw unreadable(node, e);
        }
    }

    List<DailyUsage> usage(LocalDate from, LocalDate toExclusive) throws IOException {
        List<DailyUsage> days = new ArrayList<>();
        needsUnchanged |= state.lastDay != 0;
        for (int at = state.lastDay; at != 0; ) {
            Side side = index.side(at);
            LocalDate day = LocalDate.ofEpochDay(side.name());
            if (!day.isBefore(from) && day.isBefore(toExclusive)) {
                days.add(new DailyUsage(key, day, side.usage()));
            }
            at = side.previous();
        }
        return days;
    }

    Contents.Description description() throws IOException {
        if (state.description.length() == 0) {
            return Contents.Description.NONE;
        }
        try {
            return Contents.description(Fields.of(read(state.description)));
        } catch (BadLineException e) {
            throw unreadable("its title", state.description, e);
        }
    }

    MemoryDetails details(Set<MemoryDetails.Part> parts) throws IOException {
        boolean isNew = state.count == 0 && state.description.length() == 0;
        return new MemoryDetails(
                isNew || !parts.contains(MemoryDetails.Part.INFO) ? null : info(),
                parts.contains(MemoryDetails.Part.BRANCHES) ? branchEnds() : Map.of(),
                parts.contains(MemoryDetails.Part.VIEWS) ? views() : List.of(),
                parts.contains(MemoryDetails.Part.SUMMARIES) ? summaries() : List.of());
    }

    private Map<String, String> branchEnds() throws IOException {
        Map<String, String> branches = new TreeMap<>();
        for (Map.Entry<String, Long> reference : references().entrySet()) {
            branches.put(reference.getKey(), id(index.node(reference.getValue())));
        }
        return branches;
    }

    private List<View> views() throws IOException {
        Deque<View> views = new ArrayDeque<>();
        long seq = state.views == 0 ? 0 : state.count;
        while (seq > 0) {
            long anchor = index.newest(Index.Mark.VIEW, seq);
            if (anchor > 0) {
                views.push(view(anchor));
            }
            seq = anchor - 1;
        }
        return List.copyOf(views);
    }

    MemoryInfo info() throws IOException {
        Contents.Description description = description();
        Instant stored = memory.header().createdAt();
        Instant first = state.firstMessageAt;
        return new MemoryInfo(
                key,
                description.title(),
                description.metadata(),
                state.count,
                state.tokens,
                first != null && first.isBefore(stored) ? first : stored,
                state.activeAt,
                stored);
    }

    View view(long anchor) throws IOException {
        Part part = side(index.node(anchor).view()).part();
        try {
            // Where a stored view names the head, there was none: the memory was empty.
            return Contents.view(Fields.of(read(part))).resolved(null);
        } catch (BadLineException e) {
            throw unreadable("the view at message " + anchor, part, e);
        }
    }

    private Summary summary(Side side) throws IOException {
        try {
            return Contents.summary(Fields.of(read(side.part())));
        } catch (BadLineException e) {
            throw unreadable("the summary up to message " + side.seq(), side.part(), e);
        }
    }

    /** Returns a message's id. Only the beginning of the message is read. */
    String id(Node node) throws IOException {
        if (!node.hasPlace()) {
            checkNotLost(node);
            return "unreadable-" + node.seq();
        }
        for (int length = USUAL_PREFIX; length <= LONGEST_PREFIX; length = length * LONGEST_PREFIX / USUAL_PREFIX) {
            byte[] prefix = read(
                    new Part(node.part().offset(), Math.min(length, node.part().length())));
            String id = Fields.textInPrefix(prefix, "id");
            if (id != null) {
                return id;
            }
        }
        throw new BrokenIndexException("message " + node.seq() + " is not where it should be");
    }

    LoggedMessage logged(Node node) throws IOException {
        return pick(logged(List.of(node)), List.of(node)).get(0);
    }

    /** Reads messages by their sequence numbers. What lies near in the file is read at once. */
    private Map<Long, LoggedMessage> logged(Collection<Node> nodes) throws IOException {
        List<Node> byPlace = new ArrayList<>(nodes);
        byPlace.forEach(this::checkNotLost);
        byPlace.sort(Comparator.comparingLong(node -> node.part().offset()));
        Map<Long, LoggedMessage> logged = new HashMap<>();
        int next = 0;
        while (next < byPlace.size()) {
            int first = next;
            long start = byPlace.get(first).part().offset();
            long end = start + byPlace.get(first).part().length();
            for (next++; next < byPlace.size(); next++) {
                Part part = byPlace.get(next).part();
                if (part.offset() - end > NEAR || part.offset() + part.length() - start > MOST_AT_ONCE) {
                    break;
                }
                end = Math.max(end, part.offset() + part.length());
            }
            byte[] bytes = read(new Part(start, (int) (end - start)));
            for (Node node : byPlace.subList(first, next)) {
                int from = (int) (node.part().offset() - start);
                logged.put(node.seq(), logged(node, bytes, from));
            }
        }
        return logged;
    }

    private LoggedMessage logged(Node node, byte[] bytes, int from) throws IOException {
        try {
            Fields outcome = null;
            if (node.outcome() != 0) {
                outcome = Fields.of(read(side(node.outcome()).part()));
                if (Contents.isUnreadable(outcome)) {
                    String parentId = node.parent() == 0 ? null : id(index.node(node.parent()));
                    return AppendRules.marker(id(node), parentId, node.seq(), node.tokens());
                }
            }
            Fields json = Fields.of(bytes, from, from + node.part().length());
            return Contents.message(key, node, json, outcome);
        } catch (BadLineException e) {
            throw unreadable(node, e);
        }
    }

    /** Returns whether a repair has marked a message that cannot be read. */
    boolean isMarked(Node node) throws IOException {
        try {
            return node.outcome() != 0
                    && Contents.isUnreadable(Fields.of(read(side(node.outcome()).part())));
        } catch (BadLineException e) {
            throw unreadable(node, e);
        }
    }

    private void checkNotLost(Node node) {
        if (node.damaged() && node.outcome() == 0) {
            throw unreadable(
                    "message " + node.seq() + ", which was in a line that cannot be read,",
                    node.part(),
                    new BadLineException("its line is damaged"));
        }
    }

    private UnreadableDataException unreadable(Node node, BadLineException e) {
        return unreadable("message " + node.seq(), node.part(), e);
    }

    private UnreadableDataException unreadable(String what, Part part, BadLineException e) {
        return new UnreadableDataException(
                "Memory " + key + ": " + what + " at byte " + part.offset() + " of "
                        + memory.names().data() + " cannot be read: " + e.problem() + ". Its bytes are kept",
                null);
    }

    /** Returns what lies at a message, unless it was put there after this state. */
    private Side side(int number) throws IOException {
        if (number == 0 || number > state.sides) {
            throw new BrokenIndexException("what lies at a message was changed meanwhile");
        }
        return index.side(number);
    }

    private byte[] read(Part part) throws IOException {
        try {
            return memory.data().read(part.offset(), part.length());
        } catch (EOFException e) {
            throw new BrokenIndexException("the index leads behind the end of the file");
        }
    }
}

package io.github.keepsake4j.backend;

import io.github.keepsake4j.codec.MessageCodec.Row;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One whole memory as a value, with the rules of the log, for stores that hold or load a memory in one piece. Each
 * method implements the method of {@link MessageLog} of the same name. Not thread-safe: a store locks, or works on a
 * copy and writes it conditionally.
 */
public final class MemoryTree {

    /** Converts the content of messages between objects and texts or places in a file. */
    public interface Bodies {

        /**
         * Returns a message as the text to be stored.
         *
         * @param row the message, without its turn
         * @return the text
         */
        String encode(Row row);

        /**
         * Returns a stored message.
         *
         * @param entry the message
         * @return its content, without its turn
         * @throws UnreadableDataException if it cannot be read
         */
        Row row(Entry entry);

        /**
         * Returns how a stored message was made.
         *
         * @param entry the message
         * @return the notes of the message
         * @throws UnreadableDataException if it cannot be read
         */
        Made made(Entry entry);

        /**
         * Returns whether the check reports a parent that is missing: where numbers have no gaps, nothing else shows that
         * a message was removed.
         *
         * @return false where only imports name missing parents
         */
        default boolean reportsMissingParents() {
            return false;
        }
    }

    /**
     * How messages become text and come back, for stores that have the texts in the heap.
     *
     * @param encode message to text
     * @param decode text to message; throws {@link UnreadableDataException}
     * @param reportsMissingParents see {@link Bodies#reportsMissingParents}
     */
    public record Payloads(Function<Row, String> encode, Function<String, Row> decode, boolean reportsMissingParents)
            implements Bodies {

        /**
         * Creates payloads of a store whose numbers show what is missing.
         *
         * @param encode message to text
         * @param decode text to message; throws {@link UnreadableDataException}
         */
        public Payloads(Function<Row, String> encode, Function<String, Row> decode) {
            this(encode, decode, false);
        }

        @Override
        public String encode(Row row) {
            return encode.apply(row);
        }

        @Override
        public Row row(Entry entry) {
            return decode.apply(entry.payload());
        }

        @Override
        public Made made(Entry entry) {
            return entry.made();
        }
    }

    /**
     * The result of planning a change, before it is made.
     *
     * @param result the result for the caller
     * @param at the time of the change, or null if it makes no new memory
     * @param revision the revision behind it
     * @param steps the changes; empty if there are none
     * @param <T> the type of the result
     */
    public record Plan<T>(T result, @Nullable Instant at, long revision, List<TreeStep> steps) {}

    /**
     * A memory's whole content, to be stored in one piece.
     *
     * @param epoch the epoch in force
     * @param revision see {@link Position#revision()}
     * @param head the head's id, or null
     * @param references the ids of the newest messages of named branches, by name
     * @param entries all messages by sequence
     * @param views all views
     * @param summaries all summaries in the order in which they were put
     * @param leases by name
     * @param title the title, or null
     * @param metadata short texts by name
     * @param createdAt when it was first stored, or null if it was never written or was erased
     */
    public record State(
            long epoch,
            long revision,
            @Nullable String head,
            Map<String, String> references,
            List<Entry> entries,
            List<View> views,
            List<Summary> summaries,
            Map<String, Lease> leases,
            @Nullable String title,
            Map<String, String> metadata,
            @Nullable Instant createdAt) {

        /**
         * Returns the content of an empty memory.
         *
         * @param epoch the epoch in force
         * @param revision the revision in force
         * @param createdAt when it was first stored, or null
         * @return no messages
         */
        public static State empty(long epoch, long revision, @Nullable Instant createdAt) {
            return new State(
                    epoch, revision, null, Map.of(), List.of(), List.of(), List.of(), Map.of(), null, Map.of(),
                    createdAt);
        }

        /**
         * Returns this content with other messages.
         *
         * @param others all messages by sequence
         * @return a copy
         */
        public State withEntries(List<Entry> others) {
            return new State(
                    epoch, revision, head, references, others, views, summaries, leases, title, metadata, createdAt);
        }

        /** Leaves out the title and the metadata, so that the result may be logged. */
        @Override
        public String toString() {
            return "State[epoch=" + epoch + ", revision=" + revision + ", entries=" + entries.size() + "]";
        }
    }

    final MemoryKey key;
    final Bodies bodies;
    final List<TreeNode> nodes = new ArrayList<>();
    private final Map<String, TreeNode> byId = new HashMap<>();
    final TreeMap<Long, View> views = new TreeMap<>();
    final List<Summary> summaries = new ArrayList<>();
    private final TreeMap<Long, Summary> newestSummaries = new TreeMap<>();
    private final Map<String, Lease> leases = new HashMap<>();
    final TreeMap<String, TreeNode> references = new TreeMap<>();
    private final TreeMap<LocalDate, Usage> usage = new TreeMap<>();
    long epoch = 1;
    long revision = 1;
    private long tokens;
    private @Nullable Instant lastMessageAt;

    @Nullable
    TreeNode head;

    @Nullable
    String title;

    private Map<String, String> metadata = Map.of();
    private @Nullable Instant createdAt;

    /** The version of the newest summary that was ever stored. */
    private long versions;

    /** The contradictions of the stored content. While there are any, the memory is neither read nor changed. */
    final List<Damage> broken = new ArrayList<>();

    /** The losses that a repair passed over. */
    final List<Damage> passedOver = new ArrayList<>();

    @Nullable
    String lostHead;

    int lostReferences;

    /**
     * An empty memory.
     *
     * @param key the memory
     * @param bodies the contents of messages
     */
    public MemoryTree(MemoryKey key, Bodies bodies) {
        this.key = key;
        this.bodies = bodies;
    }

    /**
     * A memory from its stored content. If that contradicts itself, all methods but {@link #check},
     * {@link #info} and {@link #erase} throw {@link UnreadableDataException}. A parent that comes after its child is no
     * contradiction: an import may have brought it later.
     *
     * @param key the memory
     * @param bodies the contents of messages
     * @param state a result of {@link #state()}
     */
    public MemoryTree(MemoryKey key, Bodies bodies, State state) {
        this(key, bodies);
        epoch = state.epoch();
        revision = state.revision();
        for (Entry entry : state.entries()) {
            if (entry.sequence() != nodes.size() + 1L || byId.containsKey(entry.id())) {
                broken.add(new Damage(
                        Damage.Kind.SEQUENCE,
                        entry.sequence(),
                        entry.id(),
                        "message number " + (nodes.size() + 1) + " has another number or a used id"));
            }
            TreeNode parent = entry.parentId() == null ? null : byId.get(entry.parentId());
            link(new TreeNode(entry, parent), entry.made().usage());
        }
        state.views().forEach(view -> views.put(view.anchorSequence(), view));
        for (Summary put : state.summaries()) {
            versions = Math.max(put.version(), versions + 1);
            Summary summary = put.withVersion(versions);
            summaries.add(summary);
            TreeNode covered = byId.get(summary.coversUpTo());
            if (covered != null) {
                newestSummaries.put(covered.sequence(), summary);
            }
        }
        leases.putAll(state.leases());
        title = state.title();
        metadata = Map.copyOf(state.metadata());
        createdAt = state.createdAt();
        head = state.head() == null ? null : byId.get(state.head());
        if (head == null && state.head() != null) {
            lostHead = state.head();
            broken.add(new Damage(Damage.Kind.HEAD, null, null, "the head " + lostHead + " is missing"));
        }
        state.references().forEach((name, id) -> {
            TreeNode end = byId.get(id);
            if (end == null) {
                lostReferences++;
                broken.add(new Damage(
                        Damage.Kind.REFERENCE,
                        null,
                        null,
                        "the branch " + name + " ends in " + id + ", which is missing"));
            } else {
                references.put(name, end);
            }
        });
        broken.addAll(TreeCare.contradictions(this));
    }

    /**
     * Returns the whole content.
     *
     * @return a copy
     */
    public State state() {
        return new State(
                epoch,
                revision,
                id(head),
                ends(),
                nodes.stream().map(node -> node.entry).toList(),
                List.copyOf(views.values()),
                List.copyOf(summaries),
                Map.copyOf(leases),
                title,
                metadata,
                createdAt);
    }

    /**
     * Does {@link MessageLog#append}.
     *
     * @param append the append
     * @param now the store's time
     * @return the result
     */
    public AppendResult append(Append append, Instant now) {
        return commit(new TreePlans(this).append(append, now));
    }

    /**
     * Makes a planned change.
     *
     * @param plan a plan for this tree, which has not changed since
     * @param <T> the type of the result
     * @return the plan's result
     */
    public <T> T commit(Plan<T> plan) {
        if (createdAt == null && !plan.steps().isEmpty()) {
            createdAt = plan.at();
        }
        apply(plan.revision(), plan.steps());
        return plan.result();
    }

    /**
     * Makes a change.
     *
     * @param newRevision the revision behind it
     * @param steps the change, in which {@link #problem} finds none
     */
    public void apply(long newRevision, List<TreeStep> steps) {
        revision = Math.max(revision, newRevision);
        steps.forEach(this::apply);
    }

    private void apply(TreeStep step) {
        if (step instanceof TreeStep.Appended appended) {
            append(appended);
        } else if (step instanceof TreeStep.HeadMoved moved) {
            head = at(moved.sequence());
        } else if (step instanceof TreeStep.BranchMoved moved) {
            references.put(moved.name(), Objects.requireNonNull(at(moved.sequence())));
        } else if (step instanceof TreeStep.Ended ended) {
            end(ended.sequence(), ended.outcome());
        } else if (step instanceof TreeStep.Described described) {
            title = described.title();
            metadata = Map.copyOf(described.metadata());
        } else if (step instanceof TreeStep.Summarized put) {
            versions = Math.max(versions, put.summary().version());
            summaries.add(put.summary());
            newestSummaries.put(put.sequence(), put.summary());
        } else if (step instanceof TreeStep.Repaired repaired) {
            repair(repaired);
        }
    }

    private void append(TreeStep.Appended appended) {
        for (TreeStep.Added added : appended.messages()) {
            if (nodes.size() < added.entry().sequence() - 1) {
                lose(added.entry().sequence());
            }
            TreeNode parent = at(added.inherited().parent());
            Entry entry = parent == null ? added.entry() : added.entry().sharing(parent.entry);
            link(new TreeNode(entry, parent), added.usage());
        }
        if (!appended.messages().isEmpty()) {
            TreeNode last = nodes.get(nodes.size() - 1);
            if (appended.reference() == null) {
                head = last;
            } else {
                references.put(appended.reference(), last);
            }
        }
        if (appended.view() != null) {
            views.put(appended.view().anchorSequence(), appended.view());
        }
    }

    private void end(long sequence, @Nullable Outcome outcome) {
        TreeNode node = Objects.requireNonNull(at(sequence));
        node.entry = node.entry.withOutcome(outcome);
    }

    private void repair(TreeStep.Repaired repaired) {
        repaired.views().forEach(views::remove);
        repaired.references().forEach(references::remove);
        summaries.removeIf(summary -> repaired.summaries().contains(summary.version()));
        newestSummaries.values().removeIf(summary -> repaired.summaries().contains(summary.version()));
        repaired.unreadable().forEach(sequence -> end(sequence, Outcome.UNREADABLE));
        broken.stream().filter(TreeCare::isKept).forEach(passedOver::add);
        broken.clear();
        lostHead = null;
        lostReferences = 0;
    }

    /**
     * Returns why a change cannot follow the present content.
     *
     * @param steps the change
     * @return a sentence that quotes nothing, or null if it can
     */
    public @Nullable String problem(List<TreeStep> steps) {
        return new TreeRules(this).problem(steps);
    }

    /**
     * Records that a part of the stored content is lost. Until a repair passes over the loss, the memory is neither
     * read nor changed.
     *
     * @param damage the loss
     */
    public void lose(Damage damage) {
        if (broken.size() < Damage.MAX_REPORTED) {
            broken.add(damage);
        }
    }

    /**
     * Returns whether nothing of the stored content is lost.
     *
     * @return false even after a repair has skipped the loss
     */
    public boolean isWhole() {
        return broken.isEmpty() && passedOver.isEmpty();
    }

    /**
     * Returns the number of messages.
     *
     * @return the sequence of the newest message
     */
    public int size() {
        return nodes.size();
    }

    /** Puts markers in the places of the messages that are missing before another one. */
    private void lose(long before) {
        long first = nodes.size() + 1L;
        String which =
                first == before - 1 ? "message " + first + " is" : "messages " + first + " to " + (before - 1) + " are";
        broken.add(new Damage(Damage.Kind.SEQUENCE, first, null, which + " missing"));
        while (nodes.size() < before - 1) {
            nodes.add(TreeNode.lost(nodes.size() + 1L));
        }
    }

    /**
     * Does {@link MessageLog#read}.
     *
     * @param query the bounds
     * @return the tail
     */
    public Tail read(ReadQuery query) {
        requireSound();
        TreeNode end = end(query.reference());
        TreeNode start = query.from() == null ? end : existing("messageId", query.from());
        if (start == null) {
            return Tail.empty(position(end));
        }
        TreeNode floor = null;
        if (query.after() != null) {
            floor = existing("after", query.after());
            if (!isOnBranch(floor.sequence(), start)) {
                throw UnknownMessageException.noAncestor(key, "after");
            }
        }
        long behind = floor == null ? 0 : floor.sequence();
        LoggedMessage system = loggedBehind(behind, start.system);
        LoggedMessage user = loggedBehind(behind, start.user);
        Summary summary = query.toSummary() ? newestOnBranch(newestSummaries, start) : null;
        if (summary != null) {
            behind = Math.max(behind, existing("summary", summary.coversUpTo()).sequence());
        }

        List<LoggedMessage> messages = new ArrayList<>();
        long read = 0;
        TreeNode node = start;
        TreeNode oldest = start;
        while (node != null
                && node.sequence() > behind
                && messages.size() < query.maxMessages()
                && read < query.maxTokens()) {
            messages.add(logged(node));
            read += node.entry.tokens();
            oldest = node;
            node = node.parent;
        }
        boolean complete = node == null || node.sequence() <= behind;
        Collections.reverse(messages);
        return new Tail(
                position(end),
                messages,
                oldest(start, floor, query.oldest()),
                system,
                user,
                newestOnBranch(views, start),
                summary,
                complete,
                node == null ? oldest.entry.parentId() : null);
    }

    /**
     * Does {@link MessageLog#find} for messages that are named by their ids.
     *
     * @param ids the ids
     * @param withMade whether to return how they were made
     * @return the messages that exist, in order of sequence
     */
    public List<Found> find(Collection<String> ids, boolean withMade) {
        requireSound();
        return ids.stream()
                .distinct()
                .map(byId::get)
                .filter(Objects::nonNull)
                .sorted(Comparator.comparingLong(TreeNode::sequence))
                .map(node -> found(node, withMade))
                .toList();
    }

    /**
     * Does {@link MessageLog#find} for messages that are named by their sequences.
     *
     * @param sequences the sequences
     * @param withMade whether to return how they were made
     * @return the messages that exist, in order of sequence
     */
    public List<Found> findAt(Collection<Long> sequences, boolean withMade) {
        requireSound();
        return sequences.stream()
                .distinct()
                .filter(sequence -> sequence >= 1 && sequence <= nodes.size())
                .sorted()
                .map(sequence -> found(nodes.get(Math.toIntExact(sequence - 1)), withMade))
                .toList();
    }

    private Found found(TreeNode node, boolean withMade) {
        return new Found(logged(node), withMade ? made(node).ifKnown().orElse(null) : null);
    }

    /**
     * Does {@link MessageLog#onBranch}.
     *
     * @param sequences the sequences
     * @return those on the current branch
     */
    public Set<Long> onBranch(Collection<Long> sequences) {
        requireSound();
        TreeNode end = head;
        return sequences.stream()
                .filter(sequence -> end != null && sequence >= 1 && isOnBranch(sequence, end))
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Does {@link MessageLog#history}.
     *
     * @param query the page
     * @return the page
     */
    public HistoryPage history(HistoryQuery query) {
        requireSound();
        long size = nodes.size();
        long from = query.forward()
                ? Math.min(query.sequence(), size)
                : Math.max(0, Math.min(query.sequence() - 1, size) - query.limit() - 1L);
        long to = query.forward()
                ? Math.min(size, from + query.limit() + 1L)
                : Math.max(0, Math.min(query.sequence() - 1, size));
        return HistoryPage.of(
                query,
                nodes.subList((int) from, (int) to).stream().map(this::logged).toList());
    }

    /**
     * Does {@link MessageLog#branches}.
     *
     * @return the branches
     */
    public List<Branch> branches() {
        requireSound();
        Map<TreeNode, Integer> children = new HashMap<>();
        nodes.forEach(node -> {
            if (node.parent != null) {
                children.merge(node.parent, 1, Integer::sum);
            }
        });
        Map<TreeNode, List<String>> names = new HashMap<>();
        references.forEach((name, end) ->
                names.computeIfAbsent(end, any -> new ArrayList<>()).add(name));
        List<Branch> branches = new ArrayList<>();
        for (int i = nodes.size() - 1; i >= 0; i--) {
            TreeNode node = nodes.get(i);
            if (!children.containsKey(node)) {
                TreeNode first = node;
                while (first.parent != null && children.getOrDefault(first.parent, 0) == 1) {
                    first = first.parent;
                }
                branches.add(new Branch(
                        node.entry.id(),
                        first.entry.id(),
                        node.depth,
                        node.entry.createdAt(),
                        node == head,
                        names.getOrDefault(node, List.of())));
            }
        }
        return branches;
    }

    /**
     * Returns this memory's entries of {@link io.github.keepsake4j.log.MemoryPage#usage()}.
     *
     * @param from the first day
     * @param toExclusive the day after the last
     * @return the sums in order of days
     */
    public List<DailyUsage> usage(LocalDate from, LocalDate toExclusive) {
        return usage.subMap(from, toExclusive).entrySet().stream()
                .map(day -> new DailyUsage(key, day.getKey(), day.getValue()))
                .toList();
    }

    /**
     * Returns the metadata.
     *
     * @return short texts by name
     */
    public Map<String, String> metadata() {
        requireSound();
        return metadata;
    }

    /**
     * Does {@link MessageLog#details}.
     *
     * @param parts the parts to return
     * @return the details
     */
    public MemoryDetails details(Set<MemoryDetails.Part> parts) {
        requireSound();
        return new MemoryDetails(
                parts.contains(MemoryDetails.Part.INFO) ? info().orElse(null) : null,
                parts.contains(MemoryDetails.Part.BRANCHES) ? ends() : Map.of(),
                parts.contains(MemoryDetails.Part.VIEWS) ? List.copyOf(views.values()) : List.of(),
                parts.contains(MemoryDetails.Part.SUMMARIES) ? summaries : List.of());
    }

    /**
     * Returns the entry for a list.
     *
     * @return the memory's entry, or empty if it was never written or was erased
     */
    public Optional<MemoryInfo> info() {
        if (createdAt == null) {
            return Optional.empty();
        }
        Instant first = nodes.isEmpty() ? createdAt : nodes.get(0).entry.createdAt();
        return Optional.of(new MemoryInfo(
                key,
                title,
                metadata,
                nodes.size(),
                tokens,
                first.isBefore(createdAt) ? first : createdAt,
                lastMessageAt,
                createdAt));
    }

    /**
     * Does {@link MessageLog#acquireLease}.
     *
     * @param name the kind of work
     * @param owner the owner that requests the lease
     * @param duration how long
     * @param now the store's time
     * @return the lease, or empty
     */
    public Optional<Lease> acquireLease(String name, String owner, Duration duration, Instant now) {
        requireSound();
        return LeaseRules.acquire(leases, name, owner, duration, now);
    }

    /**
     * Does {@link MessageLog#releaseLease}.
     *
     * @param name the kind of work
     * @param owner who holds it
     * @return whether it was held
     */
    public boolean releaseLease(String name, String owner) {
        requireSound();
        return LeaseRules.release(leases, name, owner);
    }

    /**
     * Returns whether {@link MessageLog#eraseIfIdle} erases this memory.
     *
     * @param since the time
     * @return whether it exists and was last used before the time
     */
    public boolean isIdle(Instant since) {
        // Throws if it cannot be read: a memory that may be repaired is not erased.
        history(HistoryQuery.newest(1));
        return info().map(info -> info.lastUse().isBefore(since)).orElse(false);
    }

    /**
     * Does {@link MessageLog#erase}.
     *
     * @return the new epoch
     */
    public long erase() {
        nodes.clear();
        byId.clear();
        tokens = 0;
        lastMessageAt = null;
        views.clear();
        summaries.clear();
        newestSummaries.clear();
        versions = 0;
        leases.clear();
        broken.clear();
        passedOver.clear();
        lostHead = null;
        lostReferences = 0;
        head = null;
        references.clear();
        usage.clear();
        title = null;
        metadata = Map.of();
        createdAt = null;
        revision++;
        return ++epoch;
    }

    /**
     * Does {@link MessageLog#check}.
     *
     * @return the damage
     */
    public List<Damage> check() {
        return new TreeCare(this).check();
    }

    /**
     * Does {@link MessageLog#check} for stores where loading the memory may fail.
     *
     * @param check loads and checks
     * @return the damage
     */
    public static List<Damage> check(Supplier<List<Damage>> check) {
        try {
            return check.get();
        } catch (UnreadableDataException e) {
            return List.of(new Damage(Damage.Kind.MEMORY, null, null, String.valueOf(e.getMessage())));
        }
    }

    void requireSound() {
        if (!broken.isEmpty()) {
            Damage first = broken.get(0);
            throw new UnreadableDataException(
                    "Memory " + key + " is damaged: " + first.problem()
                            + (first.messageId() == null ? "" : " (message " + first.messageId() + ")")
                            + ". Nothing was changed. Call check() to list the damage and repair() to repair it",
                    null);
        }
    }

    long nextVersion() {
        return versions + 1;
    }

    @Nullable
    TreeNode find(String id) {
        return byId.get(id);
    }

    /** Returns a message by its sequence, or null for 0. */
    @Nullable
    TreeNode at(long sequence) {
        return sequence == 0 ? null : nodes.get(Math.toIntExact(sequence - 1));
    }

    /**
     * Goes from run to run back to the beginning of the branch. The depth shows which of a run's messages are among the
     * first.
     */
    private List<LoggedMessage> oldest(TreeNode start, @Nullable TreeNode floor, int wanted) {
        long first = floor == null ? 1 : floor.depth + 1;
        long last = first + wanted - 1;
        List<LoggedMessage> newestFirst = new ArrayList<>();
        for (TreeNode end = start; wanted > 0 && end != null && end.depth >= first; end = end.runStart.parent) {
            for (long depth = Math.min(end.depth, last); depth >= Math.max(end.runStart.depth, first); depth--) {
                newestFirst.add(logged(nodes.get((int) (end.sequence() - (end.depth - depth)) - 1)));
            }
        }
        Collections.reverse(newestFirst);
        return newestFirst;
    }

    private void link(TreeNode node, @Nullable Usage used) {
        Entry entry = node.entry;
        nodes.add(node);
        byId.put(entry.id(), node);
        tokens += entry.tokens();
        Instant last = lastMessageAt;
        lastMessageAt = last != null && last.isAfter(entry.createdAt()) ? last : entry.createdAt();
        if (used != null) {
            usage.merge(AppendRules.day(entry.createdAt()), used, Usage::plus);
        }
    }

    private @Nullable LoggedMessage loggedBehind(long sequence, @Nullable TreeNode node) {
        return node != null && node.sequence() > sequence ? logged(node) : null;
    }

    /** Goes from run to run: within a run, without gaps, everything is on the branch. */
    private static <T> @Nullable T newestOnBranch(NavigableMap<Long, T> bySequence, TreeNode end) {
        TreeNode node = end;
        while (node != null) {
            Map.Entry<Long, T> newest = bySequence.floorEntry(node.sequence());
            if (newest == null) {
                return null;
            }
            if (newest.getKey() >= node.runStart.sequence()) {
                return newest.getValue();
            }
            node = node.runStart.parent;
        }
        return null;
    }

    /**
     * Returns the newest message of a turn, on any branch.
     *
     * @param question the id of the turn's question
     * @return the message's id, or null if there is none
     */
    public @Nullable String newestOfTurn(String question) {
        for (int at = nodes.size() - 1; at >= 0; at--) {
            Entry entry = nodes.get(at).entry;
            if (question.equals(entry.question()) || question.equals(entry.id())) {
                return entry.id();
            }
        }
        return null;
    }

    private static boolean isOnBranch(long sequence, TreeNode end) {
        TreeNode node = end;
        while (node != null && node.runStart.sequence() > sequence) {
            node = node.runStart.parent;
        }
        return node != null && node.sequence() >= sequence;
    }

    /** The newest message of a named branch, or the head. */
    @Nullable
    TreeNode end(@Nullable String reference) {
        return reference == null ? head : references.getOrDefault(reference, head);
    }

    private Map<String, String> ends() {
        Map<String, String> ends = new TreeMap<>();
        references.forEach((name, end) -> ends.put(name, end.entry.id()));
        return ends;
    }

    TreeNode existing(String field, String id) {
        TreeNode node = byId.get(id);
        if (node == null) {
            throw UnknownMessageException.notThere(key, field, id);
        }
        return node;
    }

    LoggedMessage logged(TreeNode node) {
        Entry entry = node.entry;
        try {
            Row row = Outcome.UNREADABLE.equals(entry.outcome())
                    ? new Row(UnknownMessage.unreadable(), null, null)
                    : bodies.row(entry);
            return new LoggedMessage(
                    entry.id(),
                    entry.parentId(),
                    entry.sequence(),
                    row.message(),
                    entry.tokens(),
                    entry.tokenCounter(),
                    entry.createdAt(),
                    entry.outcome(),
                    entry.question(),
                    row.asked());
        } catch (UnreadableDataException e) {
            throw AppendRules.unreadable(key, entry.id(), e);
        }
    }

    private Made made(TreeNode node) {
        try {
            return bodies.made(node.entry);
        } catch (UnreadableDataException e) {
            throw AppendRules.unreadable(key, node.entry.id(), e);
        }
    }

    /** Returns whether the memory was written since it was erased. */
    boolean isThere() {
        return createdAt != null;
    }

    Position position(@Nullable TreeNode end) {
        return new Position(epoch, revision, id(end));
    }

    static @Nullable String id(@Nullable TreeNode node) {
        return node == null ? null : node.entry.id();
    }
}

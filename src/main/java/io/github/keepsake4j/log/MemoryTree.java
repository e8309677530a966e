package io.github.keepsake4j.log;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
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
import java.util.LinkedHashMap;
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
 * One whole memory as a value: the port's rules for backends that hold or load a memory in one piece. Each method does
 * what the method of {@link MessageLog} of the same name says. Not thread-safe: a backend locks, or works on a copy and
 * writes it conditionally.
 */
public final class MemoryTree {

    /**
     * How messages become text and come back.
     *
     * @param encode message to text
     * @param decode text to message; throws {@link UnreadableDataException}
     */
    public record Payloads(Function<ChatMessage, String> encode, Function<String, ChatMessage> decode) {}

    /**
     * One stored message.
     *
     * @param id the message's id
     * @param parentId the parent's id, or null for a root; it may name a message that is not there
     * @param sequence its place in the log, from 1
     * @param payload the message as text
     * @param type the message's type
     * @param tokens its size in tokens
     * @param tokenCounter the counter's name
     * @param createdAt when it was appended
     * @param outcome how it ended if it did not end well, or null
     * @param made how it was made
     * @param question the id of the question of its turn, or null
     */
    public record Entry(
            String id,
            @Nullable String parentId,
            long sequence,
            String payload,
            ChatMessageType type,
            int tokens,
            String tokenCounter,
            Instant createdAt,
            @Nullable Outcome outcome,
            Made made,
            @Nullable String question) {

        /**
         * Returns this message with another outcome.
         *
         * @param other the outcome, or null for none
         * @return a copy
         */
        public Entry withOutcome(@Nullable Outcome other) {
            return new Entry(
                    id, parentId, sequence, payload, type, tokens, tokenCounter, createdAt, other, made, question);
        }

        /** Leaves out the payload and the request, so that the result may be logged. */
        @Override
        public String toString() {
            return "Entry[id=" + id + ", parentId=" + parentId + ", sequence=" + sequence + ", type=" + type + "]";
        }
    }

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

        /** Leaves out the title and the metadata, so that the result may be logged. */
        @Override
        public String toString() {
            return "State[epoch=" + epoch + ", revision=" + revision + ", entries=" + entries.size() + "]";
        }
    }

    /** A stored message and what it inherits from its parent, so that reads need not walk to the root. */
    private static final class Node {
        /** Replaced where only the outcome differs. */
        private Entry entry;

        private final @Nullable Node parent;
        private final Node runStart;
        private final long depth;
        private final @Nullable Node system;
        private final @Nullable Node user;

        Node(Entry entry, @Nullable Node parent) {
            this.entry = entry;
            this.parent = parent;
            this.runStart = parent != null && parent.sequence() == entry.sequence() - 1 ? parent.runStart : this;
            this.depth = parent == null ? 1 : parent.depth + 1;
            this.system = entry.type() == ChatMessageType.SYSTEM ? this : parent == null ? null : parent.system;
            this.user = entry.type() == ChatMessageType.USER ? this : parent == null ? null : parent.user;
        }

        long sequence() {
            return entry.sequence();
        }
    }

    private final MemoryKey key;
    private final Payloads payloads;
    private final List<Node> nodes = new ArrayList<>();
    private final Map<String, Node> byId = new HashMap<>();
    private final TreeMap<Long, View> views = new TreeMap<>();
    private final List<Summary> summaries = new ArrayList<>();
    private final TreeMap<Long, Summary> newestSummaries = new TreeMap<>();
    private final Map<String, Lease> leases = new HashMap<>();
    private long epoch = 1;
    private long revision = 1;
    private long tokens;
    private @Nullable Instant lastMessageAt;
    private @Nullable Node head;
    private final TreeMap<String, Node> references = new TreeMap<>();
    private final TreeMap<LocalDate, Usage> usage = new TreeMap<>();

    /** What the stored content contradicts itself in. While there is any, the memory is neither read nor changed. */
    private final List<Damage> broken = new ArrayList<>();

    private @Nullable String lostHead;
    private int lostReferences;
    private @Nullable String title;
    private Map<String, String> metadata = Map.of();
    private @Nullable Instant createdAt;

    /**
     * An empty memory.
     *
     * @param key the memory
     * @param payloads how messages become text
     */
    public MemoryTree(MemoryKey key, Payloads payloads) {
        this.key = key;
        this.payloads = payloads;
    }

    /**
     * A memory from its stored content. If that contradicts itself, all methods but {@link #check}, {@link #repair},
     * {@link #info} and {@link #erase} throw {@link UnreadableDataException}. A parent that comes after its child is no
     * contradiction: an import may have brought it later.
     *
     * @param key the memory
     * @param payloads how messages become text
     * @param state what {@link #state()} gave
     */
    public MemoryTree(MemoryKey key, Payloads payloads, State state) {
        this(key, payloads);
        epoch = state.epoch();
        revision = state.revision();
        for (Entry entry : state.entries()) {
            if (entry.sequence() != nodes.size() + 1L || byId.containsKey(entry.id())) {
                found(
                        Damage.Kind.SEQUENCE,
                        entry,
                        "message number " + (nodes.size() + 1) + " has another number or a used id");
            }
            link(entry);
        }
        state.views().forEach(view -> views.put(view.anchorSequence(), view));
        for (Summary put : state.summaries()) {
            Summary summary = put.withVersion(Math.max(put.version(), nextVersion()));
            summaries.add(summary);
            Node covered = byId.get(summary.coversUpTo());
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
            found(Damage.Kind.HEAD, null, "the head " + lostHead + " is not there");
        }
        state.references().forEach((name, id) -> {
            Node end = byId.get(id);
            if (end == null) {
                lostReferences++;
                found(Damage.Kind.REFERENCE, null, "the branch " + name + " ends in " + id + ", which is not there");
            } else {
                references.put(name, end);
            }
        });
        views.values().stream().filter(view -> !isAnchored(view)).forEach(view -> broken.add(damaged(view)));
        summaries.stream().filter(summary -> !isCovering(summary)).forEach(summary -> broken.add(damaged(summary)));
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
     * @param append what to append
     * @param now the store's time
     * @return the result
     */
    public AppendResult append(Append append, Instant now) {
        requireSound();
        Instant time = InputRules.time("clock", now);
        AppendRules.checkEpoch(key, append.epoch(), epoch);
        Map<String, LoggedMessage> stored = new HashMap<>();
        for (NewMessage message : append.messages()) {
            Node there = byId.get(message.id());
            if (there != null) {
                stored.put(message.id(), logged(there));
            }
        }
        if (AppendRules.isReplay(key, append, stored)) {
            Node end = end(append.reference());
            return new AppendResult(id(end), position(end), 0, true);
        }
        Node before = end(append.reference());
        AppendRules.checkPosition(key, append, position(before));
        String parentId = parentId(append, before);
        AppendRules.checkView(key, append, byId::containsKey);
        // Encoding can refuse a message, so everything is encoded before anything is linked.
        List<String> texts = append.messages().stream()
                .map(NewMessage::message)
                .map(payloads.encode())
                .toList();
        View view = append.view();
        if (view != null && before == null && texts.isEmpty()) {
            throw new InvalidInputException("view", "cannot be set on memory " + key + ", which has no messages");
        }

        if (AppendRules.raisesRevision(append, parentId, id(before))) {
            revision++;
        }
        Node end = before;
        for (int i = 0; i < texts.size(); i++) {
            NewMessage message = append.messages().get(i);
            Instant made = message.createdAt();
            end = link(new Entry(
                    message.id(),
                    parentId,
                    nodes.size() + 1L,
                    texts.get(i),
                    message.message().type(),
                    message.tokens(),
                    message.tokenCounter(),
                    made == null ? time : made,
                    message.outcome(),
                    message.made(),
                    message.question()));
            parentId = message.id();
        }
        if (append.reference() == null) {
            head = end;
        } else if (end != before) {
            references.put(append.reference(), Objects.requireNonNull(end));
        }
        if (createdAt == null) {
            createdAt = time;
        }
        if (view != null) {
            setView(view.resolved(id(before)), end);
        }
        return new AppendResult(id(before), position(end), texts.isEmpty() ? 0 : nodes.size(), false);
    }

    /**
     * Does {@link MessageLog#read}.
     *
     * @param query the bounds
     * @return the tail
     */
    public Tail read(ReadQuery query) {
        requireSound();
        Node end = end(query.reference());
        Node start = query.from() == null ? end : existing("messageId", query.from());
        if (start == null) {
            return Tail.empty(position(end));
        }
        Node floor = null;
        if (query.after() != null) {
            floor = existing("after", query.after());
            if (!isOnBranch(floor.sequence(), start)) {
                throw UnknownMessageException.noAncestor(key, "after");
            }
        }
        long behind = floor == null ? 0 : floor.sequence();
        LoggedMessage system = loggedBehind(behind, start.system);
        LoggedMessage user = loggedBehind(behind, start.user);
        Summary summary = query.toSummary() ? newestSummary(start) : null;
        if (summary != null) {
            behind = Math.max(behind, existing("summary", summary.coversUpTo()).sequence());
        }

        List<LoggedMessage> messages = new ArrayList<>();
        long read = 0;
        Node node = start;
        Node oldest = start;
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
                viewInForce(start),
                summary,
                complete,
                node == null ? oldest.entry.parentId() : null);
    }

    /**
     * Does {@link MessageLog#find}.
     *
     * @param ids the ids
     * @return the messages that are there, in order of sequence
     */
    public List<LoggedMessage> find(Collection<String> ids) {
        requireSound();
        return ids.stream()
                .distinct()
                .map(byId::get)
                .filter(Objects::nonNull)
                .sorted(Comparator.comparingLong(Node::sequence))
                .map(this::logged)
                .toList();
    }

    /**
     * Does {@link MessageLog#findAt}.
     *
     * @param sequences the sequences
     * @return the messages that are there, in order of sequence
     */
    public List<LoggedMessage> findAt(Collection<Long> sequences) {
        requireSound();
        return sequences.stream()
                .distinct()
                .filter(sequence -> sequence >= 1 && sequence <= nodes.size())
                .sorted()
                .map(sequence -> logged(nodes.get(Math.toIntExact(sequence - 1))))
                .toList();
    }

    /**
     * Does {@link MessageLog#onBranch}.
     *
     * @param sequences the sequences
     * @return those on the current branch
     */
    public Set<Long> onBranch(Collection<Long> sequences) {
        requireSound();
        Node end = head;
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
        Map<Node, Integer> children = new HashMap<>();
        nodes.forEach(node -> {
            if (node.parent != null) {
                children.merge(node.parent, 1, Integer::sum);
            }
        });
        Map<Node, List<String>> names = new HashMap<>();
        references.forEach((name, end) ->
                names.computeIfAbsent(end, any -> new ArrayList<>()).add(name));
        List<Branch> branches = new ArrayList<>();
        for (int i = nodes.size() - 1; i >= 0; i--) {
            Node node = nodes.get(i);
            if (!children.containsKey(node)) {
                Node first = node;
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
     * Does {@link MessageLog#moveHead}.
     *
     * @param messageId the new head
     * @param expectedEpoch the epoch that must be in force, or null
     * @return the head from before
     */
    public String moveHead(String messageId, @Nullable Long expectedEpoch) {
        requireSound();
        AppendRules.checkEpoch(key, expectedEpoch, epoch);
        Node target = existing("messageId", messageId);
        String before = head == null ? messageId : head.entry.id();
        head = target;
        revision++;
        return before;
    }

    /**
     * Does {@link MessageLog#moveBranch}.
     *
     * @param name the branch's name
     * @param messageId its new newest message
     * @param expectedEpoch the epoch that must be in force, or null
     */
    public void moveBranch(String name, String messageId, @Nullable Long expectedEpoch) {
        requireSound();
        AppendRules.checkEpoch(key, expectedEpoch, epoch);
        references.put(name, existing("messageId", messageId));
    }

    /**
     * Does {@link MessageLog#branchEnd}.
     *
     * @param name the branch's name
     * @return the id of its newest message, or empty
     */
    public Optional<String> branchEnd(String name) {
        requireSound();
        return Optional.ofNullable(id(references.get(name)));
    }

    /**
     * Does {@link MessageLog#setOutcome}.
     *
     * @param messageId the message
     * @param outcome how it ended, or null
     * @param expectedEpoch the epoch that must be in force, or null
     */
    public void setOutcome(String messageId, @Nullable Outcome outcome, @Nullable Long expectedEpoch) {
        requireSound();
        AppendRules.checkEpoch(key, expectedEpoch, epoch);
        Node node = existing("messageId", messageId);
        if (!Objects.equals(node.entry.outcome(), outcome)) {
            node.entry = node.entry.withOutcome(outcome);
            revision++;
        }
    }

    /**
     * Does {@link MessageLog#made}.
     *
     * @param messageId the message
     * @return what is kept beside it, or empty
     */
    public Optional<Made> made(String messageId) {
        requireSound();
        return existing("messageId", messageId).entry.made().ifKnown();
    }

    /**
     * Returns what this memory adds to {@link MessageLog#usage}.
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
     * Does {@link MessageLog#describe}.
     *
     * @param newTitle the title, or null
     * @param newMetadata short texts by name
     * @param now the store's time
     */
    public void describe(@Nullable String newTitle, Map<String, String> newMetadata, Instant now) {
        requireSound();
        InputRules.checkDescription(newTitle, newMetadata);
        Instant time = InputRules.time("clock", now);
        title = newTitle;
        metadata = Map.copyOf(newMetadata);
        if (createdAt == null) {
            createdAt = time;
        }
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
     * Does {@link MessageLog#setTitle}.
     *
     * @param newTitle the title, or null
     * @param now the store's time
     */
    public void setTitle(@Nullable String newTitle, Instant now) {
        describe(newTitle, metadata, now);
    }

    /**
     * Does {@link MessageLog#mergeMetadata} for changes that make a difference.
     *
     * @param changes texts by name; null removes a name
     * @param now the store's time
     * @return the metadata after the changes
     */
    public Map<String, String> mergeMetadata(Map<String, @Nullable String> changes, Instant now) {
        describe(title, Metadata.merged(metadata, changes), now);
        return metadata;
    }

    /**
     * Does {@link MessageLog#details}.
     *
     * @return the details
     */
    public MemoryDetails details() {
        requireSound();
        return new MemoryDetails(info().orElse(null), ends(), List.copyOf(views.values()));
    }

    /**
     * Returns what a list shows.
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
     * Does {@link MessageLog#putSummary}.
     *
     * @param summary the summary
     * @param expectedEpoch the epoch that must be in force
     */
    public void putSummary(Summary summary, long expectedEpoch) {
        requireSound();
        AppendRules.checkEpoch(key, expectedEpoch, epoch);
        Node covered = existing("coversUpTo", summary.coversUpTo());
        Summary stored = summary.withVersion(nextVersion());
        newestSummaries.put(covered.sequence(), stored);
        summaries.add(stored);
    }

    /**
     * Does {@link MessageLog#summaries}.
     *
     * @return all versions
     */
    public List<Summary> summaries() {
        requireSound();
        return List.copyOf(summaries);
    }

    /**
     * Does {@link MessageLog#acquireLease}.
     *
     * @param name the kind of work
     * @param owner who asks
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
     */
    public void releaseLease(String name, String owner) {
        requireSound();
        LeaseRules.release(leases, name, owner);
    }

    /**
     * Returns whether {@link MessageLog#eraseIfIdle} erases this memory.
     *
     * @param since the time
     * @return whether it exists and was last used before the time
     */
    public boolean isIdle(Instant since) {
        // Throws if it cannot be read: nothing goes that may be repaired.
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
        leases.clear();
        broken.clear();
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
        return damage(unreadable());
    }

    /**
     * Does {@link MessageLog#check} where already the attempt to load the memory may fail.
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

    /**
     * Does {@link MessageLog#repair}.
     *
     * @return what was done
     */
    public Repair repair() {
        Map<Node, Damage> unreadable = unreadable();
        List<Damage> damage = damage(unreadable);
        if (broken.stream().anyMatch(each -> each.kind() == Damage.Kind.SEQUENCE)) {
            requireSound();
        }
        String before = lostHead == null ? id(head) : lostHead;
        boolean marks = false;
        for (Node node : unreadable.keySet()) {
            marks |= !Outcome.UNREADABLE.equals(node.entry.outcome());
            node.entry = node.entry.withOutcome(Outcome.UNREADABLE);
        }
        if (lostHead != null) {
            head = nodes.isEmpty() ? null : nodes.get(nodes.size() - 1);
        }
        int viewsBefore = views.size();
        views.values().removeIf(view -> !isAnchored(view) || !byId.keySet().containsAll(view.names()));
        int summariesBefore = summaries.size();
        summaries.removeIf(summary -> !isCovering(summary));
        int referencesBefore = references.size() + lostReferences;
        Repair repair = new Repair(
                damage,
                before,
                id(head),
                viewsBefore - views.size(),
                summariesBefore - summaries.size(),
                referencesBefore - references.size());
        if (marks
                || repair.droppedViews() + repair.droppedSummaries() + repair.droppedReferences() > 0
                || !Objects.equals(before, id(head))) {
            revision++;
        }
        broken.clear();
        lostHead = null;
        lostReferences = 0;
        return repair;
    }

    private List<Damage> damage(Map<Node, Damage> unreadable) {
        List<Damage> damage = new ArrayList<>(broken);
        damage.addAll(unreadable.values());
        views.values().stream()
                .filter(view -> isAnchored(view) && !byId.keySet().containsAll(view.names()))
                .forEach(view -> damage.add(damaged(view)));
        return List.copyOf(damage.subList(0, Math.min(damage.size(), Damage.MAX_REPORTED)));
    }

    private Map<Node, Damage> unreadable() {
        Map<Node, Damage> unreadable = new LinkedHashMap<>();
        for (Node node : nodes) {
            try {
                ChatMessage unused = payloads.decode().apply(node.entry.payload());
            } catch (UnreadableDataException e) {
                unreadable.put(
                        node,
                        new Damage(
                                Damage.Kind.MESSAGE, node.sequence(), node.entry.id(), "the message cannot be read"));
            }
        }
        return unreadable;
    }

    private long nextVersion() {
        return summaries.isEmpty() ? 1 : summaries.get(summaries.size() - 1).version() + 1;
    }

    private boolean isAnchored(View view) {
        Node anchor = byId.get(view.anchor());
        return anchor != null && anchor.sequence() == view.anchorSequence();
    }

    private boolean isCovering(Summary summary) {
        return byId.containsKey(summary.coversUpTo());
    }

    private static Damage damaged(View view) {
        return new Damage(
                Damage.Kind.VIEW, view.anchorSequence(), view.anchor(), "the view names a message that is not there");
    }

    private static Damage damaged(Summary summary) {
        return new Damage(
                Damage.Kind.SUMMARY,
                null,
                summary.coversUpTo(),
                "the summary covers up to a message that is not there");
    }

    private void found(Damage.Kind kind, @Nullable Entry entry, String problem) {
        broken.add(new Damage(
                kind, entry == null ? null : (Long) entry.sequence(), entry == null ? null : entry.id(), problem));
    }

    private void requireSound() {
        if (!broken.isEmpty()) {
            throw new UnreadableDataException(
                    "Memory " + key + " is damaged: " + broken.get(0).problem()
                            + ". Nothing is written over it: check() lists the damage, repair() mends it",
                    null);
        }
    }

    /** From run to run back to where the branch begins; depth tells which of a run's messages are among the first. */
    private List<LoggedMessage> oldest(Node start, @Nullable Node floor, int wanted) {
        long first = floor == null ? 1 : floor.depth + 1;
        long last = first + wanted - 1;
        List<LoggedMessage> newestFirst = new ArrayList<>();
        for (Node end = start; wanted > 0 && end != null && end.depth >= first; end = end.runStart.parent) {
            for (long depth = Math.min(end.depth, last); depth >= Math.max(end.runStart.depth, first); depth--) {
                newestFirst.add(logged(nodes.get((int) (end.sequence() - (end.depth - depth)) - 1)));
            }
        }
        Collections.reverse(newestFirst);
        return newestFirst;
    }

    private Node link(Entry entry) {
        Node node = new Node(entry, entry.parentId() == null ? null : byId.get(entry.parentId()));
        nodes.add(node);
        byId.put(entry.id(), node);
        tokens += entry.tokens();
        lastMessageAt = later(lastMessageAt, entry.createdAt());
        Usage used = entry.made().usage();
        if (used != null) {
            usage.merge(AppendRules.day(entry.createdAt()), used, Usage::plus);
        }
        return node;
    }

    private static Instant later(@Nullable Instant one, Instant other) {
        return one != null && one.isAfter(other) ? one : other;
    }

    private void setView(View view, @Nullable Node end) {
        Node anchor = existing("view anchor", view.anchor() == null ? Objects.requireNonNull(id(end)) : view.anchor());
        views.put(anchor.sequence(), new View(anchor.entry.id(), anchor.sequence(), view.runs(), view.summary()));
    }

    private @Nullable LoggedMessage loggedBehind(long sequence, @Nullable Node node) {
        return node != null && node.sequence() > sequence ? logged(node) : null;
    }

    private @Nullable View viewInForce(Node start) {
        return newestOnBranch(views, start);
    }

    private @Nullable Summary newestSummary(Node start) {
        return newestOnBranch(newestSummaries, start);
    }

    /** Goes from run to run: within a run, without gaps, everything is on the branch. */
    private static <T> @Nullable T newestOnBranch(NavigableMap<Long, T> bySequence, Node end) {
        Node node = end;
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

    private static boolean isOnBranch(long sequence, Node end) {
        Node node = end;
        while (node != null && node.runStart.sequence() > sequence) {
            node = node.runStart.parent;
        }
        return node != null && node.sequence() >= sequence;
    }

    /** The newest message of a named branch, or the head. */
    private @Nullable Node end(@Nullable String reference) {
        return reference == null ? head : references.getOrDefault(reference, head);
    }

    private Map<String, String> ends() {
        Map<String, String> ends = new TreeMap<>();
        references.forEach((name, end) -> ends.put(name, end.entry.id()));
        return ends;
    }

    private @Nullable String parentId(Append append, @Nullable Node end) {
        Parent parent = append.parent();
        if (parent instanceof Parent.Head) {
            return id(end);
        }
        if (parent instanceof Parent.Root) {
            return null;
        }
        String named = ((Parent.Of) parent).id();
        if (named.equals(Ids.BEFORE_IN_TIME)) {
            return nodes.isEmpty() ? null : nodes.get(nodes.size() - 1).entry.id();
        }
        if (!byId.containsKey(named) && !append.importing()) {
            throw new UnknownParentException(key, named);
        }
        return named;
    }

    private Node existing(String field, String id) {
        Node node = byId.get(id);
        if (node == null) {
            throw UnknownMessageException.notThere(key, field, id);
        }
        return node;
    }

    private LoggedMessage logged(Node node) {
        Entry entry = node.entry;
        try {
            return new LoggedMessage(
                    entry.id(),
                    entry.parentId(),
                    entry.sequence(),
                    Outcome.UNREADABLE.equals(entry.outcome())
                            ? UnknownMessage.unreadable()
                            : payloads.decode().apply(entry.payload()),
                    entry.tokens(),
                    entry.tokenCounter(),
                    entry.createdAt(),
                    entry.outcome(),
                    entry.question());
        } catch (UnreadableDataException e) {
            throw AppendRules.unreadable(key, entry.id(), e);
        }
    }

    private Position position(@Nullable Node end) {
        return new Position(epoch, revision, id(end));
    }

    private static @Nullable String id(@Nullable Node node) {
        return node == null ? null : node.entry.id();
    }
}

package io.github.keepsake4j.workflow;

import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Determines the place of a turn in a node's memory, based on one read of the memory. Messages that the read does not
 * show are requested by id, many at once and each at most once. Only if a parent has to be bridged, one page of all
 * branches is searched.
 */
final class NodeTurnParent {

    private static final Logger LOG = LoggerFactory.getLogger(NodeTurnParent.class);

    private static final int PAGE = 500;
    private static final int ITERATIONS_AT_ONCE = 16;

    private final MessageLog log;
    private final MemoryKey key;
    private final @Nullable MessageLog conversations;
    private final Tail tail;

    /** The sequence up to which the messages were cleared. */
    private final long floor;

    /** The messages that were read, by id. Ids that are known not to be stored are empty. */
    private final Map<String, Optional<LoggedMessage>> known = new HashMap<>();

    /** The ancestors that the conversation's log returned, by message. */
    private final Map<String, Optional<Ancestors>> ancestorsOf = new HashMap<>();

    private @Nullable List<LoggedMessage> page;
    private boolean pageIsAll;

    /** Reads a memory of turns. A conversation's own memory needs no other log to place them. */
    NodeTurnParent(MessageLog log, MemoryKey key, @Nullable MessageLog conversations, HistoryBounds bounds) {
        this.log = log;
        this.key = key;
        this.conversations = conversations;
        this.tail = bounds.read(log, key, null);
        View view = tail.view();
        this.floor = view != null && view.showsNothing() ? view.anchorSequence() : 0;
        tail.messages().forEach(this::remember);
    }

    long epoch() {
        return tail.epoch();
    }

    /** Returns the thread that ends in a message of this memory. */
    List<LoggedMessage> thread(String end, HistoryBounds bounds) {
        Tail thread = end.equals(tail.head()) ? tail : bounds.read(log, key, end);
        if (thread.missingParent() != null) {
            LOG.warn("Memory {}: the thread's oldest message names a missing parent", key);
        }
        return thread.messages().stream().filter(this::isShown).toList();
    }

    /**
     * The place of a turn, without its own iterations.
     *
     * @param end the message before the turn, or null if there is none
     * @param newest whether the newest message was chosen only because the turn's predecessor is unknown
     */
    private record End(@Nullable String end, boolean newest) {}

    /**
     * Returns the message after which a turn is placed, without its own iterations, or null if the turn comes first.
     */
    @Nullable
    String end(NodeTurn turn) {
        return place(turn).end();
    }

    /** Returns whether a turn's predecessor is unknown, so that the turn is placed after the newest message. */
    boolean isUnplaced(NodeTurn turn) {
        return place(turn).newest();
    }

    private End place(NodeTurn turn) {
        if (turn.parentKnown()) {
            return new End(behindParent(turn.messageId(), turn.parentMessageId()), false);
        }
        String first = firstIteration(turn.messageId());
        if (first != null) {
            return new End(before(first), false);
        }
        End behind = behindAncestors(turn.messageId(), false);
        return behind != null ? behind : new End(tail.messages().isEmpty() ? null : tail.head(), true);
    }

    /**
     * Returns the place that the conversation's log determines, or null if the log does not know the message well
     * enough.
     */
    private @Nullable End behindAncestors(String row, boolean answered) {
        Ancestors ancestors = ancestors(row, answered);
        String seen = ancestors == null ? null : newestKnown(ancestors.ids());
        return seen != null || (ancestors != null && ancestors.complete()) ? new End(seen, false) : null;
    }

    private @Nullable String behindParent(String messageId, @Nullable String parent) {
        if (parent == null) {
            return null;
        }
        if (parent.equals(Ids.BEFORE_IN_TIME)) {
            return newestOutside(messageId, null);
        }
        String seen = lastIteration(parent);
        if (seen != null) {
            return seen;
        }
        End bridge = behindAncestors(parent, true);
        return bridge != null ? bridge.end() : newestOutside(messageId, parent);
    }

    /**
     * Returns a run for a read. A run that is already stored, even if it was cleared, gets its own iteration.
     */
    NodeTurn asStored(NodeTurn turn) {
        String runKey = turn.runKey();
        int iteration = runKey == null || turn.iteration() > 0 ? 0 : storedIteration(turn, runKey);
        return iteration == 0 ? turn : turn.inIteration(iteration);
    }

    /** Returns the iteration that a run stored, even if it was cleared, or 0. */
    int storedIteration(NodeTurn turn, String runKey) {
        String messageId = turn.messageId();
        if (isFirst(turn)) {
            return 0;
        }
        for (int i = 1; ; i++) {
            LoggedMessage answer = iteration(messageId, i);
            if (answer == null) {
                return 0;
            }
            String userId = NodeTurn.userId(answer.id());
            if (!known.containsKey(userId)) {
                load(answerIds(messageId, i).map(NodeTurn::userId));
            }
            LoggedMessage user = there(userId);
            boolean isSame = Stream.of(Optional.ofNullable(user), Optional.of(answer))
                    .flatMap(Optional::stream)
                    .anyMatch(message -> runKey.equals(PendingTurn.runKey(message.message())));
            if (isSame) {
                return i;
            }
        }
    }

    /**
     * Returns whether turns for other messages follow the turns for this one. Then the run for this message has ended.
     * If more than a page of messages was stored since, this is assumed.
     */
    boolean isFollowed(NodeTurn turn) {
        String messageId = turn.messageId();
        if (isHead(messageId) || isFirst(turn)) {
            return false;
        }
        // One request for the message and its parent, which will be looked for next.
        load(Stream.of(messageId, turn.parentMessageId())
                .filter(Objects::nonNull)
                .flatMap(id -> answerIds(id, 1)));
        String lastId = lastIteration(messageId);
        LoggedMessage last = lastId == null ? null : find(lastId);
        return last != null
                && (page().get(0).sequence() > last.sequence()
                        || page().stream().anyMatch(next -> last.id().equals(next.parentId())));
    }

    /** Returns the message after which a named iteration is placed. Later iterations may already be stored. */
    @Nullable
    String endBefore(NodeTurn turn, String last) {
        String messageId = turn.messageId();
        String end = last;
        int iteration = NodeTurn.iterationOf(messageId, last);
        while (end != null && iteration >= turn.iteration()) {
            if (!known.containsKey(NodeTurn.userId(end))) {
                int oldest = Math.max(turn.iteration(), iteration - ITERATIONS_AT_ONCE);
                load(IntStream.rangeClosed(oldest, iteration)
                        .mapToObj(i -> NodeTurn.answerId(messageId, i))
                        .flatMap(answerId -> Stream.of(answerId, NodeTurn.userId(answerId))));
            }
            end = before(end);
            iteration = end == null ? 0 : NodeTurn.iterationOf(messageId, end);
        }
        return end;
    }

    /** Returns the message before a stored turn, or null if that message is not shown. */
    private @Nullable String before(String answerId) {
        LoggedMessage user = userOf(answerId);
        String before = user == null ? null : user.parentId();
        return before == null || find(before) == null ? null : before;
    }

    /** Returns the user message that begins a stored turn. Other programs that write turns may give it any id. */
    private @Nullable LoggedMessage userOf(String answerId) {
        LoggedMessage answer = find(answerId);
        if (answer == null) {
            return null;
        }
        LoggedMessage user = NodeTurn.isPart(answerId, answer.parentId())
                ? there(NodeTurn.userId(answerId))
                : log.read(key, ReadQuery.newest(0).endingIn(answerId)).user();
        return user != null && isShown(user) ? user : null;
    }

    /** Returns whether the turn's parent is a message that this node never saw. */
    boolean isBridged(NodeTurn turn) {
        String parent = turn.parentMessageId();
        return parent != null && !parent.equals(Ids.BEFORE_IN_TIME) && lastIteration(parent) == null;
    }

    /** Returns the parent for a turn without stored messages. */
    Parent parent(NodeTurn turn) {
        End place = place(turn);
        if (place.newest()) {
            // Messages that reached the head since this read are before the turn too.
            return Parent.head();
        }
        if (place.end() != null) {
            return Parent.of(place.end());
        }
        // The turn goes after the cleared messages, because otherwise a later reader could not find out that those were
        // cleared.
        View view = tail.view();
        return floor > 0 && view != null && view.anchor() != null ? Parent.of(view.anchor()) : Parent.root();
    }

    /** Returns the id of the turn's own last iteration, or null if there is none. */
    @Nullable
    String lastIteration(NodeTurn turn) {
        return isFirst(turn) ? null : lastIteration(turn.messageId());
    }

    /**
     * Returns whether a turn is assumed to be the first one of its message, because it directly follows the head. Then
     * an iteration can only be on another branch or have been appended at this moment. The append detects that case, so
     * no extra request is made for it. A turn that names its iteration implies that there are others.
     */
    private boolean isFirst(NodeTurn turn) {
        return turn.iteration() == 0 && follows(turn) && !isHead(turn.messageId());
    }

    /**
     * Returns whether a turn is placed directly after the newest message. Then this read can place it even if it was
     * made before the model was called. At any other place, another writer may have appended messages since the read,
     * or cleared the messages there.
     */
    boolean isBehindHead(NodeTurn turn) {
        return isHead(turn.messageId()) || (turn.iteration() == 0 && (follows(turn) || isUnplaced(turn)));
    }

    private boolean follows(NodeTurn turn) {
        String parent = turn.parentMessageId();
        return turn.parentKnown() && (parent == null ? tail.head() == null : isHead(parent));
    }

    /**
     * Returns the id of the iteration of a message that was stored last, or null if there is none. Named iterations may
     * be stored in any order.
     */
    @Nullable
    String lastIteration(String messageId) {
        return isHead(messageId)
                ? tail.head()
                : iterations(messageId)
                        .max(Comparator.comparingLong(LoggedMessage::sequence))
                        .map(LoggedMessage::id)
                        .orElse(null);
    }

    /** Returns the id of a message's first iteration that is shown, or null. */
    private @Nullable String firstIteration(String messageId) {
        return iterations(messageId).findFirst().map(LoggedMessage::id).orElse(isHead(messageId) ? tail.head() : null);
    }

    /**
     * Returns a message's iterations that are shown, by number. Cleared ones are only skipped, because their ids are
     * taken. Makes requests only as far as the stream is read.
     */
    private Stream<LoggedMessage> iterations(String messageId) {
        return IntStream.iterate(1, i -> i + 1)
                .mapToObj(i -> iteration(messageId, i))
                .takeWhile(Objects::nonNull)
                .filter(this::isShown);
    }

    /** Returns an iteration of a message even if it was cleared, or null if it is not stored. */
    private @Nullable LoggedMessage iteration(String messageId, int number) {
        String id = NodeTurn.answerId(messageId, number);
        if (!known.containsKey(id)) {
            load(answerIds(messageId, number));
        }
        return there(id);
    }

    private static Stream<String> answerIds(String messageId, int first) {
        return IntStream.range(first, first + ITERATIONS_AT_ONCE).mapToObj(i -> NodeTurn.answerId(messageId, i));
    }

    /** Returns whether the head is an iteration of a message. Nothing can follow the head. */
    private boolean isHead(String messageId) {
        String head = tail.head();
        return head != null && !tail.messages().isEmpty() && NodeTurn.iterationOf(messageId, head) > 0;
    }

    /**
     * Returns the newest message that neither belongs to this turn nor follows a turn that names the same unknown
     * parent.
     */
    private @Nullable String newestOutside(String messageId, @Nullable String parent) {
        Set<String> siblings = new HashSet<>();
        String newest = null;
        for (LoggedMessage logged : page()) {
            if (!isShown(logged)) {
                continue;
            }
            boolean own = logged.id().equals(NodeTurn.userId(messageId));
            if (own
                    || (parent != null && parent.equals(PendingTurn.namedParent(logged.message())))
                    || (logged.parentId() != null && siblings.contains(logged.parentId()))) {
                siblings.add(logged.id());
            } else {
                newest = logged.id();
            }
        }
        return newest;
    }

    private @Nullable String newestKnown(List<String> ancestors) {
        // A question's own id is the id of a turn only if an engine ran the node for it.
        List<String> newestFirst = ancestors.stream()
                .flatMap(id -> Stream.of(id, Ids.rowOf(id)))
                .filter(NodeTurn::isMessageId)
                .distinct()
                .toList();
        // The page contains most memories completely. Then the following look-ups make no request.
        page();
        load(newestFirst.stream());
        // A message whose first iteration was cleared may have iterations that were not.
        load(newestFirst.stream()
                .filter(id -> there(id) != null && find(id) == null)
                .map(id -> NodeTurn.answerId(id, 2)));
        return newestFirst.stream()
                .map(this::lastIteration)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /**
     * The messages of the conversation up to a given one, newest first, and whether they reach back to its beginning.
     */
    private record Ancestors(List<String> ids, boolean complete) {}

    private @Nullable Ancestors ancestors(String row, boolean answered) {
        return conversations == null || !(key instanceof NodeKey node)
                ? null
                : ancestorsOf
                        .computeIfAbsent(row, id -> Optional.ofNullable(ancestors(conversations, node, id, answered)))
                        .orElse(null);
    }

    /**
     * Reads up to a row. A row that is expected to be answered is read at once and looked up only if that fails. The row
     * of a run that begins has no answer yet, so it is looked up first.
     */
    private @Nullable Ancestors ancestors(MessageLog conversations, NodeKey node, String row, boolean answered) {
        MemoryKey conversation = ConversationKey.of(node.tenant(), node.conversationId());
        String end = answered
                ? row
                : StoredRow.find(conversations, conversation, row).last();
        if (end == null) {
            return null;
        }
        try {
            Tail thread =
                    conversations.read(conversation, ReadQuery.newest(PAGE).endingIn(end));
            List<String> ids = new ArrayList<>();
            thread.messages().forEach(logged -> ids.add(0, logged.id()));
            return new Ancestors(ids, thread.complete() && thread.missingParent() == null);
        } catch (UnknownMessageException e) {
            if (!answered) {
                throw e;
            }
            LOG.debug("Memory {}: no answer of message {} is stored", conversation, row);
            return ancestors(conversations, node, row, false);
        }
    }

    private @Nullable LoggedMessage find(String id) {
        LoggedMessage logged = there(id);
        return logged != null && isShown(logged) ? logged : null;
    }

    /** Returns the message that is stored under an id, even if it was cleared. */
    private @Nullable LoggedMessage there(String id) {
        load(Stream.of(id));
        return known.getOrDefault(id, Optional.empty()).orElse(null);
    }

    /** Requests all messages that are not known yet, at once. */
    private void load(Stream<String> ids) {
        Set<String> unknown =
                pageIsAll ? Set.of() : ids.filter(id -> !known.containsKey(id)).collect(Collectors.toSet());
        if (unknown.isEmpty()) {
            return;
        }
        List<LoggedMessage> found = Reads.messages(log, key, unknown);
        unknown.forEach(id -> known.put(id, Optional.empty()));
        found.forEach(this::remember);
    }

    private void remember(LoggedMessage logged) {
        known.put(logged.id(), Optional.of(logged));
    }

    /** Returns the newest messages of all branches, in the order of their sequence. */
    private List<LoggedMessage> page() {
        if (page == null) {
            HistoryPage newest = log.history(key, HistoryQuery.newest(PAGE));
            page = newest.messages();
            page.forEach(this::remember);
            pageIsAll = newest.next().isEmpty();
        }
        return page;
    }

    /** Returns whether a stored message was not cleared. */
    private boolean isShown(LoggedMessage logged) {
        return logged.sequence() > floor;
    }
}

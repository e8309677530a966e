package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.log.ViewReader;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the place of a turn in a node's memory, as one read of it shows it. What that read does not show is asked for by
 * id, once; only where a parent has to be bridged, one page of all branches is looked through.
 */
final class NodeBranch {

    /**
     * What a bridged turn's user message remembers: the parent that this node never saw. Turns with the same one are
     * siblings.
     */
    static final String NAMED_PARENT = "keepsake_parent_message_id";

    private static final Logger LOG = LoggerFactory.getLogger(NodeBranch.class);

    private static final int PAGE = 500;
    private static final int MOST_PROBES = 50;

    private final MessageLog log;
    private final NodeKey key;
    private final @Nullable MessageLog conversations;
    private final Tail tail;

    /** What was cleared stands up to this sequence. */
    private final long floor;

    /** What was asked for by id, found or not. */
    private final Map<String, Optional<LoggedMessage>> asked = new HashMap<>();

    private @Nullable Map<String, LoggedMessage> page;
    private boolean pageIsAll;

    private NodeBranch(MessageLog log, NodeKey key, @Nullable MessageLog conversations, Tail tail) {
        this.log = log;
        this.key = key;
        this.conversations = conversations;
        this.tail = tail;
        View view = tail.view();
        this.floor = view != null && view.runs().isEmpty() && view.summary() == null ? view.anchorSequence() : 0;
    }

    static NodeBranch read(MessageLog log, NodeKey key, @Nullable MessageLog conversations, ReadQuery query) {
        return new NodeBranch(log, key, conversations, ViewReader.read(log, key, query));
    }

    static boolean exists(MessageLog log, MemoryKey key, String id) {
        return stored(log, key, id) != null;
    }

    long epoch() {
        return tail.epoch();
    }

    /** The thread that ends in a message of this memory. */
    List<LoggedMessage> thread(String end, ReadQuery query) {
        Tail thread = end.equals(tail.head()) ? tail : ViewReader.read(log, key, query.endingIn(end));
        if (thread.missingParent() != null) {
            LOG.warn("Memory {}: the thread's oldest message names a parent that is not there", key);
        }
        return thread.messages().stream().filter(this::isShown).toList();
    }

    /** The message behind which a turn stands, without its own iterations; null if nothing stands before it. */
    @Nullable
    String end(NodeTurn turn) {
        if (turn.parentKnown()) {
            String parent = turn.parentMessageId();
            if (parent == null) {
                return null;
            }
            if (parent.equals(Ids.BEFORE_IN_TIME)) {
                return newestOutside(turn.messageId(), null);
            }
            String seen = lastIteration(parent);
            return seen != null ? seen : bridge(turn.messageId(), parent);
        }
        if (isHead(turn.messageId()) || find(turn.messageId()) != null) {
            LoggedMessage user = userOf(turn.messageId());
            String before = user == null ? null : user.parentId();
            return before == null || find(before) == null ? null : before;
        }
        Ancestors ancestors = ancestors(turn.messageId());
        if (ancestors != null) {
            String known = newestKnown(ancestors.ids());
            if (known != null || ancestors.complete()) {
                return known;
            }
        }
        return tail.messages().isEmpty() ? null : tail.head();
    }

    /** Whether the turn's parent is one that this node never saw. */
    boolean isBridged(NodeTurn turn) {
        String parent = turn.parentMessageId();
        return parent != null && !parent.equals(Ids.BEFORE_IN_TIME) && lastIteration(parent) == null;
    }

    /** Where a turn goes of which nothing is there yet. */
    Parent parent(NodeTurn turn, @Nullable String end) {
        if (end != null) {
            return Parent.of(end);
        }
        // Behind what was cleared, or nobody could tell later that it was.
        View view = tail.view();
        if (floor > 0 && view != null && view.anchor() != null) {
            return Parent.of(view.anchor());
        }
        return turn.parentKnown() ? Parent.root() : Parent.head();
    }

    /**
     * The id of a turn's own last iteration, or null if it is not there. Right behind the head there can only be one that
     * another branch holds, or one of this moment: the append finds out, and looking for it would be one more request.
     */
    @Nullable
    String lastIteration(NodeTurn turn) {
        String parent = turn.parentMessageId();
        boolean follows = turn.parentKnown() && (parent == null ? tail.head() == null : isHead(parent));
        return follows && !isHead(turn.messageId()) ? null : lastIteration(turn.messageId());
    }

    /** What this read shows of a turn that ends in a message, or null if it does not show so many messages. */
    @Nullable
    List<LoggedMessage> shown(String end, int messages) {
        int size = tail.messages().size();
        boolean holds = end.equals(tail.head()) && (size >= messages || tail.complete());
        return holds ? tail.messages().subList(Math.max(0, size - messages), size) : null;
    }

    /** The id of a message's last iteration, or null if it is not there. */
    @Nullable
    String lastIteration(String messageId) {
        if (isHead(messageId)) {
            return tail.head();
        }
        if (find(messageId) == null) {
            return null;
        }
        int last = 1;
        while (find(NodeTurn.answerId(messageId, last + 1)) != null) {
            last++;
        }
        return NodeTurn.answerId(messageId, last);
    }

    /** Whether the head is an iteration of a message: nothing can be behind it. */
    private boolean isHead(String messageId) {
        String head = tail.head();
        return head != null && !tail.messages().isEmpty() && NodeTurn.iterationOf(messageId, head) > 0;
    }

    /** The message that a stored turn begins with. Others who write turns give it an id that says nothing. */
    private @Nullable LoggedMessage userOf(String answerId) {
        LoggedMessage ours = find(NodeTurn.userId(answerId));
        if (ours != null) {
            return ours;
        }
        LoggedMessage at = find(answerId);
        for (int step = 0; step < MOST_PROBES && at != null && !(at.message() instanceof UserMessage); step++) {
            at = at.parentId() == null ? null : find(at.parentId());
        }
        return at;
    }

    private @Nullable String bridge(String messageId, String parent) {
        Ancestors ancestors = ancestors(parent);
        if (ancestors != null) {
            String known = newestKnown(ancestors.ids());
            if (known != null || ancestors.complete()) {
                return known;
            }
        }
        return newestOutside(messageId, parent);
    }

    /** The newest message that is neither this turn's, nor behind a turn that names the same unknown parent. */
    private @Nullable String newestOutside(String messageId, @Nullable String parent) {
        Set<String> siblings = new HashSet<>();
        String newest = null;
        for (LoggedMessage logged : page().values()) {
            boolean own = logged.id().equals(NodeTurn.userId(messageId));
            if (own
                    || (parent != null && parent.equals(namedParent(logged)))
                    || (logged.parentId() != null && siblings.contains(logged.parentId()))) {
                siblings.add(logged.id());
            } else {
                newest = logged.id();
            }
        }
        return newest;
    }

    private static @Nullable Object namedParent(LoggedMessage logged) {
        return logged.message() instanceof UserMessage user ? user.attributes().get(NAMED_PARENT) : null;
    }

    private @Nullable String newestKnown(List<String> newestFirst) {
        int probes = 0;
        for (String id : newestFirst) {
            if (page().containsKey(id) || (!pageIsAll && probes++ < MOST_PROBES)) {
                String known = lastIteration(id);
                if (known != null) {
                    return known;
                }
            }
        }
        return null;
    }

    /** Messages of the conversation up to one, newest first, and whether they reach back to its beginning. */
    private record Ancestors(List<String> ids, boolean complete) {}

    private @Nullable Ancestors ancestors(String messageId) {
        if (conversations == null) {
            return null;
        }
        MemoryKey conversation = ConversationKey.of(key.tenant(), key.conversationId());
        if (!exists(conversations, conversation, messageId)) {
            return null;
        }
        Tail thread = conversations.read(conversation, ReadQuery.newest(PAGE).endingIn(messageId));
        List<String> ids = new ArrayList<>();
        thread.messages().forEach(logged -> ids.add(0, logged.id()));
        return new Ancestors(ids, thread.complete() && thread.missingParent() == null);
    }

    private @Nullable LoggedMessage find(String id) {
        for (int i = tail.messages().size() - 1; i >= 0; i--) {
            LoggedMessage logged = tail.messages().get(i);
            if (logged.id().equals(id)) {
                return isShown(logged) ? logged : null;
            }
        }
        LoggedMessage onPage = page == null ? null : page.get(id);
        if (onPage != null || pageIsAll) {
            return onPage;
        }
        return asked.computeIfAbsent(
                        id, i -> Optional.ofNullable(stored(log, key, i)).filter(this::isShown))
                .orElse(null);
    }

    /** The newest messages of all branches, by sequence. */
    private Map<String, LoggedMessage> page() {
        if (page == null) {
            HistoryPage newest = log.history(key, HistoryQuery.newest(PAGE));
            Map<String, LoggedMessage> byId = new LinkedHashMap<>();
            newest.messages().stream().filter(this::isShown).forEach(logged -> byId.put(logged.id(), logged));
            page = byId;
            pageIsAll = newest.next().isEmpty();
        }
        return page;
    }

    private boolean isShown(LoggedMessage logged) {
        return logged.sequence() > floor;
    }

    private static @Nullable LoggedMessage stored(MessageLog log, MemoryKey key, String id) {
        try {
            List<LoggedMessage> found =
                    log.read(key, ReadQuery.newest(1).endingIn(id)).messages();
            return found.isEmpty() || !found.get(0).id().equals(id) ? null : found.get(0);
        } catch (InvalidInputException e) {
            return null;
        }
    }
}

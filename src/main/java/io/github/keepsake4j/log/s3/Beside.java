package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The document's {@code keepsake} object: what a memory holds beside its messages. A plain reader ignores it.
 *
 * @param last the id of the last message when this was written, or null if there was none: another one now means that
 *     somebody wrote without knowing of this object
 * @param head the head's id, or null
 * @param epoch the epoch in force
 * @param revision the revision
 * @param counters who counted the messages' tokens, in their order
 * @param views all views
 * @param summaries all summaries
 * @param leases all leases
 * @param title the title, or null
 * @param metadata short texts by name
 * @param createdAt when the memory came into being, or null if it has not
 * @param listed what orders it among its tenant's memories, or null while it is not listed
 * @param kept where the messages are that are not shown, or null if all are in the document
 * @param writes the newest writes, oldest first, so that a writer knows its own
 * @param key the ids, if the object's name does not tell them
 */
record Beside(
        @Nullable String last,
        @Nullable String head,
        long epoch,
        long revision,
        List<Counted> counters,
        List<Shown> views,
        List<Summary> summaries,
        List<Lease> leases,
        @Nullable String title,
        Map<String, String> metadata,
        @Nullable Instant createdAt,
        @Nullable String listed,
        @Nullable Kept kept,
        List<String> writes,
        @Nullable Key key) {

    private static final Set<String> OWN_FIELDS = Set.of(
            "last",
            "head",
            "epoch",
            "revision",
            "counters",
            "views",
            "summaries",
            "leases",
            "title",
            "metadata",
            "created_at",
            "listed",
            "kept",
            "writes",
            "key");

    /** Some messages in a row whose tokens one counter counted. */
    record Counted(String counter, int messages) {
        Counted {
            Objects.requireNonNull(counter, "counter");
        }
    }

    /** A view; its summary is named by the message that it covers up to. Documents of before there were any have none. */
    record Shown(String anchor, List<View.Run> runs, @Nullable String summary) {
        Shown {
            Objects.requireNonNull(anchor, "anchor");
            runs = runs == null ? List.of() : List.copyOf(runs);
        }
    }

    /** The object beside the document that holds its first messages. */
    record Kept(String object, int messages) {
        Kept {
            Objects.requireNonNull(object, "object");
        }
    }

    /** A memory's ids. */
    record Key(String tenant, @Nullable String appId, String conversationId, @Nullable String nodeId) {
        Key {
            Ids.check("tenant", tenant);
            Ids.check("conversation id", conversationId);
        }

        static Key of(MemoryKey key) {
            return key instanceof NodeKey node
                    ? new Key(node.tenant(), node.appId(), node.conversationId(), node.nodeId())
                    : new Key(key.tenant(), null, ((ConversationKey) key).conversationId(), null);
        }

        MemoryKey toMemoryKey() {
            return appId == null || nodeId == null
                    ? ConversationKey.of(tenant, conversationId)
                    : NodeKey.of(tenant, appId, conversationId, nodeId);
        }
    }

    /** Takes what is not there for empty: a field that has nothing to say is not written. */
    Beside {
        counters = counters == null ? List.of() : List.copyOf(counters);
        views = views == null ? List.of() : List.copyOf(views);
        summaries = summaries == null ? List.of() : List.copyOf(summaries);
        leases = leases == null ? List.of() : List.copyOf(leases);
        leases.forEach(Beside::check);
        metadata = metadata == null ? Map.of() : Map.copyOf(metadata);
        writes = writes == null ? List.of() : List.copyOf(writes);
        epoch = Math.max(1, epoch);
        revision = Math.max(1, revision);
    }

    /** Leases that others hold come from the same place as ours, and may be damaged. */
    private static void check(Lease lease) {
        Objects.requireNonNull(lease.name(), "name");
        Objects.requireNonNull(lease.owner(), "owner");
        Objects.requireNonNull(lease.expiresAt(), "expiresAt");
    }

    /** What stands beside the messages of a document that has no such object. */
    static Beside none(@Nullable Kept kept) {
        return new Beside(
                null, null, 1, 1, List.of(), List.of(), List.of(), List.of(), null, Map.of(), null, null, kept,
                List.of(), null);
    }

    /** What somebody else put into the object, by name. */
    static Map<String, String> othersOf(Map<String, String> fields) {
        Map<String, String> others = new LinkedHashMap<>(fields);
        others.keySet().removeAll(OWN_FIELDS);
        return others;
    }
}

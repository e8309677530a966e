package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryPage.Damaged;
import io.github.keepsake4j.log.s3.KeepsakeField.Totals;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists a tenant's memories, by name or by the time of the last write. A bucket lists both without reading the
 * documents. So only the documents of the page are read, and of these only the ones that have changed since this log
 * read them.
 */
final class BucketListing {

    private static final Logger LOG = LoggerFactory.getLogger(BucketListing.class);
    private static final int RECENT = 20_000;

    /** The last written object comes first. Objects of the same time are in the order of their names. */
    private static final Comparator<Bucket.Listed> BY_ACTIVITY =
            Comparator.comparing(Bucket.Listed::writtenAt).reversed().thenComparing(Bucket.Listed::name);

    /**
     * A document as it was when it had this etag.
     *
     * @param info the memory, or null if the document has none
     * @param damaged why it cannot be read, or null
     * @param stored the data for its erasure, or null if the document does not contain it
     * @param hasKept whether some of its messages are in an object beside it, which a list does not read
     * @param usage the used tokens, if they were requested
     */
    record Known(
            String etag,
            @Nullable MemoryInfo info,
            @Nullable Damaged damaged,
            @Nullable Tombstone stored,
            boolean hasKept,
            List<DailyUsage> usage) {

        private static Known nothing(String etag) {
            return new Known(etag, null, null, null, false, List.of());
        }

        /** Returns the entry with only the usage of some days, or an empty entry if there was none. */
        Known in(ListQuery.Days days) {
            List<DailyUsage> chosen = usage.stream()
                    .filter(used ->
                            !used.day().isBefore(days.from()) && used.day().isBefore(days.toExclusive()))
                    .toList();
            return new Known(etag, chosen.isEmpty() ? null : info, damaged, stored, hasKept, chosen);
        }
    }

    private final Bucket bucket;
    private final ObjectNames names;
    private final DocumentReader reader;
    private final Quarantine quarantine;
    private final RecentlyUsed<String, Known> recent = new RecentlyUsed<>(RECENT);
    private final RecentlyUsed<String, Known> recentUsage = new RecentlyUsed<>(RECENT);

    /**
     * The marks of erasures that a list has found. The mark of an erasure that is still running will be gone when it is
     * checked.
     */
    private final Set<String> marks = ConcurrentHashMap.newKeySet();

    BucketListing(Bucket bucket, ObjectNames names, DocumentReader reader, Quarantine quarantine) {
        this.bucket = bucket;
        this.names = names;
        this.reader = reader;
        this.quarantine = quarantine;
    }

    /** Returns the entry of a memory in the last list, or null. */
    @Nullable
    Known known(MemoryKey key) {
        return recent.get(names.document(key));
    }

    /**
     * Returns the names of the documents below a tenant's roots that were marks of erasures, and removes them from this
     * record.
     */
    List<String> takeMarks(String tenant) {
        ObjectNames.Roots roots = names.roots(tenant);
        List<String> taken = marks.stream().filter(roots::hold).toList();
        taken.forEach(marks::remove);
        return taken;
    }

    MemoryPage page(String tenant, ListQuery query) {
        return query.activeFirst() ? byActivity(tenant, query) : byName(tenant, query);
    }

    /** The page has fewer memories than its limit if the bucket has other objects between the documents. */
    private MemoryPage byName(String tenant, ListQuery query) {
        ObjectNames.Roots roots = names.roots(tenant);
        String cursor = query.cursor();
        String after = cursor == null ? roots.conversations() : roots.tenant() + cursor;
        if (!roots.hold(after)) {
            throw noCursor();
        }
        if (query.metadata() != null) {
            return byNameOf(tenant, roots, after, query);
        }
        Scan scan = new Scan(tenant, roots, after, query.limit());
        List<Bucket.Listed> objects = scan.next();
        if (objects.isEmpty() && scan.more) {
            objects = scan.next();
        }
        return page(
                tenant, objects, scan.more ? scan.after.substring(roots.tenant().length()) : null, query);
    }

    /** Reads on until the page is full, since few of the documents may have the metadata. */
    private MemoryPage byNameOf(String tenant, ObjectNames.Roots roots, String after, ListQuery query) {
        List<Bucket.Listed> found = new ArrayList<>();
        Scan scan = new Scan(tenant, roots, after, Bucket.LIST);
        while (found.size() <= query.limit() && scan.more) {
            scan.next().stream()
                    .filter(object -> isOf(tenant, object, query))
                    .limit(query.limit() + 1L - found.size())
                    .forEach(found::add);
        }
        List<Bucket.Listed> objects = found.subList(0, Math.min(found.size(), query.limit()));
        String last =
                found.size() > objects.size() ? objects.get(objects.size() - 1).name() : null;
        return page(
                tenant,
                objects,
                last == null ? null : last.substring(roots.tenant().length()),
                query);
    }

    private boolean isOf(String tenant, Bucket.Listed object, ListQuery query) {
        MemoryInfo info =
                query.metadata() == null ? null : known(tenant, object).info();
        return query.metadata() == null || (info != null && query.matches(info));
    }

    private MemoryPage byActivity(String tenant, ListQuery query) {
        ObjectNames.Roots roots = names.roots(tenant);
        Bucket.Listed after = query.cursor() == null ? null : parse(roots, query.cursor());
        // The last of the page is at the queue's head.
        PriorityQueue<Bucket.Listed> first = new PriorityQueue<>(BY_ACTIVITY.reversed());
        boolean more = false;
        Scan scan = new Scan(tenant, roots, roots.conversations(), Bucket.LIST);
        while (scan.more) {
            for (Bucket.Listed object : scan.next()) {
                if ((after == null || BY_ACTIVITY.compare(object, after) > 0) && isOf(tenant, object, query)) {
                    first.add(object);
                }
                if (first.size() > query.limit()) {
                    first.remove();
                    more = true;
                }
            }
        }
        List<Bucket.Listed> objects = new ArrayList<>(first);
        objects.sort(BY_ACTIVITY);
        return page(tenant, objects, more ? cursor(roots, objects.get(objects.size() - 1)) : null, query);
    }

    /**
     * Returns the memories of a conversation's nodes, which most names contain. Includes damaged memories, and memories
     * of which only quarantined bytes exist.
     */
    List<NodeKey> nodes(ConversationKey conversation) {
        String tenant = conversation.tenant();
        Set<NodeKey> nodes = new LinkedHashSet<>();
        for (Bucket.Listed object : all(tenant)) {
            MemoryKey key = names.key(tenant, object.name());
            // A name is not a proof: the document names its memory.
            if (key == null || isNodeOf(conversation, key)) {
                MemoryInfo info = known(tenant, object).info();
                key = key == null && info != null ? info.key() : key;
            }
            if (key != null && isNodeOf(conversation, key)) {
                nodes.add((NodeKey) key);
            }
        }
        for (MemoryKey key : quarantine.of(tenant)) {
            if (isNodeOf(conversation, key)) {
                nodes.add((NodeKey) key);
            }
        }
        return List.copyOf(nodes);
    }

    static boolean isNodeOf(ConversationKey conversation, MemoryKey key) {
        return key instanceof NodeKey node && node.conversationId().equals(conversation.conversationId());
    }

    /** Reads the document and its other objects, unless it has not changed. */
    private Known usage(String tenant, Bucket.Listed object) {
        Known known = recentUsage.get(object.name());
        if (known != null && known.etag().equals(object.etag())) {
            return known;
        }
        MemoryKey key = names.key(tenant, object.name());
        if (key == null) {
            Known listed = known(tenant, object);
            if (listed.info() == null) {
                return listed;
            }
            key = listed.info().key();
        }
        Snapshot read = reader.read(key, object.name(), null);
        Damaged damaged = read.problem() == null
                ? null
                : new Damaged(object.name(), key, String.valueOf(read.problem().getMessage()));
        Known usage = new Known(
                read.etag() == null ? object.etag() : read.etag(),
                read.tree().info().orElse(null),
                damaged,
                null,
                false,
                read.tree().usage(LocalDate.MIN, LocalDate.MAX));
        recentUsage.put(object.name(), usage);
        return usage;
    }

    private List<Bucket.Listed> all(String tenant) {
        ObjectNames.Roots roots = names.roots(tenant);
        List<Bucket.Listed> all = new ArrayList<>();
        Scan scan = new Scan(tenant, roots, roots.conversations(), Bucket.LIST);
        while (scan.more) {
            all.addAll(scan.next());
        }
        return all;
    }

    private static String cursor(ObjectNames.Roots roots, Bucket.Listed last) {
        return last.writtenAt() + " " + last.name().substring(roots.tenant().length());
    }

    private static Bucket.Listed parse(ObjectNames.Roots roots, String cursor) {
        String[] parts = cursor.split(" ", 2);
        try {
            String name = roots.tenant() + (parts.length == 2 ? parts[1] : "");
            if (roots.hold(name)) {
                return new Bucket.Listed(name, "", Instant.parse(parts[0]));
            }
        } catch (DateTimeException e) {
            throw noCursor();
        }
        throw noCursor();
    }

    private static InvalidInputException noCursor() {
        return new InvalidInputException("cursor", "was not returned by a page of this log; start with the first page");
    }

    /** Iterates over the documents of a tenant, in the order of their names. */
    private final class Scan {
        private final String tenant;
        private final ObjectNames.Roots roots;
        private final int atMost;
        private String after;
        private boolean more = true;

        Scan(String tenant, ObjectNames.Roots roots, String after, int atMost) {
            this.tenant = tenant;
            this.roots = roots;
            this.after = after;
            this.atMost = atMost;
        }

        /**
         * Lists the next documents with one request. Both roots are listed together, since this log has no objects
         * between them. Objects of other programs between them are skipped.
         */
        List<Bucket.Listed> next() {
            Bucket.Part part = bucket.list("Tenant " + MemoryKey.encode(tenant), roots.tenant(), after, atMost);
            more = part.more();
            List<Bucket.Listed> documents = new ArrayList<>();
            for (Bucket.Listed object : part.objects()) {
                after = object.name();
                if (roots.hold(after) && names.isDocument(tenant, after)) {
                    documents.add(object);
                }
            }
            if (more && !roots.hold(after)) {
                more = after.compareTo(roots.nodes()) < 0;
                after = roots.nodes();
            }
            return documents;
        }
    }

    private MemoryPage page(String tenant, List<Bucket.Listed> objects, @Nullable String next, ListQuery query) {
        List<MemoryInfo> infos = new ArrayList<>();
        List<Damaged> damaged = new ArrayList<>();
        List<DailyUsage> usage = new ArrayList<>();
        for (Bucket.Listed object : objects) {
            Known known = query.usage() == null
                    ? known(tenant, object)
                    : usage(tenant, object).in(query.usage());
            if (known.info() != null) {
                infos.add(known.info());
            }
            if (known.damaged() != null) {
                damaged.add(known.damaged());
            }
            usage.addAll(known.usage());
        }
        return new MemoryPage(
                query.ordered(infos), damaged, usage, Optional.ofNullable(next).map(query::startingAt));
    }

    private Known known(String tenant, Bucket.Listed object) {
        Known known = recent.get(object.name());
        if (known == null || !known.etag().equals(object.etag())) {
            known = read(tenant, object);
            recent.put(object.name(), known);
        }
        return known;
    }

    private Known read(String tenant, Bucket.Listed object) {
        String name = object.name();
        MemoryKey key = names.key(tenant, name);
        String what = key == null ? "Object " + name : "Memory " + key;
        if (!(bucket.get(what, name, null) instanceof Bucket.Content content)) {
            return Known.nothing(object.etag());
        }
        try {
            DocumentParser.Parts parts =
                    DocumentParser.parse(what, content).of("Tenant " + MemoryKey.encode(tenant), tenant);
            if (parts.isErasing()) {
                marks.add(name);
            }
            KeepsakeField keepsake = parts.keepsake();
            if (key == null && keepsake != null && keepsake.key() != null) {
                key = MemoryKey.parse(keepsake.key());
            }
            if (key == null) {
                if (!parts.elements().isEmpty()) {
                    LOG.warn("{} is not listed: its name is a hash, and it does not tell its memory's ids", what);
                }
                return Known.nothing(content.etag());
            }
            DocumentReader.checkKey(key, parts);
            if (!names.document(key).equals(name)) {
                throw new UnreadableDataException(
                        what + ": the object belongs to another memory. Restore the "
                                + "right object, or move this one away",
                        null);
            }
            Tombstone stored = keepsake == null ? null : keepsake.tombstone();
            boolean hasKept = keepsake != null && keepsake.kept() != null;
            return new Known(content.etag(), info(key, parts, object.writtenAt()), null, stored, hasKept, List.of());
        } catch (UnreadableDataException e) {
            Damaged damaged = new Damaged(name, key, String.valueOf(e.getMessage()));
            return new Known(content.etag(), null, damaged, null, false, List.of());
        }
    }

    /** Returns a memory's entry from its document. Its other objects are not read: the document has their totals. */
    private static @Nullable MemoryInfo info(MemoryKey key, DocumentParser.Parts parts, Instant writtenAt) {
        KeepsakeField keepsake = parts.keepsake();
        List<Entry> entries = Document.entries(List.of(), parts);
        Instant storedAt = keepsake == null ? null : keepsake.createdAt();
        if (storedAt == null) {
            if (entries.isEmpty()) {
                return null;
            }
            storedAt = entries.get(0).createdAt();
        }
        Totals shown = Totals.of(entries);
        Totals kept = keepsake == null || keepsake.keptTotals() == null ? Totals.NONE : keepsake.keptTotals();
        Instant first = kept.firstMessageAt() == null ? shown.firstMessageAt() : kept.firstMessageAt();
        Instant last = Stream.of(kept.lastMessageAt(), shown.lastMessageAt())
                .filter(Objects::nonNull)
                .max(Comparator.naturalOrder())
                .orElse(null);
        boolean hasNoTime = Instant.EPOCH.equals(
                entries.isEmpty() ? last : entries.get(entries.size() - 1).createdAt());
        boolean imported = first != null && !first.equals(Instant.EPOCH) && first.isBefore(storedAt);
        return new MemoryInfo(
                key,
                keepsake == null ? null : keepsake.title(),
                keepsake == null ? Map.of() : keepsake.metadata(),
                shown.messages() + kept.messages(),
                shown.tokens() + kept.tokens(),
                imported ? Objects.requireNonNull(first) : storedAt,
                // If the last message has no time, the time of the document is used. 1970 would look very old.
                hasNoTime ? writtenAt : last,
                storedAt);
    }
}

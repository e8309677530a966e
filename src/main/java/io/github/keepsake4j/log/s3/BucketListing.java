package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists a tenant's memories. A bucket lists names and etags, but the stamps that order the memories are in the documents. So
 * the first list reads all documents, and later ones read those that have changed.
 */
final class BucketListing {

    private static final Logger LOG = LoggerFactory.getLogger(BucketListing.class);
    private static final int RECENT = 20_000;
    private static final Pattern STAMP =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    /** A document's entry when it had this etag, or no entry if it is the rest of an erased memory. */
    private record KnownEntry(String etag, @Nullable Entry entry) {}

    private record Entry(String stamp, MemoryInfo info, List<DailyUsage> usage) {}

    private final Bucket bucket;
    private final ObjectNames names;
    private final DocumentReader reader;
    private final RecentlyUsed<String, KnownEntry> recent = new RecentlyUsed<>(RECENT);

    BucketListing(Bucket bucket, ObjectNames names, DocumentReader reader) {
        this.bucket = bucket;
        this.names = names;
        this.reader = reader;
    }

    MemoryPage page(String tenant, ListQuery query) {
        String below = query.cursor();
        if (below != null && !STAMP.matcher(below).matches()) {
            throw new InvalidInputException("cursor", "is none that a page of this log gave out");
        }
        List<Entry> page = new ArrayList<>();
        for (Entry entry : entries(tenant)) {
            if (below == null || entry.stamp().compareTo(below) < 0) {
                page.add(entry);
            }
        }
        page.sort(Comparator.comparing(Entry::stamp).reversed());
        List<Entry> shown = page.subList(0, Math.min(page.size(), query.limit()));
        return new MemoryPage(
                shown.stream().map(Entry::info).toList(),
                shown.size() < page.size()
                        ? Optional.of(new ListQuery(
                                query.limit(), shown.get(shown.size() - 1).stamp()))
                        : Optional.empty());
    }

    List<DailyUsage> usage(String tenant, LocalDate from, LocalDate toExclusive) {
        return entries(tenant).stream()
                .flatMap(entry -> entry.usage().stream())
                .filter(usage -> !usage.day().isBefore(from) && usage.day().isBefore(toExclusive))
                .sorted(Comparator.comparing(DailyUsage::day))
                .toList();
    }

    private List<Entry> entries(String tenant) {
        List<Entry> entries = new ArrayList<>();
        for (String root : names.roots(tenant)) {
            for (Bucket.Listed object : bucket.list("Tenant " + MemoryKey.encode(tenant), root)) {
                Entry entry = names.isDocument(tenant, object.name()) ? entry(tenant, object) : null;
                if (entry != null) {
                    entries.add(entry);
                }
            }
        }
        return entries;
    }

    private @Nullable Entry entry(String tenant, Bucket.Listed object) {
        KnownEntry known = recent.get(object.name());
        if (known == null || !known.etag().equals(object.etag())) {
            known = read(tenant, object);
            recent.put(object.name(), known);
        }
        return known.entry();
    }

    private KnownEntry read(String tenant, Bucket.Listed object) {
        MemoryKey key = names.key(tenant, object.name());
        if (key == null) {
            key = keyInside(object.name());
        }
        if (key == null) {
            return new KnownEntry(object.etag(), null);
        }
        Snapshot read = reader.read(key, object.name(), null).readable();
        String stamp = read.document().stamp(object.name());
        Entry entry = stamp == null
                ? null
                : read.tree()
                        .info()
                        .map(info -> new Entry(
                                stamp,
                                timed(info, object.writtenAt()),
                                read.tree().usage(LocalDate.MIN, LocalDate.MAX)))
                        .orElse(null);
        return new KnownEntry(read.etag() == null ? object.etag() : read.etag(), entry);
    }

    /** Without a time of its own, a message is as old as the document. 1970 would look like long ago. */
    private static MemoryInfo timed(MemoryInfo info, Instant writtenAt) {
        Instant last = info.lastMessageAt();
        return new MemoryInfo(
                info.key(),
                info.title(),
                info.metadata(),
                info.messages(),
                info.tokens(),
                Instant.EPOCH.equals(info.createdAt()) ? info.storedAt() : info.createdAt(),
                Instant.EPOCH.equals(last) ? writtenAt : last,
                info.storedAt());
    }

    /** Returns the key that a document tells whose name is a hash, or null if it tells none. */
    private @Nullable MemoryKey keyInside(String name) {
        String what = "Object " + name;
        if (!(bucket.get(what, name, null) instanceof Bucket.Content content)) {
            return null;
        }
        DocumentParser.Parts parts = DocumentParser.parse(what, content);
        if (parts.keepsake() != null && parts.keepsake().key() != null) {
            return ObjectNames.parse(parts.keepsake().key());
        }
        if (!parts.elements().isEmpty()) {
            LOG.warn("{} is not listed: its name is a hash, and it does not tell its memory's ids", what);
        }
        return null;
    }
}

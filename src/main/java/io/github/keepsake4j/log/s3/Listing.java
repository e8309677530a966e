package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists a tenant's memories. A bucket lists names and etags, and what orders memories stands in the documents: so the
 * first list reads all of them, and the next ones those that have changed.
 */
final class Listing {

    private static final Logger LOG = LoggerFactory.getLogger(Listing.class);
    private static final int RECENT = 20_000;
    private static final Pattern STAMP =
            Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    /** What a document said when it had this etag; without an entry it is the rest of an erased memory. */
    private record Seen(String etag, @Nullable Entry entry) {}

    private record Entry(String stamp, MemoryInfo info) {}

    private final Bucket bucket;
    private final ObjectNames names;
    private final DocumentReader reader;
    private final Recent<Seen> recent = new Recent<>(RECENT);

    Listing(Bucket bucket, ObjectNames names, DocumentReader reader) {
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
        for (String root : names.roots(tenant)) {
            for (Bucket.Listed object : bucket.list("Tenant " + MemoryKey.encode(tenant), root)) {
                Entry entry = names.isDocument(tenant, object.name()) ? entry(tenant, object) : null;
                if (entry != null && (below == null || entry.stamp().compareTo(below) < 0)) {
                    page.add(entry);
                }
            }
        }
        page.sort(Comparator.comparing(Entry::stamp).reversed());
        boolean more = page.size() > query.limit();
        List<Entry> shown = more ? page.subList(0, query.limit()) : page;
        return new MemoryPage(
                shown.stream().map(Entry::info).toList(),
                more
                        ? Optional.of(new ListQuery(
                                query.limit(), shown.get(shown.size() - 1).stamp()))
                        : Optional.empty());
    }

    private @Nullable Entry entry(String tenant, Bucket.Listed object) {
        Seen seen = recent.get(object.name());
        if (seen == null || !seen.etag().equals(object.etag())) {
            seen = read(tenant, object);
            recent.put(object.name(), seen);
        }
        return seen.entry();
    }

    private Seen read(String tenant, Bucket.Listed object) {
        MemoryKey key = names.key(tenant, object.name());
        if (key == null) {
            key = keyInside(object.name());
        }
        if (key == null) {
            return new Seen(object.etag(), null);
        }
        Loaded loaded = reader.read(key, object.name(), null).readable();
        String stamp = Change.stampOf(object.name(), loaded.document());
        Entry entry = stamp == null
                ? null
                : loaded.tree()
                        .info()
                        .map(info -> new Entry(stamp, timed(info, object.writtenAt())))
                        .orElse(null);
        return new Seen(loaded.etag() == null ? object.etag() : loaded.etag(), entry);
    }

    /** Who writes no times may have added a message whenever the document was written; 1970 would look like long ago. */
    private static MemoryInfo timed(MemoryInfo info, Instant writtenAt) {
        return Instant.EPOCH.equals(info.lastMessageAt())
                ? new MemoryInfo(
                        info.key(),
                        info.title(),
                        info.metadata(),
                        info.messages(),
                        info.tokens(),
                        info.createdAt(),
                        writtenAt)
                : info;
    }

    /** A long name is a hash, and only its document knows whose it is. */
    private @Nullable MemoryKey keyInside(String name) {
        String what = "Object " + name;
        if (!(bucket.get(what, name, null) instanceof Bucket.Content content)) {
            return null;
        }
        Parsed parsed = Parsed.read(what, content.bytes());
        if (parsed.beside() != null && parsed.beside().key() != null) {
            return parsed.beside().key().toMemoryKey();
        }
        if (!parsed.elements().isEmpty()) {
            LOG.warn("{} is not listed: its name is a hash, and it does not say whose memory it is", what);
        }
        return null;
    }
}

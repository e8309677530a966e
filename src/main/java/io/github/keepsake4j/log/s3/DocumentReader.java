package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.MemoryTree.Entry;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Puts memories together from their objects. */
final class DocumentReader {

    /** What lies beside a document goes away when the document stops to name it: then the document is read again. */
    private static final int ATTEMPTS = 4;

    private final Bucket bucket;

    DocumentReader(Bucket bucket) {
        this.bucket = bucket;
    }

    /**
     * Reads a memory with one request, and one more if a part lies beside its document and the caller does not have it.
     *
     * @param before what the caller has, or null
     * @return {@code before} if it still is the newest
     */
    Loaded read(MemoryKey key, String name, @Nullable Loaded before) {
        String what = "Memory " + key;
        // What lies beside a document may be repaired while the document stays as it is.
        String known = before == null || before.problem() != null ? null : before.etag();
        for (int attempt = 1; ; attempt++) {
            Bucket.Found found = bucket.get(what, name, known);
            if (found instanceof Bucket.Unchanged && before != null) {
                return before;
            }
            if (found instanceof Bucket.Unusable unusable) {
                return Loaded.unreadable(
                        key,
                        unusable.etag(),
                        new UnreadableDataException(
                                what + " cannot be read: " + unusable.problem()
                                        + ". Its bytes are kept and nothing is written over them: repair or remove it",
                                null));
            }
            if (!(found instanceof Bucket.Content content)) {
                return Loaded.of(key, null, Document.NONE);
            }
            try {
                Optional<Document> document =
                        document(what, key, name, content, before == null ? Document.NONE : before.document());
                if (document.isPresent()) {
                    return Loaded.of(key, content.etag(), document.get());
                }
                if (attempt == ATTEMPTS) {
                    throw new UnreadableDataException(
                            what + " cannot be read: the object with its cleared messages is not there", null);
                }
            } catch (UnreadableDataException e) {
                return Loaded.unreadable(key, content.etag(), e);
            }
        }
    }

    /** The memory, or empty if what lies beside the document has gone. */
    private Optional<Document> document(
            String what, MemoryKey key, String name, Bucket.Content content, Document before) {
        Parsed parsed = Parsed.read(what, content.bytes());
        Beside.Key owner = parsed.beside() == null ? null : parsed.beside().key();
        if (owner != null && !owner.toMemoryKey().equals(key)) {
            throw new UnreadableDataException(what + ": the object is another memory's", null);
        }
        Beside.Kept place = parsed.beside() == null
                ? forgotten(what, name)
                : parsed.beside().kept();
        if (place == null) {
            return Optional.of(Document.of(parsed, null, List.of()));
        }
        Beside.Kept known = before.beside().kept();
        List<Entry> kept = known != null && known.object().equals(place.object())
                ? before.kept()
                : kept(what, ObjectNames.kept(name, place.object()));
        if (kept.isEmpty()) {
            return Optional.empty();
        }
        if (!overlap(kept, parsed.elements())) {
            return Optional.of(Document.of(parsed, new Beside.Kept(place.object(), kept.size()), kept));
        }
        if (parsed.beside() != null && place.equals(parsed.beside().kept())) {
            throw new UnreadableDataException(what + " cannot be read: a message stands in it and beside it", null);
        }
        // Somebody put back a document from before it was cleared.
        return Optional.of(Document.of(parsed, null, List.of()));
    }

    /** Who writes without our field forgets where the cleared messages are; they are the newest ones beside it. */
    private Beside.@Nullable Kept forgotten(String what, String name) {
        String prefix = ObjectNames.kept(name, "");
        return bucket.list(what, prefix).stream()
                .map(Bucket.Listed::name)
                .max(Comparator.naturalOrder())
                .map(newest -> new Beside.Kept(newest.substring(prefix.length()), 0))
                .orElse(null);
    }

    private List<Entry> kept(String what, String name) {
        Bucket.Found found = bucket.get(what, name, null);
        if (found instanceof Bucket.Unusable unusable) {
            throw new UnreadableDataException(
                    what + " cannot be read: of the object beside it, " + unusable.problem(), null);
        }
        if (!(found instanceof Bucket.Content content)) {
            return List.of();
        }
        Parsed parsed = Parsed.read(what + ", object beside it,", content.bytes());
        return List.copyOf(Document.entries(List.of(), parsed.elements(), parsed.beside()));
    }

    private static boolean overlap(List<Entry> kept, List<Element> elements) {
        Set<String> ids = new HashSet<>();
        kept.forEach(entry -> ids.add(entry.id()));
        return elements.stream().anyMatch(element -> ids.contains(element.id()));
    }
}

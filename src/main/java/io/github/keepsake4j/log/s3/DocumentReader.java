package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.MemoryTree;
import io.github.keepsake4j.log.MemoryTree.Entry;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads memories from their objects. */
final class DocumentReader {

    /** The object beside a document goes when the document stops naming it; then the document is read again. */
    private static final int ATTEMPTS = 4;

    private final Bucket bucket;
    private final MovedContents contents;

    DocumentReader(Bucket bucket, MovedContents contents) {
        this.bucket = bucket;
        this.contents = contents;
    }

    /** Returns a memory that was read or written. */
    Snapshot snapshot(MemoryKey key, @Nullable String etag, Document document) {
        return new Snapshot(etag, document, new MemoryTree(key, contents.payloads(key), document.state()), null);
    }

    private Snapshot unreadable(MemoryKey key, String etag, UnreadableDataException problem) {
        return new Snapshot(
                etag, Document.NONE, snapshot(key, etag, Document.NONE).tree(), problem);
    }

    /**
     * Reads a memory with one request, and with one more if a part of it is beside the document and the caller does not have
     * that part.
     *
     * @param before the memory as the caller has it, or null
     * @return {@code before} if that is still the newest
     */
    Snapshot read(MemoryKey key, String name, @Nullable Snapshot before) {
        String what = "Memory " + key;
        // The object beside an unreadable document may be repaired while the document stays as it is.
        String known = before == null || before.problem() != null ? null : before.etag();
        for (int attempt = 1; ; attempt++) {
            Bucket.Found found = bucket.get(what, name, known);
            if (found instanceof Bucket.Unchanged && before != null) {
                return before;
            }
            if (!(found instanceof Bucket.Content content)) {
                return snapshot(key, null, Document.NONE);
            }
            try {
                Document document = document(key, name, content, before == null ? Document.NONE : before.document());
                if (document != null) {
                    return snapshot(key, content.etag(), document);
                }
                if (attempt == ATTEMPTS) {
                    throw new UnreadableDataException(
                            what + " cannot be read: the object with its cleared messages is not there", null);
                }
            } catch (UnreadableDataException e) {
                return unreadable(key, content.etag(), e);
            }
        }
    }

    /** Returns the document, or null if the object beside it has gone. */
    private @Nullable Document document(MemoryKey key, String name, Bucket.Content content, Document before) {
        String what = "Memory " + key;
        DocumentParser.Parts parts = DocumentParser.parse(what, content);
        KeepsakeField keepsake = parts.keepsake();
        if (keepsake != null && keepsake.key() != null && !keepsake.key().equals(key.canonical())) {
            throw new UnreadableDataException(what + ": the object is another memory's", null);
        }
        String kept = keepsake == null ? newestKept(what, name) : keepsake.kept();
        if (kept == null) {
            return Document.of(parts, null, List.of());
        }
        List<Entry> entries = kept.equals(before.kept()) ? before.keptEntries() : keptEntries(what, name, kept);
        if (entries.isEmpty()) {
            return null;
        }
        if (!overlap(entries, parts.elements())) {
            return Document.of(parts, kept, entries);
        }
        if (keepsake != null) {
            throw new UnreadableDataException(what + " cannot be read: a message is in it and beside it", null);
        }
        // A document from before the memory was cleared was put back.
        return Document.of(parts, null, List.of());
    }

    /** A program that drops our field drops the name of the kept object too; it is the newest one beside the document. */
    private @Nullable String newestKept(String what, String name) {
        String prefix = ObjectNames.kept(name, "");
        return bucket.list(what, prefix).stream()
                .map(Bucket.Listed::name)
                .max(Comparator.naturalOrder())
                .map(newest -> newest.substring(prefix.length()))
                .orElse(null);
    }

    private List<Entry> keptEntries(String what, String name, String kept) {
        return bucket.get(what, ObjectNames.kept(name, kept), null) instanceof Bucket.Content content
                ? Document.entries(List.of(), DocumentParser.parse(what + ", object beside it,", content))
                : List.of();
    }

    private static boolean overlap(List<Entry> kept, List<Element> elements) {
        Set<String> ids = new HashSet<>();
        kept.forEach(entry -> ids.add(entry.id()));
        return elements.stream().anyMatch(element -> ids.contains(element.id()));
    }
}

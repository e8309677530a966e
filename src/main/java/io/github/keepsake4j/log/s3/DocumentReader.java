package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads memories from their objects. */
record DocumentReader(Bucket bucket, ObjectNames names, Tombstones tombstones, MovedContents contents) {

    /**
     * The number of reads of a document. The object beside it may be deleted when the document no longer names it; then
     * the document is read again.
     */
    private static final int ATTEMPTS = 4;

    /** Returns a memory that was read or written. */
    Snapshot snapshot(MemoryKey key, @Nullable String etag, Document document) {
        return snapshot(key, etag, document, Snapshot.Standing.IN_FORCE);
    }

    private Snapshot snapshot(MemoryKey key, @Nullable String etag, Document document, Snapshot.Standing standing) {
        return new Snapshot(
                etag, document, new MemoryTree(key, contents.payloads(key), document.state()), standing, null);
    }

    private Snapshot unreadable(MemoryKey key, @Nullable String etag, UnreadableDataException problem) {
        MemoryTree none = new MemoryTree(key, contents.payloads(key), Document.NONE.state());
        return new Snapshot(etag, Document.NONE, none, Snapshot.Standing.IN_FORCE, problem);
    }

    /**
     * Reads a memory with one request, and with one more if a part is beside the document and the caller does not have
     * that part. If there is no document, or if it has no epoch, one more request reads the tombstone.
     *
     * @param before the caller's memory, or null
     * @return {@code before} if that is still the newest
     */
    Snapshot read(MemoryKey key, String name, @Nullable Snapshot before) {
        String what = "Memory " + key;
        // The object beside an unreadable document may be repaired while the document stays unchanged.
        String known = before == null || before.problem() != null ? null : before.etag();
        for (int attempt = 1; ; attempt++) {
            Bucket.Found found = bucket.get(what, name, known);
            if (found instanceof Bucket.Unchanged && before != null) {
                return before;
            }
            String etag = found instanceof Bucket.Content content ? content.etag() : null;
            try {
                Snapshot read = found instanceof Bucket.Content content
                        ? read(key, name, content, before == null ? Document.NONE : before.document())
                        : snapshot(key, null, tombstones.of(what, name).document());
                if (read != null) {
                    return read;
                }
                if (attempt == ATTEMPTS) {
                    throw new UnreadableDataException(
                            what + " cannot be read: the object with its cleared messages is missing. Restore it "
                                    + "from a backup",
                            null);
                }
            } catch (UnreadableDataException e) {
                return unreadable(key, etag, e);
            }
        }
    }

    /** Returns the memory, or null if the object beside its document no longer exists. */
    private @Nullable Snapshot read(MemoryKey key, String name, Bucket.Content content, Document before) {
        String what = "Memory " + key;
        DocumentParser.Parts parts = DocumentParser.parse(what, content).of(what, key.tenant());
        KeepsakeField keepsake = parts.keepsake();
        checkKey(key, parts);
        Tombstone tombstone = keepsake == null || keepsake.unchecked() ? tombstones.of(what, name) : Tombstone.NONE;
        if (keepsake != null && keepsake.unchecked() && tombstone.overtook(keepsake)) {
            return snapshot(key, content.etag(), tombstone.document(), Snapshot.Standing.ERASED_BEFORE);
        }
        Document document = document(key, name, parts, before, tombstone);
        if (document == null) {
            return null;
        }
        return snapshot(
                key,
                content.etag(),
                document,
                parts.isErasing() ? Snapshot.Standing.ERASING : Snapshot.Standing.IN_FORCE);
    }

    /** Refuses the document of another memory. */
    static void checkKey(MemoryKey key, DocumentParser.Parts parts) {
        KeepsakeField keepsake = parts.keepsake();
        if (keepsake != null && keepsake.key() != null && !keepsake.key().equals(key.canonical())) {
            throw new UnreadableDataException(
                    "Memory " + key + ": the object belongs to another memory. Restore "
                            + "the right object, or move this one away",
                    null);
        }
    }

    /** Returns the document, or null if the object beside it no longer exists. */
    private @Nullable Document document(
            MemoryKey key, String name, DocumentParser.Parts parts, Document before, Tombstone tombstone) {
        String what = "Memory " + key;
        KeepsakeField keepsake = parts.keepsake();
        String kept = keepsake == null ? newestKept(what, name) : keepsake.kept();
        if (kept == null) {
            return Document.of(parts, null, List.of(), tombstone);
        }
        List<Entry> entries = kept.equals(before.kept()) ? before.keptEntries() : keptEntries(key, name, kept);
        if (entries.isEmpty()) {
            return null;
        }
        if (!overlap(entries, parts.elements())) {
            return Document.of(parts, kept, entries, tombstone);
        }
        if (keepsake != null) {
            throw new UnreadableDataException(
                    what + " cannot be read: a message is both in the document and in "
                            + "the object with its cleared messages. Restore the document, or quarantine it",
                    null);
        }
        // An older document, from before the memory was cleared, was restored.
        return Document.of(parts, null, List.of(), tombstone);
    }

    /**
     * A program that drops this library's field drops the name of the kept object too. It is the newest object beside
     * the document.
     */
    private @Nullable String newestKept(String what, String name) {
        String prefix = names.kept(name, "");
        return bucket.list(what, prefix).stream()
                .map(Bucket.Listed::name)
                .max(Comparator.naturalOrder())
                .map(newest -> newest.substring(prefix.length()))
                .orElse(null);
    }

    private List<Entry> keptEntries(MemoryKey key, String name, String kept) {
        String what = "Memory " + key + ", object beside it,";
        return bucket.get(what, names.kept(name, kept), null) instanceof Bucket.Content content
                ? Document.entries(
                        List.of(), DocumentParser.parse(what, content).of(what, key.tenant()))
                : List.of();
    }

    private static boolean overlap(List<Entry> kept, List<Element> elements) {
        Set<String> ids = kept.stream().map(Entry::id).collect(Collectors.toSet());
        return elements.stream().anyMatch(element -> ids.contains(element.id()));
    }
}

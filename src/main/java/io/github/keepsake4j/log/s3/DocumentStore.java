package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.backend.Entry;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.backend.MemoryTree.State;
import io.github.keepsake4j.base.KeyLocks;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.TenantMismatchException;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.lang.ref.SoftReference;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores memories as documents in a bucket. A change is written on the condition that no other writer was first.
 * Otherwise, the change is made again on the other writer's document, so no change is lost. A change puts its id into
 * the document that it writes. So a writer whose answer was lost finds its own write instead of a conflict with it.
 */
final class DocumentStore implements StoredMemories {

    /** A change is made again this many times after another writer was first; with the pauses, about ten seconds. */
    private static final int CONFLICTS = 40;

    /**
     * The number of checks after which another writer's erasure is completed here; with the pauses, after about a
     * second.
     */
    private static final int LOOKS = 10;

    /** The number of refusals after which a server does not understand a condition that is met. */
    private static final int MISUNDERSTOOD = 3;

    /** The number of tries of a change if it is not known whether it was written. The SDK has its own tries before. */
    private static final int UNKNOWN = 3;

    private static final int MAX_PAUSE_MILLIS = 500;
    private static final int RECENT = 128;
    private static final Logger LOG = LoggerFactory.getLogger(DocumentStore.class);

    private final Bucket bucket;
    private final ObjectNames names;
    private final DocumentReader reader;
    private final Tombstones tombstones;
    private final MovedContents contents;
    private final Quarantine quarantine;
    private final RandomChoices chance;

    /** Snapshots by the documents' names. They are large, so they are dropped when the heap is full. */
    private final RecentlyUsed<String, SoftReference<Snapshot>> recent = new RecentlyUsed<>(RECENT);

    /** Writers of one process wait for each other, since each conflict costs a transfer of the whole document. */
    private final KeyLocks<MemoryKey> locks = new KeyLocks<>();

    DocumentStore(DocumentReader reader, Quarantine quarantine, RandomChoices chance) {
        this.bucket = reader.bucket();
        this.names = reader.names();
        this.reader = reader;
        this.tombstones = reader.tombstones();
        this.contents = reader.contents();
        this.quarantine = quarantine;
        this.chance = chance;
    }

    @Override
    public <T> T ask(MemoryKey key, Function<MemoryTree, T> question) {
        return question.apply(load(key).readable().tree());
    }

    @Override
    public <T> T change(MemoryKey key, Function<MemoryTree, T> change) {
        return change(key, null, change);
    }

    /** Does {@link #change(MemoryKey, Function)}, first on the caller's snapshot if there is one. */
    <T> T change(MemoryKey key, @Nullable Snapshot first, Function<MemoryTree, T> change) {
        return locked(key, () -> new Writer<>(key, change, null).run(first));
    }

    /** Erases a memory: its document and all other objects. Only a tombstone stays. */
    @Override
    public long erase(MemoryKey key) {
        return locked(key, () -> new Writer<>(key, MemoryTree::erase, new LinkedHashSet<>()).run(null));
    }

    /**
     * Erases a memory if its document is still as it was listed.
     *
     * @param etag the document's etag
     * @param listed the known data of the document, or null if it has no epoch
     * @return whether it was erased
     */
    @Override
    public boolean eraseIf(MemoryKey key, String etag, @Nullable Tombstone listed) {
        Snapshot first = reader.snapshot(key, etag, listed == null ? unknownEpoch() : listed.document());
        // A tree other than the first one belongs to another document.
        AtomicBoolean changed = new AtomicBoolean();
        return eraseIf(key, first, tree -> !changed.getAndSet(true));
    }

    @Override
    public boolean eraseIfIdle(MemoryKey key, Instant since) {
        return ask(key, tree -> tree.isIdle(since)) && eraseIf(key, null, tree -> tree.isIdle(since));
    }

    private boolean eraseIf(MemoryKey key, @Nullable Snapshot first, Predicate<MemoryTree> condition) {
        Function<MemoryTree, Boolean> erase = tree -> {
            if (!condition.test(tree)) {
                throw new ChangedException();
            }
            tree.erase();
            return true;
        };
        try {
            return locked(key, () -> new Writer<>(key, erase, new LinkedHashSet<>()).run(first));
        } catch (ChangedException e) {
            return false;
        }
    }

    /** A document is not one that is to be erased. */
    private static final class ChangedException extends RuntimeException {}

    /**
     * Returns the names of the objects beside a document. Objects from before the mark of an erasure, or while the mark
     * exists, are erased with the memory. Objects that other writers create later belong to the next memory.
     */
    private Set<String> beside(String what, String name) {
        Set<String> found = namesOf(what, names.besides(name));
        if (found.stream().anyMatch(object -> object.startsWith(names.damaged(name, "")))) {
            found.add(names.quarantined(name));
        }
        return found;
    }

    private Set<String> namesOf(String what, String prefix) {
        Set<String> found = new LinkedHashSet<>();
        bucket.list(what, prefix).forEach(object -> found.add(object.name()));
        return found;
    }

    /** Completes an interrupted erasure. Does nothing if there is none. */
    void endErasure(String what, String name) {
        Set<String> beside = beside(what, name);
        if (bucket.get(what, name, null) instanceof Bucket.Content content) {
            DocumentParser.Parts parts = DocumentParser.parse(what, content).of(what, names.owner(name));
            KeepsakeField keepsake = parts.keepsake();
            if (keepsake != null && parts.isErasing()) {
                Tombstone tombstone = keepsake.tombstone();
                if (keepsake.asideStays()) {
                    beside.removeIf(object -> !object.startsWith(names.kept(name, "")));
                }
                remove(what, name, content.etag(), tombstone, beside);
            }
        }
    }

    /**
     * Removes a document that is the mark of an erasure. The tombstone comes first: a writer that then finds no document finds
     * the tombstone.
     */
    private void remove(String what, String name, String mark, Tombstone tombstone, Set<String> beside) {
        buried(what, name, tombstone, beside);
        bucket.deleteIf(what, name, mark);
    }

    /** Deletes the objects beside a mark, and returns the tombstone that is stored then. */
    private Tombstone buried(String what, String name, Tombstone tombstone, Set<String> beside) {
        beside.forEach(object -> bucket.delete(what, object));
        return tombstone.epoch() > 1 ? tombstones.put(what, name, tombstone) : tombstone;
    }

    /**
     * Quarantines the bytes of an unreadable document, and those of the cleared messages beside it.
     *
     * @return the name of the object that now has the document's bytes
     */
    String quarantine(String name) {
        String what = "Object " + name;
        if (!names.isDocument(name)) {
            throw new InvalidInputException(
                    "objectName", "is not the name of a memory's document below this log's prefix");
        }
        Damaged damaged = damaged(what, name);
        String etag = damaged.etag();
        String to = names.damaged(name, Ids.next());
        quarantine.note(what, name, damaged.key());
        Set<String> kept = new LinkedHashSet<>();
        for (Bucket.Listed object : bucket.list(what, names.kept(name, ""))) {
            String id = object.name().substring(names.besides(name).length());
            copy(what, object.name(), object.etag(), name, to, "-" + id);
            kept.add(object.name());
        }
        copy(what, name, etag, name, to, "");
        String write = chance.writeId();
        State unknown = unknownEpoch().state();
        Document empty = Document.empty(unknown.epoch(), unknown.revision(), List.of(write));
        String mark = bucket.putIf(what, name, etag, DocumentWriter.mark(empty, names.owner(name)))
                .etag();
        if (mark != null) {
            remove(what, name, mark, Tombstone.of(empty), kept);
        } else {
            endQuarantine(what, name, to, Tombstone.of(empty), kept);
        }
        recent.remove(name);
        return to;
    }

    /** Completes a quarantine whose mark may or may not have been written. */
    private void endQuarantine(String what, String name, String to, Tombstone tombstone, Set<String> kept) {
        String write = tombstone.writes().get(0);
        Bucket.Content content = bucket.get(what, name, null) instanceof Bucket.Content found ? found : null;
        DocumentParser.Parts parts = content == null ? null : readable(what, content);
        KeepsakeField keepsake = parts == null ? null : parts.keepsake();
        boolean written = keepsake != null && keepsake.writes().contains(write);
        // With another epoch, it is the mark of a later erasure, which removes it itself.
        boolean mark = parts != null && parts.isErasing() && keepsake != null && keepsake.epoch() == tombstone.epoch();
        if (content != null && written && mark) {
            remove(what, name, content.etag(), tombstone, kept);
        } else if (!written && !tombstones.of(what, name).writes().contains(write)) {
            throw changedMeanwhile(what, name, to);
        }
    }

    private static DocumentParser.@Nullable Parts readable(String what, Bucket.Content content) {
        try {
            return DocumentParser.parse(what, content);
        } catch (UnreadableDataException e) {
            return null;
        }
    }

    private void copy(String what, String name, String etag, String document, String to, String suffix) {
        if (!bucket.copyIf(what, name, etag, to + suffix)) {
            throw changedMeanwhile(what, document, to);
        }
    }

    /**
     * Removes the copies if this log has changed the document: an erasure may have been first and may not have seen
     * them. If another program wrote the document, they are kept, because they may be the only copy of the overwritten
     * content.
     */
    private StorageUnavailableException changedMeanwhile(String what, String document, String copies) {
        boolean ours = true;
        if (bucket.get(what, document, null) instanceof Bucket.Content content) {
            DocumentParser.Parts parts = readable(what, content);
            ours = parts != null && parts.keepsake() != null;
        }
        if (ours) {
            namesOf(what, copies).forEach(copy -> bucket.delete(what, copy));
            if (namesOf(what, names.damaged(document, "")).isEmpty()) {
                bucket.delete(what, names.quarantined(document));
            }
        }
        return new StorageUnavailableException(what + ": it was changed meanwhile and was kept. Try again", null);
    }

    /** A document that cannot be read, and its memory if that is known. */
    private record Damaged(String etag, @Nullable MemoryKey key) {}

    private Damaged damaged(String what, String name) {
        if (!(bucket.get(what, name, null) instanceof Bucket.Content content)) {
            throw new InvalidInputException("objectName", "names no object: " + name);
        }
        MemoryKey key = names.key(name);
        try {
            DocumentParser.Parts parts = DocumentParser.parse(what, content).of(what, names.owner(name));
            if (key == null && parts.keepsake() != null && parts.keepsake().key() != null) {
                key = MemoryKey.parse(parts.keepsake().key());
            }
        } catch (UnreadableDataException e) {
            return new Damaged(content.etag(), key);
        }
        Snapshot read = key == null ? null : reader.read(key, name, null);
        if (read == null || read.problem() == null || read.etag() == null) {
            throw new InvalidInputException(
                    "objectName", "names a document that can be read: " + name + ". Use erase to remove a memory");
        }
        return new Damaged(read.etag(), key);
    }

    /** Runs work while no other thread of this log changes the memory. */
    <T> T locked(MemoryKey key, Supplier<T> work) {
        return locks.locked(key, work);
    }

    /** Returns a memory as it was last read or written, or null. It may be old. It is readable. */
    @Nullable
    Snapshot remembered(MemoryKey key) {
        Snapshot remembered = recent(names.document(key));
        return remembered == null || remembered.problem() != null ? null : remembered;
    }

    /** Reads a memory, with a request in any case. */
    Snapshot load(MemoryKey key) {
        String name = names.document(key);
        Snapshot loaded = reader.read(key, name, recent(name));
        // A missing document is remembered too, so that a first turn is a read and a write.
        recent.put(name, new SoftReference<>(loaded));
        return loaded;
    }

    /** Returns a tree that is only read, or never written. */
    MemoryTree tree(MemoryKey key, State state) {
        return new MemoryTree(key, contents.payloads(key), state);
    }

    private @Nullable Snapshot recent(String name) {
        SoftReference<Snapshot> reference = recent.get(name);
        return reference == null ? null : reference.get();
    }

    /** One change on its way into the bucket. */
    private final class Writer<T> {
        private final MemoryKey key;
        private final String what;
        private final String name;
        private final Function<MemoryTree, T> change;
        private final String write = chance.writeId();

        /** The objects that an erasure deletes; null for any other change. */
        private final @Nullable Set<String> erased;

        /** The objects beside the document, each with the snapshots that no longer name it. */
        private final Map<String, Predicate<Snapshot>> orphans = new LinkedHashMap<>();

        /** The change's result when it was last written. An earlier attempt was not written, or gave the same result. */
        private @Nullable T result;

        /** The base of the change. */
        private @Nullable Snapshot base;

        Writer(MemoryKey key, Function<MemoryTree, T> change, @Nullable Set<String> erased) {
            this.key = key;
            this.what = "Memory " + key;
            this.name = names.document(key);
            this.change = change;
            this.erased = erased;
        }

        T run(@Nullable Snapshot first) {
            T answer;
            try {
                answer = attempt(first);
            } catch (RuntimeException e) {
                // A layer above may give up a change with an exception of its own.
                cleanUp(e);
                throw e;
            }
            removeErasedBefore();
            return answer;
        }

        /**
         * Removes the objects of a failed change, because an erasure that has listed the objects beside the document
         * misses later ones. If this is not possible now, the caller gets a retryable error, whatever the reason of the
         * failure was.
         */
        private void cleanUp(RuntimeException failure) {
            try {
                if (!orphans.isEmpty()) {
                    base = load(key);
                    removeOrphans(base);
                }
                removeErasedBefore();
            } catch (KeepsakeException e) {
                e.addSuppressed(failure);
                throw e;
            }
        }

        private T attempt(@Nullable Snapshot first) {
            // A remembered snapshot may be old. Then the condition fails, or the change's answer is checked.
            Snapshot remembered = first == null ? remembered(key) : first;
            Snapshot now = remembered == null ? load(key) : remembered;
            boolean newest = remembered == null;
            int conflicts = 0;
            int unknown = 0;
            int looks = 0;
            int misunderstood = 0;
            while (true) {
                base = now;
                boolean refused = false;
                if (now.standing() == Snapshot.Standing.ERASING && erased == null) {
                    // Only the erasure itself removes its mark, so that its deletion finds nothing else.
                    if (newest && ++looks > LOOKS) {
                        endErasure(what, name);
                    } else if (newest) {
                        pause(looks);
                    }
                } else {
                    Map<String, byte[]> moved = new LinkedHashMap<>();
                    State state = changed(now, newest, moved);
                    if (state == null && newest) {
                        return done(result);
                    }
                    if (state != null) {
                        try {
                            Bucket.Put put = written(now, state, moved);
                            if (put.etag() != null) {
                                return done(result);
                            }
                            refused = put.refused();
                            pause(++conflicts);
                        } catch (StorageUnavailableException e) {
                            if (++unknown == UNKNOWN) {
                                throw e;
                            }
                        }
                    }
                }
                String etag = now.etag();
                now = load(key);
                base = now;
                newest = true;
                if (now.document().writes().contains(write)) {
                    boolean own = erased != null || isNewest(write, now.document());
                    if (now.standing() != Snapshot.Standing.ERASING || !own || erased(now)) {
                        return done(result);
                    }
                    now = load(key);
                    base = now;
                }
                tryToRemoveOrphans(now);
                misunderstood = refused && etag != null && etag.equals(now.etag()) ? misunderstood + 1 : 0;
                if (misunderstood == MISUNDERSTOOD) {
                    throw new KeepsakeException(
                            what + ": the server refuses a write on the condition that the etag is " + etag
                                    + ", although a read returns this etag. Nothing was written. The server does not "
                                    + "understand If-Match: try S3MessageLog.Builder.quotedEtags(false). If the "
                                    + "bucket is versioned, some servers compare with another "
                                    + "version: use a bucket that never had versioning",
                            null);
                }
                if (conflicts == CONFLICTS) {
                    throw new StorageUnavailableException(
                            what + ": other writers were first " + CONFLICTS + " times. Nothing was written. Try again",
                            null);
                }
            }
        }

        /** Distinguishes the mark of this write from a later one, whose writer knows the other objects to delete. */
        private static boolean isNewest(String write, Document document) {
            return document.writes().get(document.writes().size() - 1).equals(write);
        }

        /** Removes an object after a concurrent erasure, if this change did not overwrite the mark. */
        private void removeErasedBefore() {
            Snapshot left = base;
            if (left == null || left.etag() == null || left.standing() != Snapshot.Standing.ERASED_BEFORE) {
                return;
            }
            Bucket.Put put = bucket.putIf(what, name, left.etag(), DocumentWriter.mark(left.document(), key.tenant()));
            if (put.etag() != null) {
                bucket.deleteIf(what, name, put.etag());
            } else {
                // The answer may have been lost; then the mark exists.
                endErasure(what, name);
            }
        }

        /** Returns the changed memory, or null if nothing changes, or if an old snapshot may be why the change is refused. */
        private @Nullable State changed(Snapshot base, boolean newest, Map<String, byte[]> moved) {
            boolean readable = base.problem() == null;
            if (!readable && erased == null) {
                base.readable();
            }
            State before = (readable ? base.document() : unknownEpoch()).state();
            MemoryTree tree = new MemoryTree(key, contents.payloads(key, before.epoch(), moved), before);
            try {
                result = change.apply(tree);
            } catch (KeepsakeException e) {
                if (newest) {
                    throw e;
                }
                return null;
            }
            State state = tree.state();
            return readable && state.equals(before) ? null : state;
        }

        /** Writes the objects beside the document, and then the document if no other writer was first. */
        private Bucket.Put written(Snapshot base, State state, Map<String, byte[]> moved) {
            KeepsakeField.Step step = KeepsakeField.Step.REPLACE;
            if (erased != null) {
                step = base.etag() == null ? KeepsakeField.Step.ERASE_NOTHING : KeepsakeField.Step.ERASE;
            } else if (base.isEmptiedBy(state)) {
                step = KeepsakeField.Step.REMOVE;
            } else if (base.etag() == null) {
                step = KeepsakeField.Step.CREATE;
            }
            DocumentWriter.Written written = DocumentWriter.write(key, name, base.document(), state, write, step);
            checkSize(written.bytes());
            moved.values().forEach(this::checkSize);
            moved.forEach((object, bytes) -> {
                if (!orphans.containsKey(object)) {
                    bucket.put(what, object, bytes);
                    orphans.put(object, now -> now.document().state().epoch() != state.epoch());
                }
            });
            String kept = written.document().kept();
            if (written.keptBytes() != null && kept != null) {
                checkSize(written.keptBytes());
                bucket.put(what, names.kept(name, kept), written.keptBytes());
                noteKept(kept, base.etag());
            }
            if (erased != null) {
                // After the read on which the write depends: later objects belong to a change that makes this write
                // fail.
                erased.addAll(beside(what, name));
                noteErased(base.document(), erased);
            }
            Bucket.Put put = bucket.putIf(what, name, base.etag(), written.bytes());
            if (put.etag() == null) {
                return put;
            }
            if (base.etag() == null
                    && erasedEpoch(put.etag()) > base.document().state().epoch()) {
                // An erasure happened between the read and this write.
                return new Bucket.Put(null, false);
            }
            Snapshot now = reader.snapshot(key, put.etag(), written.document());
            this.base = now;
            if (step.isMark()) {
                return erased(now) ? put : new Bucket.Put(null, false);
            }
            recent.put(name, new SoftReference<>(now));
            String before = base.document().kept();
            if (before != null) {
                noteKept(before, base.etag());
            }
            tryToRemoveOrphans(now);
            return put;
        }

        /**
         * Returns the epoch of the newest erasure. A document that was created in another tenant's place is removed
         * again.
         */
        private long erasedEpoch(String created) {
            try {
                return tombstones.of(what, name).epoch();
            } catch (TenantMismatchException e) {
                bucket.deleteIf(what, name, created);
                throw e;
            }
        }

        /**
         * Ends an erasure whose mark is written. If a request that created the document arrived again after another erasure,
         * the document had its old etag again, so the mark was written on it, with the epoch of that erasure.
         *
         * @return false if another erasure has this epoch; then this one begins again on its mark
         */
        private boolean erased(Snapshot mark) {
            Tombstone own = Tombstone.of(mark.document());
            Tombstone stored = buried(what, name, own, erased == null ? Set.of() : erased);
            if (erased != null && !stored.equals(own) && !stored.writes().contains(write)) {
                return false;
            }
            bucket.deleteIf(what, name, Objects.requireNonNull(mark.etag()));
            recent.put(name, new SoftReference<>(reader.snapshot(key, null, mark.document())));
            return true;
        }

        private void noteErased(Document document, Set<String> objects) {
            if (document.kept() != null) {
                objects.add(names.kept(name, document.kept()));
            }
            for (Entry entry : document.state().entries()) {
                objects.addAll(contents.objects(name, entry.payload()));
            }
        }

        private void checkSize(byte[] bytes) {
            if (bytes.length > bucket.maxBytes()) {
                throw new InvalidInputException(
                        "messages",
                        "would make an object of memory " + key + " of " + bytes.length
                                + " bytes, which is larger than the limit maxObjectBytes of " + bucket.maxBytes()
                                + "; nothing was written. Shorten the messages, or raise the limit");
            }
        }

        /**
         * A kept object is valid only with a document that names it, and no writer can name it after the etag has
         * changed.
         */
        private void noteKept(String kept, @Nullable String etag) {
            orphans.put(
                    names.kept(name, kept),
                    now -> !Objects.equals(now.etag(), etag)
                            && !kept.equals(now.document().kept()));
        }

        /** Removes orphans. An orphan that stays because of an error is removed when the memory is erased. */
        private void tryToRemoveOrphans(Snapshot now) {
            try {
                removeOrphans(now);
            } catch (KeepsakeException e) {
                LOG.debug("Memory {}: an object beside the document cannot be removed now", key);
            }
        }

        private void removeOrphans(Snapshot now) {
            if (now.problem() != null) {
                return;
            }
            for (Map.Entry<String, Predicate<Snapshot>> orphan : List.copyOf(orphans.entrySet())) {
                if (orphan.getValue().test(now)) {
                    bucket.delete(what, orphan.getKey());
                    orphans.remove(orphan.getKey());
                }
            }
        }

        private void pause(int conflicts) {
            chance.pause(what, (int) Math.min(MAX_PAUSE_MILLIS, 4L << Math.min(conflicts, 10)));
        }
    }

    /** The result of a change that was made. It is null only if the change returned null. */
    @SuppressWarnings("NullAway")
    private static <T> T done(@Nullable T result) {
        return result;
    }

    /**
     * Returns an empty memory. Its epoch is unknown; the time in milliseconds is higher than any number of erasures.
     */
    private static Document unknownEpoch() {
        long millis = System.currentTimeMillis();
        return Document.empty(millis, millis, List.of());
    }
}

package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.MemoryTree;
import io.github.keepsake4j.log.MemoryTree.Entry;
import io.github.keepsake4j.log.MemoryTree.State;
import io.github.keepsake4j.log.RecentlyUsed;
import io.github.keepsake4j.log.StorageUnavailableException;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import java.lang.ref.SoftReference;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Memories as documents in a bucket. A change is written on the condition that no other writer was first. If one was, the
 * change is made again on what that writer wrote, so no change is lost. A change puts its id into the document that it
 * writes. So a writer whose answer was lost finds its own write instead of losing to it.
 */
final class DocumentStore implements Memories {

    /** A change is made again this many times after another writer was first; with the pauses, about ten seconds. */
    private static final int CONFLICTS = 40;

    /** A change is tried this many times when it is not known whether it was written. The SDK has tried before. */
    private static final int UNKNOWN = 3;

    private static final int MAX_PAUSE_MILLIS = 500;
    private static final int RECENT = 128;
    private static final int LOCKS = 64;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Bucket bucket;
    private final ObjectNames names;
    private final DocumentReader reader;
    private final MovedContents contents;

    /** Snapshots by the documents' names. They are large, so they go when the heap gets tight. */
    private final RecentlyUsed<String, SoftReference<Snapshot>> recent = new RecentlyUsed<>(RECENT);

    /** Writers of one process wait for each other, since losing a race costs a whole document. */
    private final Lock[] locks =
            Stream.generate(() -> new ReentrantLock(true)).limit(LOCKS).toArray(Lock[]::new);

    DocumentStore(Bucket bucket, ObjectNames names, DocumentReader reader, MovedContents contents) {
        this.bucket = bucket;
        this.names = names;
        this.reader = reader;
        this.contents = contents;
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
        return locked(key, () -> new Writer<>(key, change, false).run(first));
    }

    /**
     * Erases a memory and all objects beside its document. These are listed before, since what others put there afterwards
     * belongs to the memory that begins anew.
     */
    @Override
    public long erase(MemoryKey key) {
        String what = "Memory " + key;
        Writer<Long> writer = new Writer<>(key, MemoryTree::erase, true);
        bucket.list(what, ObjectNames.besides(names.document(key))).forEach(object -> writer.erased.add(object.name()));
        long epoch = locked(key, () -> writer.run(null));
        writer.erased.forEach(object -> bucket.delete(what, object));
        return epoch;
    }

    /** Works while no other thread of this log changes the memory. */
    <T> T locked(MemoryKey key, Supplier<T> work) {
        Lock lock = locks[Math.floorMod(key.hashCode(), LOCKS)];
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    /** Returns a memory as it was read or written last, or null. It may be old, and it can be read. */
    @Nullable
    Snapshot remembered(MemoryKey key) {
        Snapshot remembered = recent(names.document(key));
        return remembered == null || remembered.problem() != null ? null : remembered;
    }

    /** Reads a memory, with a request in any case. */
    Snapshot load(MemoryKey key) {
        String name = names.document(key);
        Snapshot loaded = reader.read(key, name, recent(name));
        // A document that is not there is remembered too, so a first turn is a read and a write.
        recent.put(name, new SoftReference<>(loaded));
        return loaded;
    }

    /** Returns a tree that is only asked, or never written. */
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
        private final boolean erasing;
        private final String write = newWriteId();

        /** The objects that an erasure must delete. */
        private final Set<String> erased = new LinkedHashSet<>();

        /** Objects beside the document, each with the snapshots in which nothing names it any more. */
        private final Map<String, Predicate<Snapshot>> orphans = new LinkedHashMap<>();

        /** The change's result when it was last written. An earlier attempt was not written, or gave the same result. */
        private @Nullable T result;

        Writer(MemoryKey key, Function<MemoryTree, T> change, boolean erasing) {
            this.key = key;
            this.what = "Memory " + key;
            this.name = names.document(key);
            this.change = change;
            this.erasing = erasing;
        }

        T run(@Nullable Snapshot first) {
            // A remembered snapshot may be old. Then the condition fails, or the change's answer is checked.
            Snapshot remembered = first == null ? remembered(key) : first;
            Snapshot base = remembered == null ? load(key) : remembered;
            boolean newest = remembered == null;
            int conflicts = 0;
            int unknown = 0;
            while (true) {
                Map<String, byte[]> moved = new LinkedHashMap<>();
                State state = changed(base, newest, moved);
                if (state == null && newest) {
                    return done(result);
                }
                if (state != null) {
                    try {
                        if (isWritten(base, state, moved)) {
                            return done(result);
                        }
                        pause(++conflicts);
                    } catch (StorageUnavailableException e) {
                        if (++unknown == UNKNOWN) {
                            throw e;
                        }
                    }
                }
                base = load(key);
                newest = true;
                if (base.document().writes().contains(write)) {
                    return done(result);
                }
                removeOrphans(base);
                if (conflicts == CONFLICTS) {
                    throw new StorageUnavailableException(
                            what + ": others were first " + CONFLICTS + " times; nothing was written. Try again", null);
                }
            }
        }

        /** Returns the changed memory, or null if nothing changes, or if an old snapshot may be why the change is refused. */
        private @Nullable State changed(Snapshot base, boolean newest, Map<String, byte[]> moved) {
            boolean readable = base.problem() == null;
            if (!readable && !erasing) {
                base.readable();
            }
            // An unreadable epoch is unknown, but no memory was erased as often as there are milliseconds.
            State before = (readable ? base.document() : Document.empty(System.currentTimeMillis(), List.of())).state();
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
        private boolean isWritten(Snapshot base, State state, Map<String, byte[]> moved) {
            DocumentWriter.Written written = DocumentWriter.write(key, name, base.document(), state, write);
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
                bucket.put(what, ObjectNames.kept(name, kept), written.keptBytes());
                noteKept(kept, base.etag());
            }
            if (erasing) {
                noteErased(base.document());
            }
            String etag = bucket.putIf(what, name, base.etag(), written.bytes());
            if (etag == null) {
                return false;
            }
            Snapshot now = reader.snapshot(key, etag, written.document());
            recent.put(name, new SoftReference<>(now));
            String before = base.document().kept();
            if (before != null) {
                noteKept(before, base.etag());
            }
            removeOrphans(now);
            return true;
        }

        private void noteErased(Document document) {
            if (document.kept() != null) {
                erased.add(ObjectNames.kept(name, document.kept()));
            }
            for (Entry entry : document.state().entries()) {
                erased.addAll(MovedContents.objects(name, entry.payload()));
            }
        }

        private void checkSize(byte[] bytes) {
            if (bytes.length > bucket.maxBytes()) {
                throw new InvalidInputException(
                        "messages",
                        "would make an object of memory " + key + " larger than the limit of " + bucket.maxBytes()
                                + " bytes; nothing was written");
            }
        }

        /** A kept object counts only with a document that names it, and no writer can name it once the etag has changed. */
        private void noteKept(String kept, @Nullable String etag) {
            orphans.put(
                    ObjectNames.kept(name, kept),
                    now -> !Objects.equals(now.etag(), etag)
                            && !kept.equals(now.document().kept()));
        }

        /** Removes orphans. One that stays because of an error is removed when the memory is erased. */
        private void removeOrphans(Snapshot now) {
            if (now.problem() != null) {
                return;
            }
            for (Map.Entry<String, Predicate<Snapshot>> orphan : List.copyOf(orphans.entrySet())) {
                if (orphan.getValue().test(now)) {
                    try {
                        bucket.delete(what, orphan.getKey());
                    } catch (KeepsakeException e) {
                        return;
                    }
                    orphans.remove(orphan.getKey());
                }
            }
        }

        private void pause(int conflicts) {
            int limit = (int) Math.min(MAX_PAUSE_MILLIS, 4L << Math.min(conflicts, 10));
            try {
                Thread.sleep(ThreadLocalRandom.current().nextInt(limit));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new StorageUnavailableException(
                        what + ": interrupted while waiting for other writers; nothing was written", e);
            }
        }
    }

    /** A change that was made has a result. It is null only if the change returned null. */
    @SuppressWarnings("NullAway")
    private static <T> T done(@Nullable T result) {
        return result;
    }

    private static String newWriteId() {
        byte[] bytes = new byte[9];
        RANDOM.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}

package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.log.MemoryTree;
import io.github.keepsake4j.log.MemoryTree.Entry;
import io.github.keepsake4j.log.MemoryTree.State;
import io.github.keepsake4j.log.StorageUnavailableException;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads memories, and changes them so that nobody's change is lost: a change is written on the condition that nobody was
 * first, else made again on what they wrote. A change names itself in what it writes: so a writer whose answer was lost
 * finds its own write instead of losing to it.
 */
final class DocumentStore {

    /** How often a change is made again after somebody was first; with the pauses, about ten seconds. */
    private static final int CONFLICTS = 40;

    /** How often a change is tried again of which nobody knows whether it was written. The SDK has tried before. */
    private static final int UNKNOWN = 3;

    private static final int MAX_PAUSE_MILLIS = 500;
    private static final int RECENT = 128;
    private static final int LOCKS = 64;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Bucket bucket;
    private final ObjectNames names;
    private final DocumentReader reader;
    private final Recent<Loaded> recent = new Recent<>(RECENT);

    /** Writers of one process wait for each other: losing a race costs a whole document. */
    private final Lock[] locks = new Lock[LOCKS];

    DocumentStore(Bucket bucket, ObjectNames names, DocumentReader reader) {
        this.bucket = bucket;
        this.names = names;
        this.reader = reader;
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new ReentrantLock(true);
        }
    }

    /** Asks the newest state of a memory. */
    <T> T read(MemoryKey key, Function<MemoryTree, T> query) {
        return query.apply(load(key).readable().tree());
    }

    /** Changes a memory. The change may be made several times, each time on another copy. */
    <T> T write(MemoryKey key, Function<MemoryTree, T> change) {
        return write(key, null, change);
    }

    /** The same, tried first on what the caller has, or with null on what is remembered. */
    <T> T write(MemoryKey key, @Nullable Loaded first, Function<MemoryTree, T> change) {
        return locked(key, () -> new Writer<>(key, first, change, false).run());
    }

    /**
     * Erases a memory, even one that cannot be read, and all that lies beside its document. That is looked for before: what
     * others put there afterwards belongs to the memory that begins anew.
     */
    long erase(MemoryKey key) {
        String what = "Memory " + key;
        Writer<Long> writer = new Writer<>(key, null, MemoryTree::erase, true);
        Set<String> beside = new LinkedHashSet<>();
        bucket.list(what, ObjectNames.besides(names.document(key))).forEach(object -> beside.add(object.name()));
        long epoch = locked(key, writer::run);
        beside.addAll(writer.erased);
        beside.forEach(object -> bucket.delete(what, object));
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

    /** What was read or written last, or null. It may be old. */
    @Nullable
    Loaded remembered(MemoryKey key) {
        Loaded remembered = recent.get(names.document(key));
        return remembered == null || remembered.problem() != null ? null : remembered;
    }

    /** Reads a memory, with a request in any case. */
    Loaded load(MemoryKey key) {
        String name = names.document(key);
        Loaded loaded = reader.read(key, name, recent.get(name));
        // That there is nothing is worth remembering too: a first turn is a read and a write.
        recent.put(name, loaded);
        return loaded;
    }

    /**
     * An object that was put beside a document.
     *
     * @param etag which etag the document had to have for it to count, or null for none
     */
    private record Put(String object, @Nullable String etag) {}

    /** One change on its way into the bucket. */
    private final class Writer<T> {
        private final MemoryKey key;
        private final String name;
        private final @Nullable Loaded first;
        private final Function<MemoryTree, T> change;
        private final boolean erasing;
        private final String write = newWriteId();
        private final List<Put> puts = new ArrayList<>();

        /** What lay beside the documents that an erasure tried to replace. */
        private final Set<String> erased = new LinkedHashSet<>();

        /** What the change returned when it was last written; another attempt was either not written or gave the same. */
        private @Nullable T result;

        Writer(MemoryKey key, @Nullable Loaded first, Function<MemoryTree, T> change, boolean erasing) {
            this.key = key;
            this.first = first;
            this.name = names.document(key);
            this.change = change;
            this.erasing = erasing;
        }

        T run() {
            // What is remembered may be old; then the condition fails, or what the change says is checked.
            Loaded remembered = first == null ? recent.get(name) : first;
            boolean newest = remembered == null || remembered.problem() != null;
            Loaded base = remembered == null || newest ? load(key) : remembered;
            int conflicts = 0;
            int unknown = 0;
            while (true) {
                MemoryTree tree = tree(base);
                T made;
                try {
                    made = change.apply(tree);
                } catch (KeepsakeException e) {
                    if (newest) {
                        throw e;
                    }
                    base = load(key);
                    newest = true;
                    continue;
                }
                State state = tree.state();
                if (state.equals(base.document().state()) && base.problem() == null) {
                    if (newest) {
                        return made;
                    }
                    base = load(key);
                    newest = true;
                    continue;
                }
                try {
                    if (written(base, state, made)) {
                        return made;
                    }
                    pause(++conflicts);
                } catch (StorageUnavailableException e) {
                    if (++unknown == UNKNOWN) {
                        throw e;
                    }
                }
                base = load(key);
                newest = true;
                if (base.document().beside().writes().contains(write)) {
                    return done(result);
                }
                if (base.problem() == null) {
                    removeOrphans(base.etag(), base.document().beside().kept());
                }
                if (conflicts == CONFLICTS) {
                    throw new StorageUnavailableException(
                            "Memory " + key + ": others were first " + CONFLICTS
                                    + " times; nothing was written. Try again",
                            null);
                }
            }
        }

        private MemoryTree tree(Loaded base) {
            if (base.problem() == null) {
                return new MemoryTree(key, Element.PAYLOADS, base.document().state());
            }
            if (!erasing) {
                base.readable();
            }
            // The epoch cannot be read either, and no memory was erased as often as there are milliseconds.
            return new MemoryTree(
                    key,
                    Element.PAYLOADS,
                    Document.unknown(System.currentTimeMillis()).state());
        }

        private boolean written(Loaded base, State state, T made) {
            Change changed = Change.of(key, name, base.document(), state, write);
            checkSize(changed.bytes());
            Beside.Kept kept = changed.document().beside().kept();
            if (changed.keptBytes() != null && kept != null) {
                checkSize(changed.keptBytes());
                bucket.put("Memory " + key, ObjectNames.kept(name, kept.object()), changed.keptBytes());
                puts.add(new Put(kept.object(), base.etag()));
            }
            if (erasing) {
                noteBeside(base.document());
            }
            result = made;
            String etag = bucket.putIf("Memory " + key, name, base.etag(), changed.bytes());
            if (etag == null) {
                return false;
            }
            recent.put(name, Loaded.of(key, etag, changed.document()));
            Beside.Kept before = base.document().beside().kept();
            if (before != null && !before.equals(kept)) {
                puts.add(new Put(before.object(), base.etag()));
            }
            removeOrphans(etag, kept);
            return true;
        }

        private void noteBeside(Document document) {
            Beside.Kept kept = document.beside().kept();
            if (kept != null) {
                erased.add(ObjectNames.kept(name, kept.object()));
            }
            for (Entry entry : document.state().entries()) {
                MovedContents.hashes(entry.payload()).forEach(hash -> erased.add(ObjectNames.content(name, hash)));
            }
        }

        private void checkSize(byte[] bytes) {
            if (bytes.length > bucket.maxBytes()) {
                throw new InvalidInputException(
                        "messages",
                        "would make the document of memory " + key + " larger than the limit of " + bucket.maxBytes()
                                + " bytes; nothing was written");
            }
        }

        /**
         * Nothing names these any more, and no write that is still under way can: the document's etag has changed. An
         * erasure that was faster has not seen them either. What stays behind because of an error is removed when the
         * memory is erased.
         */
        private void removeOrphans(@Nullable String etag, Beside.@Nullable Kept named) {
            for (Put put : List.copyOf(puts)) {
                boolean orphan = !Objects.equals(put.etag(), etag)
                        && (named == null || !named.object().equals(put.object()));
                if (orphan) {
                    try {
                        bucket.delete("Memory " + key, ObjectNames.kept(name, put.object()));
                    } catch (KeepsakeException e) {
                        return;
                    }
                    puts.remove(put);
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
                        "Memory " + key + ": interrupted while waiting for other writers; nothing was written", e);
            }
        }
    }

    /** What was written has a result, which is null only if the change gave null. */
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

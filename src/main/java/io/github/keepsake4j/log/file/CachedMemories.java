package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.MemoryTooLargeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memories in the heap, and the open files. The least recently used memories are dropped if there are too many
 * messages, and their files are closed if there are too many files. Thread-safe.
 */
final class CachedMemories {

    private static final Logger LOG = LoggerFactory.getLogger(CachedMemories.class);

    /** The largest number of messages of all memories in the heap. */
    static final long MOST_MESSAGES = 200_000;

    /** The number of messages above which a memory is logged. */
    static final int LARGE = 100_000;

    private static final long BYTES_A_MESSAGE = 300;

    private static final class Entry {
        private final CachedMemory memory;
        private int users;

        /** Its messages as they are counted in the sum. */
        private long counted;

        Entry(CachedMemory memory) {
            this.memory = memory;
        }
    }

    /** Work with a memory. */
    interface Work<T> {
        T on(@Nullable CachedMemory memory) throws IOException;
    }

    private final Disk.Opener opener;
    private final int mostOpen;
    private final boolean force;
    private final long heap;
    private final Map<String, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);

    /** Those whose files may be open. */
    private final Map<String, Entry> open = new LinkedHashMap<>(16, 0.75f, true);

    private final Set<String> toldOf = new HashSet<>();
    private long messages;
    private boolean closed;

    CachedMemories(Disk.Opener opener, int mostOpen, boolean force) {
        this.opener = opener;
        this.mostOpen = mostOpen;
        this.force = force;
        this.heap = Runtime.getRuntime().maxMemory() / 10 * 6 / BYTES_A_MESSAGE;
    }

    /**
     * Does something with a memory.
     *
     * @param work receives null if the memory has no file
     */
    <T> T with(Names names, Work<T> work) throws IOException {
        Entry entry = enter(names);
        try {
            return work.on(entry == null ? null : entry.memory);
        } catch (MemoryTooLargeException e) {
            drop(names);
            throw e;
        } finally {
            leave(entry);
        }
    }

    private @Nullable Entry enter(Names names) throws IOException {
        // If the file is replaced each time that it is opened, the memory is erased continually.
        for (int i = 0; i < 100; i++) {
            Entry there = use(names);
            if (there != null) {
                boolean isCurrent = false;
                try {
                    isCurrent = there.memory.isCurrent();
                } finally {
                    if (!isCurrent) {
                        leave(there);
                    }
                }
                if (isCurrent) {
                    return there;
                }
            }
            CachedMemory opened = CachedMemory.open(names, opener, force, this);
            if (opened != null) {
                replace(names, there, opened);
            } else if (!Files.exists(names.data())) {
                return null;
            } else if (!Files.isRegularFile(names.data())) {
                throw new IOException(names.data() + " is not a file");
            }
        }
        throw new StorageUnavailableException(
                "The file " + names.data() + " was replaced during each try. Retry later");
    }

    /** Returns whether a memory is in the heap. */
    synchronized boolean isKnown(Names names) {
        return entries.containsKey(names.base());
    }

    private synchronized @Nullable Entry use(Names names) {
        Entry entry = entries.get(names.base());
        if (entry != null) {
            entry.users++;
            open.put(names.base(), entry);
        }
        return entry;
    }

    private void replace(Names names, @Nullable Entry before, CachedMemory opened) throws IOException {
        boolean isContinued = false;
        try {
            if (before != null) {
                before.memory.checkContinuedBy(opened);
            }
            isContinued = true;
        } finally {
            if (!isContinued) {
                opened.close();
            }
        }
        synchronized (this) {
            if (closed || entries.get(names.base()) != before) {
                opened.close();
                if (closed) {
                    throw new IOException("the log is closed");
                }
                return;
            }
            drop(names);
            Entry entry = new Entry(opened);
            entries.put(names.base(), entry);
            open.put(names.base(), entry);
        }
    }

    private synchronized void leave(@Nullable Entry entry) throws IOException {
        if (entry == null) {
            return;
        }
        entry.users--;
        if (entries.get(entry.memory.names().base()) != entry) {
            if (entry.users == 0) {
                entry.memory.close();
            }
            return;
        }
        count(entry);
        forget(most(), null);
        Iterator<Entry> eldest = open.values().iterator();
        while (open.size() > mostOpen && eldest.hasNext()) {
            Entry old = eldest.next();
            if (old.users == 0) {
                old.memory.close();
                eldest.remove();
            }
        }
    }

    private void count(Entry entry) {
        long weight = entry.memory.weight();
        messages += weight - entry.counted;
        entry.counted = weight;
        if (weight > LARGE && toldOf.add(entry.memory.names().base())) {
            LOG.warn(
                    "Memory {} has about {} messages, whose tree each process has in its heap: from {} on, a database such as"
                            + " SQLite serves it better",
                    entry.memory.header().key(),
                    weight,
                    LARGE);
        }
    }

    private void forget(long most, @Nullable Entry except) throws IOException {
        if (messages <= most) {
            return;
        }
        for (Entry eldest : List.copyOf(entries.values())) {
            if (messages > most && eldest != except && eldest.users == 0 && !eldest.memory.isUnsynced()) {
                drop(eldest.memory.names());
            }
        }
    }

    /**
     * Makes room for more messages of a memory by forgetting other memories.
     *
     * @throws MemoryTooLargeException if the heap does not have enough
     */
    synchronized void need(CachedMemory memory, long more) throws IOException {
        long needed = memory.weight() + more;
        if (needed > heap) {
            throw new MemoryTooLargeException(memory.header().key(), needed, heap);
        }
        Entry entry = entries.get(memory.names().base());
        forget(most() - needed + (entry == null ? 0 : entry.counted), entry);
    }

    private long most() {
        return Math.min(MOST_MESSAGES, heap);
    }

    /** Drops a memory, and closes its file as soon as it is unused. */
    synchronized void drop(Names names) throws IOException {
        Entry entry = entries.remove(names.base());
        open.remove(names.base());
        if (entry != null) {
            messages -= entry.counted;
            if (entry.users == 0) {
                entry.memory.close();
            }
        }
    }

    synchronized void close() throws IOException {
        closed = true;
        for (Entry entry : List.copyOf(entries.values())) {
            drop(entry.memory.names());
        }
    }
}

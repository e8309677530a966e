package io.github.keepsake4j.log.file;

import io.github.keepsake4j.message.StorageUnavailableException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The memories whose files are open. Those that were used least lately are closed where there are too many. Thread-safe. */
final class Memories {

    private static final class Entry {
        private final Memory memory;
        private int users;
        private boolean isDropped;

        Entry(Memory memory) {
            this.memory = memory;
        }
    }

    /** What is done with a memory whose files are open. */
    interface Work<T> {
        T on(@Nullable Memory memory) throws IOException;
    }

    private final Disk.Opener opener;
    private final int most;
    private final boolean force;
    private final Map<String, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);
    private boolean closed;

    Memories(Disk.Opener opener, int most, boolean force) {
        this.opener = opener;
        this.most = most;
        this.force = force;
    }

    /**
     * Does something with a memory.
     *
     * @param work is given null if the memory has no file
     */
    <T> T with(Names names, Work<T> work) throws IOException {
        Entry entry = enter(names);
        try {
            return work.on(entry == null ? null : entry.memory);
        } finally {
            leave(entry);
        }
    }

    private @Nullable Entry enter(Names names) throws IOException {
        // A file that is replaced again and again while it is opened is erased all the time.
        for (int i = 0; i < 100; i++) {
            synchronized (this) {
                Entry entry = entries.get(names.base());
                if (entry != null && entry.memory.isThere()) {
                    entry.users++;
                    return entry;
                }
                drop(names);
            }
            Memory opened = Memory.open(names, opener, force);
            if (opened != null) {
                return add(names, opened);
            }
            if (!Files.exists(names.data())) {
                checkNeverThere(names);
                return null;
            }
        }
        throw new StorageUnavailableException("The file " + names.data() + " is replaced all the time", null);
    }

    /** An index without its file, and no tombstone: the file is away, which is not the same as empty. */
    private static void checkNeverThere(Names names) {
        if (Files.exists(names.index()) && !Files.exists(names.tombstone()) && !Files.exists(names.data())) {
            throw new StorageUnavailableException(
                    "The file " + names.data()
                            + " was removed, but its index is there: put it back, or erase the memory to begin anew",
                    null);
        }
    }

    private synchronized Entry add(Names names, Memory opened) throws IOException {
        Entry there = entries.get(names.base());
        if (there != null) {
            if (there.memory.isThere()) {
                opened.close();
                there.users++;
                return there;
            }
            drop(names);
        }
        Entry entry = new Entry(opened);
        entry.users = 1;
        if (closed) {
            entry.isDropped = true;
            return entry;
        }
        entries.put(names.base(), entry);
        Iterator<Entry> eldest = entries.values().iterator();
        while (entries.size() > most && eldest.hasNext()) {
            Entry old = eldest.next();
            if (old.users == 0) {
                eldest.remove();
                old.memory.close();
            }
        }
        return entry;
    }

    private synchronized void leave(@Nullable Entry entry) throws IOException {
        if (entry != null && --entry.users == 0 && entry.isDropped) {
            entry.memory.close();
        }
    }

    /** Closes a memory's files as soon as no one uses them. */
    synchronized void drop(Names names) throws IOException {
        Entry entry = entries.remove(names.base());
        if (entry != null) {
            entry.isDropped = true;
            if (entry.users == 0) {
                entry.memory.close();
            }
        }
    }

    /** Returns how many memories are open. */
    synchronized int size() {
        return entries.size();
    }

    synchronized void close() throws IOException {
        closed = true;
        for (Entry entry : entries.values()) {
            entry.isDropped = true;
            if (entry.users == 0) {
                entry.memory.close();
            }
        }
        entries.clear();
    }
}

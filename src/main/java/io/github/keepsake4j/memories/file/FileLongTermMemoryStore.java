package io.github.keepsake4j.memories.file;

import io.github.keepsake4j.base.LockFile;
import io.github.keepsake4j.base.SmallFiles;
import io.github.keepsake4j.memories.LongTermMemoryReader;
import io.github.keepsake4j.memories.LongTermMemoryWriter;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Overview;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore;
import io.github.keepsake4j.memories.store.GuardedMemoryStore;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.recall.words.Words;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps long-term memories in files with the names of WilmerAI, in one directory for each tenant.
 *
 * <ul>
 *   <li>{@code <id>_memories.jsonl}: the chunks, one a line, with {@code text_block} and {@code hash}, the SHA-256 of the
 * last message's text. Lines are only added, unless a memory is corrected, pinned or
 *       forgotten. Failed tries and the branch that is shown are in {@code <id>_memories.moves.jsonl}.
 *   <li>{@code <id>_summary.jsonl}: the current summary, in one line. Its versions are in {@code <id>.summaries.jsonl}.
 * If another program wrote a summary before, it is the first version.
 *   <li>{@code <id>_vector_memory.db}: the facts in SQLite, with the tables {@code memories}, {@code memories_fts} and
 *       {@code vector_memory_tracker}; the id is the {@code rowid} of {@code memories_fts}, which has the plain words. It is created with the first fact. Needs {@code org.xerial:sqlite-jdbc}.
 *   <li>{@code <id>.key}: the discussion's key, by which a clean-up finds the remains of an erasure that a crash
 * interrupted.
 *   <li>{@code <hash>.erased}: the number of erasures, and no id. It rejects writes that began before an erasure.
 * </ul>
 *
 * <p>An id of up to 40 lower-case ASCII letters, digits, {@code -} and {@code _} is used unchanged. Other ids are
 * replaced by their harmless characters and a hash.
 *
 * <p>Other programs may read the files at any time. Several processes on one machine may share the directory; it must not be on a
 * network drive. After an erasure, no file has the erased texts. A small file without ids remains. Thread-safe.
 */
public final class FileLongTermMemoryStore extends GuardedMemoryStore {

    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(10);

    private final Path root;
    private final Words words;
    private @Nullable LockFile lockFile;
    private boolean closed;

    private FileLongTermMemoryStore(Path root, Words words) {
        this.root = root;
        this.words = words;
    }

    /**
     * Keeps memories in a directory, which is created on the first change.
     *
     * @param directory the directory, preferably not the directory of a log
     * @return the store, to be closed at the end
     */
    public static FileLongTermMemoryStore of(Path directory) {
        return of(directory, Words.standard());
    }

    /**
     * Keeps memories in a directory, which is created on the first change.
     *
     * @param directory the directory, preferably not the directory of a log
     * @param words splits texts into the words by which facts are found. Facts that were stored with other words are
     * found too, but more slowly until the next change of the discussion.
     * @return the store, to be closed at the end
     */
    public static FileLongTermMemoryStore of(Path directory, Words words) {
        if (Files.exists(directory) && !Files.isDirectory(directory)) {
            throw new InvalidInputException("directory", directory + " is not a directory; choose another path");
        }
        return new FileLongTermMemoryStore(directory, Objects.requireNonNull(words, "words"));
    }

    /** Reads each file once. */
    @Override
    public Overview overview(MemoryKey key, int last, Trust leastTrust) {
        InvalidInputException.checkAtLeast("last", 0, last);
        Overview.Track facts = reading(
                "memories", key, MadeMemory.Kind.FACT, store -> Overview.Track.of(store, key, MadeMemory.Kind.FACT));
        return reading(
                "memories",
                key,
                MadeMemory.Kind.CHUNK,
                store -> Overview.of(
                        store.summary(key),
                        List.of(Overview.Track.of(store, key, MadeMemory.Kind.CHUNK), facts),
                        last,
                        leastTrust));
    }

    @Override
    public Optional<MadeMemory> find(MemoryKey key, String id) {
        return super.find(key, id).or(() -> reading("memory", key, MadeMemory.Kind.FACT, facts -> facts.find(key, id)));
    }

    @Override
    public boolean put(MemoryKey key, MadeMemory memory) {
        if (memory.kind() != MadeMemory.Kind.FACT) {
            return super.put(key, memory);
        }
        // Creates no file, not even while an erasure removes the files.
        return writing(
                "change of a memory",
                key,
                MadeMemory.Kind.CHUNK,
                texts -> Files.exists(MemoryFiles.of(root, key).facts())
                        && facts(key, true, facts -> facts.put(key, memory)));
    }

    @Override
    public void discussions(String tenant, Consumer<MemoryKey> action) {
        reading("list of memories", tenant, () -> {
            texts().discussions(tenant, action);
            return true;
        });
    }

    /** Does nothing: a change leaves no remains. */
    @Override
    public void compact() {}

    @Override
    public String backend() {
        return "file";
    }

    @Override
    public synchronized void close() {
        closed = true;
        LockFile locks = lockFile;
        lockFile = null;
        if (locks != null) {
            try {
                locks.close();
            } catch (IOException e) {
                throw unavailable("close", root, e);
            }
        }
    }

    private <T> T reading(String what, Object of, Supplier<T> work) {
        checkOpen(what);
        try {
            return work.get();
        } catch (UncheckedIOException e) {
            throw unavailable(what, of, e.getCause());
        }
    }

    private KeepsakeException unavailable(String what, Object of, @Nullable Throwable e) {
        if (SmallFiles.isReadOnly(root)) {
            return new KeepsakeException(what + " of " + of + ": the file system of " + root + " is read-only", e);
        }
        return new StorageUnavailableException(
                what + " of " + of + ": the files cannot be used at the moment. "
                        + "Check the directory, its rights and the free space, and retry",
                e);
    }

    @Override
    protected <T> T reading(String what, MemoryKey key, MadeMemory.Kind kind, Function<LongTermMemoryReader, T> work) {
        MemoryFiles files = MemoryFiles.of(root, key);
        if (kind != MadeMemory.Kind.FACT || !Files.exists(files.facts())) {
            return reading(what, key, () -> work.apply(texts()));
        }
        // A reader that still has an erased database open would take the next one's journal for its own, and delete it.
        return locked(
                what,
                files,
                key,
                () -> Files.exists(files.facts())
                        ? facts(key, false, facts -> facts.reading(what, key, kind, work))
                        : work.apply(texts()));
    }

    private <T> T locked(String what, MemoryFiles files, MemoryKey key, LockFile.Work<T> work) {
        return reading(
                what,
                key,
                () -> LedgerStore.io(() -> locks(what).holding(files.lock(), what + " of " + key, LOCK_TIMEOUT, work)));
    }

    private LedgerStore texts() {
        return new LedgerStore(root, words);
    }

    private <T> T facts(MemoryKey key, boolean isMade, Function<JdbcLongTermMemoryStore, T> work) {
        long least = texts().least(key);
        try (JdbcLongTermMemoryStore facts =
                JdbcLongTermMemoryStore.sqlite(MemoryFiles.of(root, key).facts(), isMade, words, least)) {
            return work.apply(facts);
        }
    }

    @Override
    protected <T> T writing(String what, MemoryKey key, MadeMemory.Kind kind, Function<LongTermMemoryWriter, T> work) {
        MemoryFiles files = MemoryFiles.of(root, key);
        return locked(what, files, key, () -> {
            if (!Files.isDirectory(files.directory())) {
                SmallFiles.createDirectories(files.directory());
                SmallFiles.forceNames(root);
            }
            LedgerStore texts = texts();
            if (kind != MadeMemory.Kind.FACT) {
                return work.apply(texts);
            }
            texts.noteKey(key);
            return facts(key, true, facts -> facts.writing(what, key, kind, work));
        });
    }

    private synchronized LockFile locks(String what) throws IOException {
        checkOpen(what);
        LockFile locks = lockFile;
        if (locks == null || !locks.isThere()) {
            if (locks != null) {
                locks.close();
            }
            SmallFiles.createDirectories(root);
            locks = LockFile.open(root);
            lockFile = locks;
        }
        return locks;
    }

    private synchronized void checkOpen(String what) {
        if (closed) {
            throw new StorageClosedException(what + " on the store in " + root);
        }
    }
}

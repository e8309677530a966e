package io.github.keepsake4j.memories.file;

import io.github.keepsake4j.backend.LeaseFile;
import io.github.keepsake4j.base.LockFile;
import io.github.keepsake4j.base.SmallFiles;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Progress;
import io.github.keepsake4j.memories.store.MemoryJson;
import io.github.keepsake4j.memories.store.MemoryTrack;
import io.github.keepsake4j.memories.store.TrackedMemories;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.words.Words;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads and writes the files of JSON lines of {@link FileLongTermMemoryStore}, which have everything except facts. Used for one
 * call on one discussion, so each file is read once. The caller ensures that no other thread or process changes the
 * files. Throws {@link UncheckedIOException} if they cannot be used.
 */
final class LedgerStore extends TrackedMemories {

    private static final Logger LOG = LoggerFactory.getLogger(LedgerStore.class);

    /** How many changes fit between two erasures. */
    private static final int REVISION_BITS = 32;

    private final Path root;
    private final Map<MadeMemory.Kind, Ledger> ledgers = new EnumMap<>(MadeMemory.Kind.class);

    LedgerStore(Path root, Words words) {
        super(words);
        this.root = root;
    }

    /** Does something with files. */
    static <T> T io(LockFile.Work<T> work) {
        try {
            return work.run();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte @Nullable [] read(Path file) {
        return io(() -> Optional.ofNullable(SmallFiles.read(file))).orElse(null);
    }

    private MemoryFiles files(MemoryKey key) {
        return MemoryFiles.of(root, key);
    }

    @Override
    protected MemoryTrack track(MemoryKey key, MadeMemory.Kind kind) {
        return kind == MadeMemory.Kind.FACT
                ? MemoryTrack.empty(least(key))
                : ledger(files(key), kind, least(key)).track();
    }

    private Ledger ledger(MemoryFiles files, MadeMemory.Kind kind, long least) {
        boolean isForeign = kind == MadeMemory.Kind.SUMMARY && !Files.exists(files.summaries());
        return ledgers.computeIfAbsent(
                kind, any -> io(() -> Ledger.read(isForeign ? files.summary() : files.of(kind), kind, least)));
    }

    @Override
    protected void put(MemoryKey key, MadeMemory.Kind kind, MemoryTrack after) {
        MemoryFiles files = files(key);
        io(() -> {
            noteKey(key);
            MemoryTrack before = track(key, kind);
            boolean isAdded = after.entries().size() > before.entries().size()
                    || !after.progress().steps().equals(before.progress().steps());
            boolean changesSummary = kind == MadeMemory.Kind.SUMMARY || !isAdded;
            if (changesSummary && !Files.exists(files.summaries()) && Files.exists(files.summary())) {
                // The summary of another program becomes the first version.
                JsonLines.replace(
                        files.summaries(),
                        JsonLines.read(files.summary(), Ledger.BEGIN).objects());
                ledgers.remove(MadeMemory.Kind.SUMMARY);
            }
            ledger(files, kind, least(key)).write(files.of(kind), after);
            ledgers.remove(kind);
            if (changesSummary) {
                showSummary(files, summary(key));
            }
            return after;
        });
    }

    /**
     * Writes the file with the current summary. It is a copy: if the process dies before this, the next change writes
     * it.
     */
    private static void showSummary(MemoryFiles files, @Nullable MadeMemory holding) throws IOException {
        if (holding == null) {
            Files.deleteIfExists(files.summary());
        } else {
            Progress none = MemoryTrack.empty(0).progress();
            JsonLines.replace(files.summary(), List.of(Ledger.line(none, new MemoryTrack.Entry(0, holding))));
        }
    }

    /**
     * Writes the key before anything else, so that a clean-up finds all files. An erasure that a crash interrupted may
     * have left another content there.
     */
    void noteKey(MemoryKey key) throws IOException {
        MemoryFiles files = files(key);
        byte[] text = (key.canonical() + "\n").getBytes(StandardCharsets.US_ASCII);
        if (!Arrays.equals(text, SmallFiles.read(files.key()))) {
            SmallFiles.replace(files.key(), text, true);
            SmallFiles.forceNames(files.directory());
        }
    }

    /** Returns the revision for a discussion without data. It is higher after each erasure. */
    long least(MemoryKey key) {
        Path tombstone = files(key).tombstone();
        byte[] bytes = read(tombstone);
        if (bytes == null) {
            return 0;
        }
        try {
            return Long.parseLong(new String(bytes, StandardCharsets.US_ASCII).strip()) << REVISION_BITS;
        } catch (NumberFormatException e) {
            throw MemoryJson.unreadable("The tombstone " + tombstone, "it has no number");
        }
    }

    @Override
    protected Map<String, Lease> leases(MemoryKey key) {
        return io(() -> LeaseFile.read(files(key).leases(), key));
    }

    @Override
    protected void putLeases(MemoryKey key, Map<String, Lease> leases) {
        io(() -> {
            // They mean nothing after a power failure.
            LeaseFile.write(files(key).leases(), key, leases, false);
            return true;
        });
    }

    @Override
    public void erase(MemoryKey key) {
        MemoryFiles files = files(key);
        long erasures = (least(key) >>> REVISION_BITS) + 1;
        io(() -> {
            bury(files, (erasures + "\n").getBytes(StandardCharsets.US_ASCII));
            SmallFiles.forceNames(files.directory());
            for (Path file : files.all()) {
                Files.deleteIfExists(file);
            }
            SmallFiles.forceNames(files.directory());
            return true;
        });
    }

    /**
     * Writes the tombstone. An erasure must work on a full device: if there is no space for a new file, the file with
     * the key becomes the tombstone. It has the space already, and everything else exists until it has the name.
     */
    private static void bury(MemoryFiles files, byte[] text) throws IOException {
        try {
            SmallFiles.replace(files.tombstone(), text, true);
        } catch (IOException e) {
            if (!Files.exists(files.key())) {
                throw e;
            }
            try (RandomAccessFile key = new RandomAccessFile(files.key().toFile(), "rw")) {
                key.write(text);
                key.setLength(text.length);
                key.getFD().sync();
            } catch (IOException again) {
                again.addSuppressed(e);
                throw again;
            }
            SmallFiles.move(files.key(), files.tombstone());
        }
    }

    /** Reads the names of all of the tenant's files. A file that names no discussion is skipped with a log entry. */
    void discussions(String tenant, Consumer<MemoryKey> action) {
        for (Path file : io(() -> MemoryFiles.keys(root, tenant))) {
            byte[] key = read(file);
            if (key != null) {
                key(file, key).ifPresent(action);
            }
        }
    }

    private static Optional<MemoryKey> key(Path file, byte[] canonical) {
        try {
            return Optional.of(MemoryKey.parse(new String(canonical, StandardCharsets.US_ASCII).strip()));
        } catch (InvalidInputException e) {
            LOG.warn(
                    "The file {} names no discussion, so a clean-up does not find it. The next change of the "
                            + "discussion or its erasure corrects this",
                    file);
            return Optional.empty();
        }
    }
}

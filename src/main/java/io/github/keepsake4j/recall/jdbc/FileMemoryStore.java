package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.InputRules;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.LeaseRules;
import io.github.keepsake4j.log.LockFile;
import io.github.keepsake4j.log.SmallFiles;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.recall.memories.FactQuery;
import io.github.keepsake4j.recall.memories.FactWords;
import io.github.keepsake4j.recall.memories.FoundMemory;
import io.github.keepsake4j.recall.memories.MadeMemory;
import io.github.keepsake4j.recall.memories.MemoryKind;
import io.github.keepsake4j.recall.memories.MemoryRules;
import io.github.keepsake4j.recall.memories.MemoryStatus;
import io.github.keepsake4j.recall.memories.MemoryStore;
import io.github.keepsake4j.recall.memories.Overview;
import io.github.keepsake4j.recall.memories.Passage;
import io.github.keepsake4j.recall.memories.Progress;
import io.github.keepsake4j.recall.memories.Step;
import io.github.keepsake4j.recall.memories.Trust;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.SqliteMode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps memories that were made in files, as WilmerAI names them, in a directory for each tenant.
 *
 * <ul>
 *   <li>{@code <id>_memories.jsonl}: the chunks, one a line. Lines are only added, unless a memory is corrected, pinned or
 *       forgotten.
 *   <li>{@code <id>_summary.jsonl}: the summary that holds, in one line. Its versions are in {@code <id>.summaries.jsonl}. What
 *       another program wrote there before is the first version.
 *   <li>{@code <id>_vector_memory.db}: the facts in SQLite, with the tables {@code memories}, {@code memories_fts} and
 *       {@code vector_memory_tracker}. It is made with the first fact. Needs {@code org.xerial:sqlite-jdbc}.
 *   <li>{@code <id>.key}: the discussion's key, by which a clean-up finds what an erasure left that was ended by a crash.
 * </ul>
 *
 * <p>An id of up to 40 lower-case ASCII letters, digits, {@code -} and {@code _} is used as it is. In the names of other ids its
 * harmless characters and a hash stand for it.
 *
 * <p>Other programs may read the files at any time. Several processes on one machine may share the directory; it must not be on a
 * network drive. What is erased is in no file afterwards, and a small file without ids remains. Thread-safe.
 */
public final class FileMemoryStore implements MemoryStore {

    private static final Logger LOG = LoggerFactory.getLogger(FileMemoryStore.class);

    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(10);

    /** How many changes fit between two erasures. */
    private static final int REVISION_BITS = 32;

    private final Path root;
    private final FactWords words;
    private @Nullable LockFile lockFile;
    private boolean closed;

    private FileMemoryStore(Path root, Words words) {
        this.root = root;
        this.words = new FactWords(words);
    }

    /**
     * Keeps memories in a directory, which is made on the first change.
     *
     * @param directory the directory, best not that of a log
     * @return the store, to be closed at the end
     */
    public static FileMemoryStore of(Path directory) {
        return of(directory, Words.standard());
    }

    /**
     * Keeps memories in a directory, which is made on the first change.
     *
     * @param directory the directory, best not that of a log
     * @param words splits texts into the words by which facts are found. Facts that were stored by other words are found too, and
     *     more slowly until the next change of the discussion.
     * @return the store, to be closed at the end
     */
    public static FileMemoryStore of(Path directory, Words words) {
        return new FileMemoryStore(Objects.requireNonNull(directory, "directory"), words);
    }

    /** Does something with files. */
    @FunctionalInterface
    private interface FileWork<T> {
        T run() throws IOException;
    }

    @Override
    public List<MadeMemory> chunks(MemoryKey key, int last) {
        InvalidInputException.checkAtLeast("last", 0, last);
        return reading("memories", key, () -> {
            List<MadeMemory> shown = ledger(files(key), MemoryKind.CHUNK).shown();
            return List.copyOf(shown.subList(Math.max(0, shown.size() - last), shown.size()));
        });
    }

    @Override
    public List<MadeMemory> facts(MemoryKey key, int last) {
        InvalidInputException.checkAtLeast("last", 0, last);
        return readingFacts("memories", key, List.of(), facts -> facts.shown(MemoryKind.FACT, last));
    }

    @Override
    public List<FoundMemory> search(MemoryKey key, FactQuery query) {
        Objects.requireNonNull(query, "query");
        return readingFacts("search in memories", key, List.of(), facts -> facts.search(query));
    }

    @Override
    public @Nullable MadeMemory summary(MemoryKey key) {
        return reading("summary", key, () -> Optional.ofNullable(holding(files(key))))
                .orElse(null);
    }

    private static @Nullable MadeMemory holding(MemoryFiles files) throws IOException {
        List<MadeMemory> versions = ledger(files, MemoryKind.SUMMARY).all();
        return versions.isEmpty()
                ? null
                : ledger(files, MemoryKind.CHUNK).progress().holding(versions);
    }

    @Override
    public List<MadeMemory> summaries(MemoryKey key) {
        return reading(
                "summaries", key, () -> ledger(files(key), MemoryKind.SUMMARY).all());
    }

    /** Reads each file once. */
    @Override
    public Overview overview(MemoryKey key, int last, Trust leastTrust) {
        InvalidInputException.checkAtLeast("last", 0, last);
        Overview.Track none = new Overview.Track(List.of(), List.of());
        return reading("memories", key, () -> {
            MemoryFiles files = files(key);
            Ledger chunks = ledger(files, MemoryKind.CHUNK);
            List<Step> path = chunks.progress().path();
            Overview.Track found = readingFacts(
                    "memories",
                    key,
                    none,
                    facts -> new Overview.Track(
                            facts.shown(MemoryKind.FACT, Integer.MAX_VALUE),
                            facts.progress(MemoryKind.FACT).path()));
            return Overview.of(
                    chunks.progress().holding(ledger(files, MemoryKind.SUMMARY).all()),
                    List.of(new Overview.Track(chunks.shown(), path), found),
                    last,
                    leastTrust);
        });
    }

    @Override
    public Optional<MadeMemory> find(MemoryKey key, String id) {
        Objects.requireNonNull(id, "id");
        Optional<MadeMemory> text = reading("memory", key, () -> {
            List<MadeMemory> all =
                    new ArrayList<>(ledger(files(key), MemoryKind.CHUNK).all());
            all.addAll(ledger(files(key), MemoryKind.SUMMARY).all());
            return all.stream().filter(memory -> memory.id().equals(id)).findFirst();
        });
        return text.isPresent() ? text : readingFacts("memory", key, Optional.empty(), facts -> facts.find(id));
    }

    @Override
    public Progress progress(MemoryKey key, MemoryKind kind) {
        if (kind != MemoryKind.FACT) {
            return reading("progress", key, () -> ledger(files(key), kind).progress());
        }
        long least = reading("progress", key, () -> least(files(key)));
        return readingFacts("progress", key, new Progress(least, 0, List.of()), facts -> facts.progress(kind));
    }

    @Override
    public boolean add(MemoryKey key, MemoryKind kind, long revision, Passage passage, List<MadeMemory> made) {
        MemoryRules.checkAdd(kind, passage, made);
        return writing("add to the memories", key, files -> {
            noteKey(files, key);
            if (kind == MemoryKind.FACT) {
                return writingFacts("add to the memories", key, facts -> facts.add(kind, revision, passage, made));
            }
            return addChunks(key, files, revision, passage, made);
        });
    }

    /**
     * Keeps the key before anything else, so that a clean-up finds all that is kept. An erasure that was ended by a crash may have
     * left something else there.
     */
    private static void noteKey(MemoryFiles files, MemoryKey key) throws IOException {
        byte[] text = (key.canonical() + "\n").getBytes(StandardCharsets.US_ASCII);
        if (!Arrays.equals(text, SmallFiles.read(files.key()))) {
            SmallFiles.replace(files.key(), text, true);
            SmallFiles.forceNames(files.directory());
        }
    }

    private static boolean addChunks(
            MemoryKey key, MemoryFiles files, long revision, Passage passage, List<MadeMemory> chunks)
            throws IOException {
        JsonLines lines = JsonLines.read(files.ledger());
        Ledger ledger = ledger(files, MemoryKind.CHUNK, lines);
        Progress before = ledger.progress();
        if (before.revision() != revision) {
            return false;
        }
        boolean byHand = passage.equals(Passage.NONE);
        Step step = byHand ? new Step(0, before.head(), passage, 0) : before.next(passage);
        List<Map<?, ?>> all = new ArrayList<>(lines.objects());
        List<Map<String, @Nullable Object>> added = new ArrayList<>();
        boolean isRewritten = false;
        for (MadeMemory chunk : chunks) {
            checkNew(key, ledger, chunk);
            for (Ledger.Entry older : ledger.entries()) {
                if (older.memory().id().equals(chunk.replaces())
                        && older.memory().status() == MemoryStatus.CURRENT) {
                    rewrite(all, ledger, older, older.memory().withStatus(MemoryStatus.REPLACED));
                    isRewritten = true;
                }
            }
            added.add(Ledger.line(chunk, revision + 1, step.number(), step.parent()));
        }
        if (!byHand && before.headAfter(step) == before.head()) {
            added.add(ledger.lineOfMove(before.head()));
        }
        if (isRewritten || added.size() > 1) {
            all.addAll(added);
            JsonLines.replace(files.ledger(), all);
        } else {
            lines.append(files.ledger(), added.get(0));
        }
        return true;
    }

    @Override
    public boolean addFailure(MemoryKey key, MemoryKind kind, long revision, Passage passage) {
        MemoryRules.checkKind(kind);
        return writing("failure in the memories", key, files -> {
            noteKey(files, key);
            if (kind == MemoryKind.FACT) {
                return writingFacts("failure in the memories", key, facts -> facts.addFailure(kind, revision, passage));
            }
            JsonLines lines = JsonLines.read(files.ledger());
            Ledger ledger = ledger(files, MemoryKind.CHUNK, lines);
            if (ledger.progress().revision() != revision) {
                return false;
            }
            lines.append(files.ledger(), ledger.lineOfFailure(passage));
            return true;
        });
    }

    private static void checkNew(MemoryKey key, Ledger ledger, MadeMemory memory) {
        if (ledger.all().stream().anyMatch(each -> each.id().equals(memory.id()))) {
            throw new InvalidInputException("id", "memory " + memory.id() + " of discussion " + key + " is there");
        }
    }

    /** Puts another memory in the place of one among the lines of a file. */
    private static void rewrite(List<Map<?, ?>> all, Ledger ledger, Ledger.Entry before, MadeMemory memory) {
        long revision = before.line() + 1 == all.size() ? ledger.progress().revision() + 1 : revisionOf(all, before);
        long parent = ledger.progress().steps().stream()
                .filter(step -> step.number() == before.step())
                .mapToLong(Step::parent)
                .findFirst()
                .orElse(0);
        all.set(before.line(), Ledger.line(memory, revision, before.step(), parent));
    }

    private static long revisionOf(List<Map<?, ?>> lines, Ledger.Entry entry) {
        return lines.get(entry.line()).get("keepsake") instanceof Map<?, ?> own
                        && own.get("revision") instanceof Number number
                ? number.longValue()
                : entry.line() + 1;
    }

    @Override
    public boolean moveTo(MemoryKey key, MemoryKind kind, long revision, long step) {
        MemoryRules.checkKind(kind);
        return writing("move of the memories", key, files -> {
            if (kind == MemoryKind.FACT) {
                return writingFacts("move of the memories", key, facts -> facts.moveTo(kind, revision, step));
            }
            JsonLines lines = JsonLines.read(files.ledger());
            Ledger ledger = ledger(files, MemoryKind.CHUNK, lines);
            if (ledger.progress().revision() != revision) {
                return false;
            }
            if (step != 0 && ledger.progress().steps().stream().noneMatch(each -> each.number() == step)) {
                throw new InvalidInputException("step", "discussion " + key + " has no step " + step);
            }
            lines.append(files.ledger(), ledger.lineOfMove(step));
            showSummary(files);
            return true;
        });
    }

    @Override
    public boolean addSummary(MemoryKey key, int versions, long revision, MadeMemory summary) {
        MemoryRules.checkSummary(summary);
        return writing("new summary", key, files -> {
            noteKey(files, key);
            takeOverSummary(files);
            JsonLines lines = JsonLines.read(files.summaries());
            Ledger known = ledger(files, MemoryKind.SUMMARY, lines);
            if (known.entries().size() != versions
                    || ledger(files, MemoryKind.CHUNK).progress().revision() != revision) {
                return false;
            }
            checkNew(key, known, summary);
            lines.append(
                    files.summaries(), Ledger.line(summary, known.progress().revision() + 1, 0, 0));
            showSummary(files);
            return true;
        });
    }

    /** Writes the file with the summary that holds. It is a copy: when a process dies before this, the next change writes it. */
    private static void showSummary(MemoryFiles files) throws IOException {
        takeOverSummary(files);
        MadeMemory holding = holding(files);
        if (holding == null) {
            Files.deleteIfExists(files.summary());
        } else {
            JsonLines.replace(files.summary(), List.of(Ledger.line(holding, 0, 0, 0)));
        }
    }

    @Override
    public boolean put(MemoryKey key, MadeMemory memory) {
        return writing("change of a memory", key, files -> {
            if (memory.kind() == MemoryKind.FACT) {
                return Files.exists(files.facts())
                        && writingFacts("change of a memory", key, facts -> facts.put(memory));
            }
            takeOverSummary(files);
            Path file = memory.kind() == MemoryKind.CHUNK ? files.ledger() : files.summaries();
            JsonLines lines = JsonLines.read(file);
            Ledger ledger = ledger(files, memory.kind(), lines);
            Optional<Ledger.Entry> before = ledger.entries().stream()
                    .filter(entry -> entry.memory().id().equals(memory.id()))
                    .findFirst();
            if (before.isEmpty()) {
                return false;
            }
            List<Map<?, ?>> all = new ArrayList<>(lines.objects());
            rewrite(all, ledger, before.get(), memory);
            if (before.get().line() + 1 < all.size()) {
                // Who saw the revision of before must not write.
                all.add(ledger.lineOfMove(ledger.progress().head()));
            }
            JsonLines.replace(file, all);
            showSummary(files);
            return true;
        });
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        return writing("lease on the memories", key, files -> {
            Map<String, Lease> leases = leases(files);
            Optional<Lease> lease = LeaseRules.acquire(leases, name, owner, duration, Instant.now());
            if (lease.isPresent()) {
                putLeases(files, leases);
            }
            return lease;
        });
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        writing("release of the memories", key, files -> {
            Map<String, Lease> leases = leases(files);
            if (LeaseRules.release(leases, name, owner)) {
                putLeases(files, leases);
            }
            return true;
        });
    }

    private static Map<String, Lease> leases(MemoryFiles files) throws IOException {
        Map<String, Lease> leases = new LinkedHashMap<>();
        for (Map<?, ?> lease : JsonLines.read(files.leases()).objects()) {
            try {
                String name = MemoryJson.textOr(lease, "name", "");
                Instant until = Instant.parse(MemoryJson.textOr(lease, "until", ""));
                leases.put(name, new Lease(name, MemoryJson.textOr(lease, "owner", ""), until));
            } catch (DateTimeException e) {
                throw MemoryJson.unreadable("A lease in " + files.leases(), "it has no time");
            }
        }
        return leases;
    }

    private static void putLeases(MemoryFiles files, Map<String, Lease> leases) throws IOException {
        if (leases.isEmpty()) {
            Files.deleteIfExists(files.leases());
            return;
        }
        StringBuilder text = new StringBuilder();
        for (Lease lease : leases.values()) {
            Map<String, String> line = new LinkedHashMap<>();
            line.put("name", lease.name());
            line.put("owner", lease.owner());
            line.put("until", lease.expiresAt().toString());
            text.append(PlainJson.write(line)).append('\n');
        }
        // It means nothing after a power failure.
        SmallFiles.replace(files.leases(), text.toString().getBytes(StandardCharsets.UTF_8), false);
    }

    @Override
    public void erase(MemoryKey key) {
        writing("erasure of the memories", key, files -> {
            long erasures = (least(files) >>> REVISION_BITS) + 1;
            byte[] text = (erasures + "\n").getBytes(StandardCharsets.US_ASCII);
            bury(files, text);
            SmallFiles.forceNames(files.directory());
            for (Path file : files.all()) {
                Files.deleteIfExists(file);
            }
            SmallFiles.forceNames(files.directory());
            return true;
        });
    }

    /**
     * Writes the tombstone. A full device must not keep a discussion from being erased: where there is no room for a new file, the one
     * with the key becomes the tombstone. It has the room, and all else is there until it has the name.
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
            Files.move(
                    files.key(),
                    files.tombstone(),
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Reads the names of all of the tenant's files. A file that names no discussion is passed over and logged. */
    @Override
    public void discussions(String tenant, Consumer<MemoryKey> action) {
        reading("list of memories", tenant, () -> {
            for (Path file : MemoryFiles.keys(root, tenant)) {
                byte[] key = SmallFiles.read(file);
                if (key != null) {
                    key(file, key).ifPresent(action);
                }
            }
            return true;
        });
    }

    private static Optional<MemoryKey> key(Path file, byte[] canonical) {
        try {
            return Optional.of(MemoryKey.parse(new String(canonical, StandardCharsets.US_ASCII).strip()));
        } catch (InvalidInputException e) {
            LOG.warn(
                    "The file {} names no discussion, so a clean-up does not find it. The next change of the discussion or its"
                            + " erasure mends it",
                    file);
            return Optional.empty();
        }
    }

    /** Does nothing: each change leaves nothing behind. */
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

    private MemoryFiles files(MemoryKey key) {
        return MemoryFiles.of(root, key);
    }

    private static Ledger ledger(MemoryFiles files, MemoryKind kind) throws IOException {
        boolean isForeign = kind == MemoryKind.SUMMARY && !Files.exists(files.summaries());
        Path file = kind == MemoryKind.CHUNK ? files.ledger() : isForeign ? files.summary() : files.summaries();
        return ledger(files, kind, JsonLines.read(file));
    }

    /** Makes a summary that another program wrote the first version. */
    private static void takeOverSummary(MemoryFiles files) throws IOException {
        if (!Files.exists(files.summaries()) && Files.exists(files.summary())) {
            JsonLines.replace(files.summaries(), JsonLines.read(files.summary()).objects());
        }
    }

    private static Ledger ledger(MemoryFiles files, MemoryKind kind, JsonLines lines) throws IOException {
        Path file = kind == MemoryKind.CHUNK ? files.ledger() : files.summaries();
        return Ledger.of(file.toString(), kind, lines.objects(), least(files));
    }

    /** Returns the revision where nothing is stored. It is higher after each erasure. */
    private static long least(MemoryFiles files) throws IOException {
        byte[] bytes = SmallFiles.read(files.tombstone());
        if (bytes == null) {
            return 0;
        }
        try {
            return Long.parseLong(new String(bytes, StandardCharsets.US_ASCII).strip()) << REVISION_BITS;
        } catch (NumberFormatException e) {
            throw MemoryJson.unreadable("The tombstone " + files.tombstone(), "it has no number");
        }
    }

    private <T> T reading(String what, Object of, FileWork<T> work) {
        checkOpen(what);
        try {
            return work.run();
        } catch (IOException e) {
            throw unavailable(what, of, e);
        }
    }

    private <T> T readingFacts(String what, MemoryKey key, T otherwise, SqlMemories.Work<T> work) {
        return reading(what, key, () -> {
            MemoryFiles files = files(key);
            if (!Files.exists(files.facts())) {
                return otherwise;
            }
            long least = least(files);
            try (Connections connections = facts(files, SqliteMode.SMALL_IF_THERE)) {
                return connections.single(
                        what + " of " + key, session -> work.on(new SqlMemories(session, true, words, key, least)));
            }
        });
    }

    private <T> T writingFacts(String what, MemoryKey key, SqlMemories.Work<T> work) throws IOException {
        MemoryFiles files = files(key);
        long least = least(files);
        try (Connections connections = facts(files, SqliteMode.SMALL)) {
            return connections.write(
                    what + " of " + key, session -> work.on(new SqlMemories(session, true, words, key, least)));
        }
    }

    private static Connections facts(MemoryFiles files, SqliteMode mode) {
        return Connections.sqlite(files.facts(), mode, Schema.MEMORIES);
    }

    /** What is done with a discussion's files while no other thread or process changes them. */
    @FunctionalInterface
    private interface LockedWork<T> {
        T run(MemoryFiles files) throws IOException;
    }

    private <T> T writing(String what, MemoryKey key, LockedWork<T> work) {
        try {
            MemoryFiles files = files(key);
            return locks(what).holding(files.lock(), what + " of " + key, LOCK_TIMEOUT, () -> {
                if (!Files.isDirectory(files.directory())) {
                    Files.createDirectories(files.directory(), SmallFiles.ownersDirectory(files.directory()));
                    SmallFiles.forceNames(root);
                }
                return work.run(files);
            });
        } catch (IOException e) {
            throw unavailable(what, key, e);
        }
    }

    private synchronized LockFile locks(String what) throws IOException {
        checkOpen(what);
        LockFile locks = lockFile;
        if (locks == null || !locks.isThere()) {
            if (locks != null) {
                locks.close();
            }
            Files.createDirectories(root, SmallFiles.ownersDirectory(root));
            locks = LockFile.open(root);
            lockFile = locks;
        }
        return locks;
    }

    private synchronized void checkOpen(String what) {
        if (closed) {
            throw new StorageClosedException(what + " on the memories in " + root);
        }
    }

    private static StorageUnavailableException unavailable(String what, Object of, IOException e) {
        return new StorageUnavailableException(what + " of " + of + ": the files cannot be used at the moment", e);
    }
}

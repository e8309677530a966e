package io.github.keepsake4j.log.file;

import io.github.keepsake4j.backend.LeaseFile;
import io.github.keepsake4j.backend.LeaseRules;
import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.backend.PlannedTreeLog;
import io.github.keepsake4j.base.AfterFailure;
import io.github.keepsake4j.base.InputRules;
import io.github.keepsake4j.base.LockFile;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.base.SmallFiles;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryTooLargeException;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A log in plain files below a directory, for one machine without a database: laptops, continuous integration, and
 * tools that read text. It needs no other library.
 *
 * <p><b>Files.</b> Each memory is one append-only file of JSON lines. One append is one line. The guide's page
 * {@code sqlite-files-redis.md} describes the format. At the first use of a memory, a process reads its file and builds its tree in
 * the heap. After that, the cost of a read or an append does not depend on the length of the file. The trees take about
 * 300 bytes for each message, and have up to 200,000 messages in all. A memory that is too large for the heap causes a
 * {@link MemoryTooLargeException}.
 *
 * <p><b>Processes.</b> Any number of threads and processes of one machine may use a directory. Changes of one memory
 * wait for each other, by default up to 10 seconds. Reads do not wait. Another process may see a change before the
 * device has it. A network file system is not supported, and the file {@code keepsake.lock} must not be deleted while a
 * log is open.
 *
 * <p><b>Durability.</b> By default, an append returns only after the device has stored it ({@link Builder#fsync}). A
 * last line without a line feed was never acknowledged. It is moved to another file, and a warning is logged. A call
 * throws {@link UnreadableDataException} if the file has become shorter, or was changed at the end of the part that
 * this process has read. A complete line that cannot be read is damage: every read or change of that memory throws
 * {@link UnreadableDataException}. The line is not overwritten, and {@link #repair} skips it.
 *
 * <p><b>Erasure</b> deletes a memory's files and leaves a tombstone without ids. It does not overwrite the device's
 * blocks.
 *
 * <p>A lease ends by the clock of the process. Thread-safe.
 */
public final class FileMessageLog extends PlannedTreeLog {

    private static final Logger LOG = LoggerFactory.getLogger(FileMessageLog.class);

    private static final int TENANTS = 100;

    private final Path root;
    private final Disk.Opener opener;
    private final Clock clock;
    private final boolean force;
    private final Duration busyTimeout;
    private final ListedMetadata listed;
    private final CachedMemories memories;
    private final RecentlyUsed<Path, TenantList> lists = new RecentlyUsed<>(TENANTS);
    private volatile LockFile lockFile;
    private volatile boolean closed;

    private FileMessageLog(Builder builder, Path root) throws IOException {
        this.root = root;
        this.opener = builder.opener;
        this.clock = builder.clock;
        this.force = builder.fsync;
        this.busyTimeout = builder.busyTimeout;
        this.listed = builder.listed;
        this.memories = new CachedMemories(opener, builder.maxOpenMemories, force);
        this.lockFile = LockFile.open(root);
    }

    /**
     * Keeps memories in files below a directory. The directory is created if it does not exist; its parent must exist.
     *
     * @param directory the directory; it should contain nothing else
     * @return the log, to be closed at the end
     * @throws InvalidInputException if the parent does not exist, or the path is not a directory
     * @throws StorageUnavailableException if the directory cannot be used at the moment
     */
    public static FileMessageLog in(Path directory) {
        return builder().directory(directory).build();
    }

    /**
     * Starts the configuration of a log.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public String backend() {
        return "file";
    }

    @Override
    public String toString() {
        return "FileMessageLog[" + root + "]";
    }

    @Override
    protected Instant now() {
        return clock.instant();
    }

    @Override
    protected <T> T ask(MemoryKey key, Function<MemoryTree, T> question) {
        Names names = Names.of(root, InvalidInputException.given("key", key));
        return during("read of memory " + key, () -> {
            while (true) {
                Optional<T> answer = askFile(names, key, question);
                if (answer.isPresent()) {
                    return answer.get();
                }
                Tombstone absent = absent(names);
                if (absent != null) {
                    return question.apply(empty(key, absent));
                }
            }
        });
    }

    /** Reads from a memory's tree; empty if it has no file. */
    <T> Optional<T> askFile(Names names, Object what, Function<MemoryTree, T> question) throws IOException {
        return memories.with(names, memory -> {
            if (memory == null || isErased(memory, Tombstone.read(names.tombstone()))) {
                return Optional.empty();
            }
            if (memory.refresh() && !lock().isHeld(names.lock())) {
                // The writer of the incomplete line is gone.
                lock().holding(names.lock(), what, busyTimeout, () -> {
                    memory.recover();
                    return true;
                });
            }
            return Optional.of(memory.ask(question));
        });
    }

    private static boolean isErased(CachedMemory memory, @Nullable Tombstone tombstone) {
        return tombstone != null && tombstone.epoch() > memory.header().epoch();
    }

    private static MemoryTree empty(MemoryKey key, Tombstone absent) {
        return CachedMemory.empty(key, part -> new byte[0], absent.epoch(), absent.revision(), null);
    }

    /**
     * Returns the state of a memory without a file, or null if the file exists by now.
     *
     * @throws StorageUnavailableException if it should have a file
     */
    private @Nullable Tombstone absent(Names names) throws IOException {
        // A missing file may mean a missing directory. The lock file shows whether the directory exists.
        lock();
        Tombstone tombstone = Tombstone.read(names.tombstone());
        if (tombstone != null) {
            memories.drop(names);
            return tombstone;
        }
        checkThere(names.directory(), memories.isKnown(names));
        if (!list(names.directory()).has(names.hash()) || Files.exists(names.made())) {
            return Tombstone.NEVER;
        }
        if (Files.exists(names.data()) || Files.exists(names.tombstone())) {
            return null;
        }
        throw new StorageUnavailableException(
                "The file " + names.data() + " was removed; put it back, or erase the memory to start again");
    }

    /** A directory that disappears while this process knows its memories is not one without memories. */
    private static void checkThere(Path directory, boolean isKnown) {
        if (isKnown && !Files.isDirectory(directory)) {
            throw new StorageUnavailableException(
                    "The directory " + directory + " of a tenant was removed while it was in use; put it back, or open "
                            + "the log again to start with an empty one");
        }
    }

    @Override
    protected <T> T plan(MemoryKey key, Function<MemoryTree, MemoryTree.Plan<T>> planner) {
        return locked(
                "change of",
                key,
                names -> memories.with(names, memory -> {
                    Tombstone tombstone = Tombstone.read(names.tombstone());
                    if (memory == null || isErased(memory, tombstone)) {
                        if (memory != null) {
                            // The erasure was interrupted.
                            delete(names);
                        }
                        return create(key, names, planner);
                    }
                    if (tombstone != null) {
                        Files.deleteIfExists(names.tombstone());
                    }
                    if (!memory.isListed) {
                        keepListed(memory);
                        memory.isListed = true;
                    }
                    return memory.change(planner);
                }));
    }

    /** The list may have been restored from a backup that is older than the memory. */
    private void keepListed(CachedMemory memory) throws IOException {
        Names names = memory.names();
        TenantList list = list(names.directory());
        if (!list.has(names.hash())) {
            holdingList(names.directory(), () -> list.ensure(memory.header().number(), names.hash()));
        }
    }

    /** Creates the file under another name first, so that an interrupted creation does not look like a removed file. */
    private <T> T create(MemoryKey key, Names names, Function<MemoryTree, MemoryTree.Plan<T>> planner)
            throws IOException {
        Tombstone before = absent(names);
        MemoryTree empty = empty(key, before == null ? Tombstone.NEVER : before);
        MemoryTree.Plan<T> plan = planner.apply(empty);
        if (plan.steps().isEmpty()) {
            return plan.result();
        }
        Instant now = InputRules.time("clock", Objects.requireNonNull(plan.at()));
        if (!Files.exists(names.directory())) {
            SmallFiles.createDirectories(names.directory());
            forceNames(root);
        }
        TenantList list = list(names.directory());
        holdingList(names.directory(), () -> {
            byte[] bytes =
                    CachedMemory.firstLines(key, list.next(), before == null ? Tombstone.NEVER : before, now, plan);
            try {
                write(names.made(), bytes);
                CachedMemory.keepTime(names.made(), Totals.NONE.after(plan.steps(), null, now));
                list.add(names.hash());
                SmallFiles.move(names.made(), names.data());
            } catch (IOException e) {
                // If this fails too, the remaining file shows that the creation was interrupted.
                AfterFailure.run(e, () -> {
                    list.remove(names.hash());
                    Files.deleteIfExists(names.made());
                });
                throw e;
            }
        });
        forceNames(names.directory());
        Files.deleteIfExists(names.tombstone());
        return plan.result();
    }

    private void write(Path path, byte[] bytes) throws IOException {
        Files.deleteIfExists(path);
        SmallFiles.create(path);
        try (Disk disk = opener.open(path)) {
            disk.write(0, bytes);
            if (force) {
                disk.force();
            }
        }
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        Ids.check("tenant", tenant);
        listed.check(query);
        return during("list of tenant " + tenant, () -> listing(tenant).page(query));
    }

    private Listing listing(String tenant) throws IOException {
        lock();
        Path directory = Names.tenant(root, tenant);
        return new Listing(this, directory, list(directory), Names.in(directory), opener);
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        return locked("lease of", key, names -> {
            Map<String, Lease> leases = LeaseFile.read(names.leases(), key);
            Optional<Lease> lease = LeaseRules.acquire(leases, name, owner, duration, clock.instant());
            if (lease.isPresent()) {
                LeaseFile.write(names.leases(), key, leases, force);
            }
            return lease;
        });
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        locked("release of a lease of", key, names -> {
            Map<String, Lease> leases = LeaseFile.read(names.leases(), key);
            if (LeaseRules.release(leases, name, owner)) {
                LeaseFile.write(names.leases(), key, leases, force);
            }
            return true;
        });
    }

    @Override
    public long erase(MemoryKey key) {
        return locked("erasure of", key, this::erase);
    }

    /** The newest message is read and the memory is erased in one step. */
    @Override
    public boolean eraseIfIdle(MemoryKey key, Instant since) {
        return locked("erasure of", key, names -> {
            boolean isIdle = memories.with(names, memory -> {
                if (memory == null || isErased(memory, Tombstone.read(names.tombstone()))) {
                    return false;
                }
                memory.recover();
                return memory.ask(tree -> tree.isIdle(since));
            });
            if (isIdle) {
                erase(names);
            }
            return isIdle;
        });
    }

    private long erase(Names names) throws IOException {
        Tombstone before = Tombstone.read(names.tombstone());
        Tombstone last = before == null ? Tombstone.NEVER : before;
        if (Files.exists(names.data())) {
            last = lastOf(names, last);
        }
        SmallFiles.createDirectories(names.directory());
        Tombstone tombstone = new Tombstone(last.epoch() + 1, last.revision() + 1, erasedAt());
        bury(names, tombstone);
        forceNames(names.directory());
        delete(names);
        return tombstone.epoch();
    }

    /** An erasure must work on a full device: the tombstone is then written into the memory's file. */
    private void bury(Names names, Tombstone tombstone) throws IOException {
        try {
            tombstone.write(names.tombstone(), force);
        } catch (IOException e) {
            try (Disk data = opener.open(names.data())) {
                byte[] bytes = tombstone.bytes();
                data.write(0, bytes);
                data.truncate(bytes.length);
                if (force) {
                    data.force();
                }
                SmallFiles.move(names.data(), names.tombstone());
            } catch (IOException again) {
                again.addSuppressed(e);
                throw again;
            }
        }
    }

    /** An erasure must work with a clock out of range. */
    private Instant erasedAt() {
        try {
            return InputRules.time("clock", clock.instant());
        } catch (InvalidInputException e) {
            return Tombstone.NEVER.erasedAt();
        }
    }

    @Override
    public long removeTombstones(String tenant, Instant erasedBefore) {
        Ids.check("tenant", tenant);
        return during("removal of tombstones of tenant " + tenant, () -> {
            long removed = 0;
            lock();
            endErasures(Names.tenant(root, tenant));
            for (Path tombstone : Names.files(Names.tenant(root, tenant), Names.TOMBSTONE)) {
                boolean isRemoved = lock().holding(
                                Names.lock(tombstone), tombstone, busyTimeout, () -> remove(tombstone, erasedBefore));
                removed += isRemoved ? 1 : 0;
            }
            return removed;
        });
    }

    /** Deletes the files of erased memories, if a crash came between the tombstone and their deletion. */
    private void endErasures(Path directory) throws IOException {
        for (String suffix : List.of(Names.DATA, Names.TORN, Names.LEASES)) {
            for (Names names : Names.in(directory, suffix).values()) {
                if (Files.exists(names.tombstone())) {
                    lock().holding(names.lock(), names.data(), busyTimeout, () -> endErasure(names));
                }
            }
        }
    }

    private boolean endErasure(Names names) throws IOException {
        Tombstone tombstone = Tombstone.read(names.tombstone());
        boolean isErased = tombstone != null && epoch(names) < tombstone.epoch();
        if (isErased) {
            delete(names);
        }
        return isErased;
    }

    /** Returns the epoch of a memory's file: 0 without a file, and a very large one if it cannot be read. */
    private long epoch(Names names) throws IOException {
        if (!Files.exists(names.data())) {
            return 0;
        }
        try (Disk data = opener.open(names.data())) {
            return Header.read(data).epoch();
        } catch (BadLineException e) {
            return Long.MAX_VALUE;
        }
    }

    /**
     * Removes a tombstone after the list has recorded the erasure. Otherwise the memory's file would count as removed
     * by hand.
     */
    private boolean remove(Path tombstone, Instant erasedBefore) throws IOException {
        if (!Tombstone.isOld(tombstone, erasedBefore)) {
            return false;
        }
        unlist(Objects.requireNonNull(tombstone.getParent()), Names.hashOf(tombstone));
        return Files.deleteIfExists(tombstone);
    }

    private void unlist(Path directory, String hash) throws IOException {
        TenantList list = list(directory);
        if (list.has(hash)) {
            holdingList(directory, () -> list.remove(hash));
        }
    }

    /** Returns the epoch, and a revision that is not lower than the one in force, even if the file is damaged. */
    private Tombstone lastOf(Names names, Tombstone absent) throws IOException {
        try (Disk data = opener.open(names.data())) {
            // Each line raises the revision by at most one, and has more than one byte.
            Header header = Header.read(data);
            return new Tombstone(
                    Math.max(absent.epoch(), header.epoch()),
                    Math.max(absent.revision(), header.revision()) + data.length(),
                    absent.erasedAt());
        } catch (BadLineException e) {
            return new Tombstone(absent.epoch(), absent.revision() + Files.size(names.data()), absent.erasedAt());
        }
    }

    private void delete(Names names) throws IOException {
        memories.drop(names);
        for (Path path : List.of(names.data(), names.torn(), names.leases())) {
            Files.deleteIfExists(path);
            Files.deleteIfExists(SmallFiles.made(path));
        }
        forceNames(names.directory());
        try {
            unlist(names.directory(), names.hash());
        } catch (IOException e) {
            // The tombstone records the erasure as long as it exists.
            LOG.warn("The erasure of memory {} is not in the list of {} yet", names.hash(), names.directory(), e);
        }
    }

    /** Reads the file again, and each message in it. */
    @Override
    public List<Damage> check(MemoryKey key) {
        return MemoryTree.check(() -> {
            ask(key, MemoryTree::size);
            forget(key);
            return ask(key, MemoryTree::check);
        });
    }

    /** Repairs the present content of the file, even if this process has seen more content. */
    @Override
    public Repair repair(MemoryKey key) {
        try {
            ask(key, MemoryTree::size);
        } catch (UnreadableDataException e) {
            LOG.info("What is left is repaired: {}", e.getMessage());
        }
        forget(key);
        return super.repair(key);
    }

    private void forget(MemoryKey key) {
        locked("read of", key, names -> {
            memories.drop(names);
            return true;
        });
    }

    /** Closes all files. Idempotent. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            try {
                memories.close();
                lockFile.close();
            } catch (IOException e) {
                throw new StorageUnavailableException("could not close the files below " + root, e);
            }
        }
    }

    private interface Locked<T> {
        T run(Names names) throws IOException;
    }

    private interface Step {
        void run() throws IOException;
    }

    private void forceNames(Path directory) throws IOException {
        if (force) {
            SmallFiles.forceNames(directory);
        }
    }

    private <T> T locked(String what, MemoryKey key, Locked<T> work) {
        Names names = Names.of(root, InvalidInputException.given("key", key));
        String text = what + " memory " + key;
        return during(text, () -> lock().holding(names.lock(), text, busyTimeout, () -> work.run(names)));
    }

    private void holdingList(Path tenantDirectory, Step step) throws IOException {
        lock().holding(Names.lock(tenantDirectory), "list " + tenantDirectory, busyTimeout, () -> {
            step.run();
            return true;
        });
    }

    /** Returns a tenant's list, and rebuilds it if it is missing. */
    private TenantList list(Path directory) throws IOException {
        TenantList list;
        synchronized (lists) {
            TenantList known = lists.get(directory);
            list = known == null ? new TenantList(directory, opener, force) : known;
            lists.put(directory, list);
        }
        checkThere(directory, !list.isEmpty());
        if (!list.refresh()) {
            holdingList(directory, list::prepare);
        }
        return list;
    }

    /** Creates the lists in the directory of an earlier version, and removes files that only that version used. */
    private void takeOver() throws IOException {
        try (DirectoryStream<Path> directories = Files.newDirectoryStream(root, Files::isDirectory)) {
            for (Path directory : directories) {
                if (Files.exists(TenantList.old(directory))) {
                    TenantList list = list(directory);
                    holdingList(directory, () -> {
                        if (Files.exists(TenantList.old(directory))) {
                            list.remake();
                        }
                    });
                }
            }
        }
    }

    /** Returns the locks, after checking that the directory exists. */
    private LockFile lock() throws IOException {
        LockFile locks = lockFile;
        if (locks.isThere()) {
            return locks;
        }
        if (locks.isReplaced()) {
            synchronized (this) {
                if (!closed && lockFile == locks) {
                    lockFile = LockFile.open(root);
                    locks.close();
                }
                return lockFile;
            }
        }
        throw new StorageUnavailableException("The lock file in " + root
                + " is missing: the directory was moved, unmounted or emptied while it was in use; put it "
                + "back, or open a new log to start again");
    }

    private <T> T during(String what, LockFile.Work<T> work) {
        if (closed) {
            throw new StorageClosedException(what);
        }
        try {
            return work.run();
        } catch (IOException e) {
            throw translate(what, e);
        } catch (UncheckedIOException e) {
            throw translate(what, Objects.requireNonNull(e.getCause()));
        } catch (ReadOnlyFileSystemException e) {
            throw new KeepsakeException(what + ": the file system of " + root + " is read-only", e);
        }
    }

    private KeepsakeException translate(String what, IOException e) {
        if (closed) {
            return new StorageClosedException(what);
        }
        if (e instanceof AccessDeniedException
                || SmallFiles.isReadOnly(root)
                || (Files.isDirectory(root) && !Files.isWritable(root))) {
            return new KeepsakeException(
                    what + ": " + root + " or a file in it cannot be written; give this process the permission to "
                            + "write, unless the file system is read-only",
                    e);
        }
        return new StorageUnavailableException(
                what + ": the files below " + root + " cannot be used at the moment. Check the disk, and retry", e);
    }

    /** Configures a log in files. Not thread-safe. */
    public static final class Builder {

        private @Nullable Path directory;
        private boolean fsync = true;
        private int maxOpenMemories = 100;
        private Duration busyTimeout = Duration.ofSeconds(10);
        private ListedMetadata listed = ListedMetadata.NONE;
        private Clock clock = Clock.systemUTC();
        private Disk.Opener opener = new Disk.Opener();

        private Builder() {}

        /**
         * Sets the directory. Required. It is created if it does not exist; its parent must exist.
         *
         * @param path the directory; it should contain nothing else
         * @return this builder
         */
        public Builder directory(Path path) {
            this.directory = InvalidInputException.given("directory", path);
            return this;
        }

        /**
         * Sets whether an append waits until the device has stored it. If not, acknowledged appends survive a crash of
         * the process, but not of the machine. Default: true.
         *
         * @param wait whether to wait
         * @return this builder
         */
        public Builder fsync(boolean wait) {
            this.fsync = wait;
            return this;
        }

        /**
         * Sets the number of memories whose files stay open, two descriptors for each. More are open only while more
         * are used at the same time. Default: 100.
         *
         * @param memories 1 or more
         * @return this builder
         * @throws InvalidInputException if the number is less than 1
         */
        public Builder maxOpenMemories(int memories) {
            InvalidInputException.checkAtLeast("maxOpenMemories", 1, memories);
            this.maxOpenMemories = memories;
            return this;
        }

        /**
         * Sets the time for which a call waits for other writers of the same memory. Default: 10 seconds.
         *
         * @param timeout the time, more than zero
         * @return this builder
         * @throws InvalidInputException if the time is zero or negative
         */
        public Builder busyTimeout(Duration timeout) {
            InvalidInputException.checkPositive("busyTimeout", timeout);
            this.busyTimeout = timeout;
            return this;
        }

        /**
         * Declares the metadata names by which {@link ListQuery#withMetadata} lists memories. Default: none. Files have no lists of
         * their own by these: a page reads the first line and the end of each memory's file until it is full.
         *
         * @param names up to three names, such as {@code user}
         * @return this builder
         * @throws InvalidInputException if there are too many names, or one is no id
         */
        public Builder listedMetadata(String... names) {
            this.listed = ListedMetadata.of(names);
            return this;
        }

        /**
         * Sets the clock for the times of messages and the ends of leases. Default: the system's.
         *
         * @param source the clock
         * @return this builder
         */
        public Builder clock(Clock source) {
            this.clock = InvalidInputException.given("source", source);
            return this;
        }

        /** Sets the opener of files. For tests. */
        Builder opener(Disk.Opener source) {
            this.opener = source;
            return this;
        }

        /**
         * Opens the log.
         *
         * @return the log, to be closed at the end
         * @throws InvalidInputException if no directory was set, the path is not a directory, or its parent does not
         *     exist
         * @throws StorageUnavailableException if the directory cannot be used at the moment
         */
        public FileMessageLog build() {
            if (directory == null) {
                throw new InvalidInputException("directory", "is required: set FileMessageLog.builder().directory(…)");
            }
            Path root = directory.toAbsolutePath().normalize();
            Path parent = root.getParent();
            if (Files.exists(root) && !Files.isDirectory(root)) {
                throw new InvalidInputException("directory", root + " is not a directory; choose another path");
            }
            if (parent != null && !Files.isDirectory(parent)) {
                throw new InvalidInputException(
                        "directory", "the directory " + parent + " does not exist; create it first");
            }
            try {
                if (!Files.exists(root)) {
                    SmallFiles.createDirectories(root);
                    if (fsync) {
                        SmallFiles.forceNames(parent);
                    }
                }
                FileMessageLog log = new FileMessageLog(this, root);
                log.takeOver();
                return log;
            } catch (IOException e) {
                if (e instanceof AccessDeniedException || SmallFiles.isReadOnly(root)) {
                    throw new KeepsakeException(
                            "directory " + root + " cannot be "
                                    + (Files.isDirectory(root) ? "written: it" : "made: " + parent)
                                    + " is read-only or another user's; change its permissions, or choose another path",
                            e);
                }
                throw new StorageUnavailableException(
                        "directory " + root + " cannot be used at the moment. Check the disk, and retry", e);
            }
        }
    }
}

package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.ActivityCursor;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.DamagedMemory;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.InputRules;
import io.github.keepsake4j.log.Lease;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.LockFile;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryTree;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.Selection;
import io.github.keepsake4j.log.SmallFiles;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A log in plain files below a directory, for one machine without a database: laptops, continuous integration, and tools
 * that read text. It needs no other library.
 *
 * <p><b>Files.</b> Each memory is one file of JSON lines, to which only is appended. One append is one line. The guide's page
 * {@code files.md} describes the format. Beside it is an index that can be deleted at any time while no log is open; it is
 * made again when it is needed. So what a read or an append costs does not depend on the length of the file.
 *
 * <p><b>Processes.</b> Any number of threads and processes of one machine may use a directory. Appends to one memory wait for
 * each other, up to 10 seconds. Reads do not wait. Reading needs the right to write, too. A network file system is not supported, and the file
 * {@code keepsake.lock} must not be deleted while a log is open.
 *
 * <p><b>Durability.</b> By default an append returns when the device has it ({@link Builder#fsync}). A last line without an
 * end was never acknowledged. It is moved beside, which is logged. A line that has an end but cannot be read is damage:
 * every call for that memory throws {@link UnreadableDataException}, nothing is written over
 * it, and {@link #repair} passes over it.
 *
 * <p><b>Erasure</b> deletes a memory's files and leaves a tombstone without ids. It does not overwrite the device's blocks.
 *
 * <p>A lease ends by the clock of the process. Thread-safe.
 */
public final class FileMessageLog implements MessageLog {

    private static final int ATTEMPTS = 8;
    private static final long PAUSE = 50_000;

    private final Path root;
    private final Disk.Opener opener;
    private final Clock clock;
    private final boolean force;
    private final Duration busyTimeout;
    private final Memories memories;
    private volatile LockFile lockFile;
    private volatile boolean closed;

    private FileMessageLog(Builder builder, Path root) throws IOException {
        this.root = root;
        this.opener = builder.opener;
        this.clock = builder.clock;
        this.force = builder.fsync;
        this.busyTimeout = builder.busyTimeout;
        this.memories = new Memories(opener, builder.maxOpenMemories, force);
        this.lockFile = LockFile.open(root);
    }

    /**
     * Keeps memories in files below a directory. The directory is made if it does not exist; its parent must exist.
     *
     * @param directory the directory, which should hold nothing else
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
    public AppendResult append(MemoryKey key, Append append) {
        Instant now = clock.instant();
        return change("append to", key, changes -> changes.append(append, now), now);
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        return ask("read of", key, tree -> tree.read(query), absent -> {
            requireNone(key, "messageId", query.from());
            return Tail.empty(new Position(absent.epoch(), absent.revision(), null));
        });
    }

    @Override
    public Map<MemoryKey, List<Found>> find(Selection selection) {
        return selection.each(
                (key, ids) -> ask("read of", key, tree -> tree.find(ids, selection.made()), absent -> List.of()),
                (key, sequences) ->
                        ask("read of", key, tree -> tree.findAt(sequences, selection.made()), absent -> List.of()));
    }

    @Override
    public Set<Long> onBranch(MemoryKey key, Collection<Long> sequences) {
        return ask("read of", key, tree -> tree.onBranch(sequences), absent -> Set.of());
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        return ask("read of", key, tree -> tree.history(query), absent -> new HistoryPage(List.of(), Optional.empty()));
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        return ask("read of", key, Tree::branches, absent -> List.of());
    }

    @Override
    public <R> R change(MemoryKey key, Change<R> change) {
        return change.by(new Kinds(key));
    }

    /** The changes of one memory. */
    private final class Kinds implements Change.Kinds {

        private final MemoryKey key;

        Kinds(MemoryKey key) {
            this.key = key;
        }

        @Override
        public String moveHead(Change.MoveHead change) {
            return change("move of the head of", key, to -> to.moveHead(change.messageId(), change.epoch()), null);
        }

        @Override
        public void moveBranch(Change.MoveBranch change) {
            change(
                    "move of a branch of",
                    key,
                    to -> to.moveBranch(change.name(), change.messageId(), change.epoch()),
                    null);
        }

        @Override
        public void setOutcome(Change.SetOutcome change) {
            change("outcome in", key, to -> to.setOutcome(change.messageId(), change.outcome(), change.epoch()), null);
        }

        @Override
        public Map<String, String> describe(Change.Describe change) {
            if (change.merge()) {
                Map<String, String> before =
                        ask("metadata of", key, tree -> tree.description().metadata(), absent -> Map.of());
                Map<String, String> after = change.after(before);
                if (after.equals(before)) {
                    return after;
                }
            }
            Instant now = clock.instant();
            return change("description of", key, to -> to.describe(change, now), now);
        }

        @Override
        public void putSummary(Change.PutSummary change) {
            change("summary of", key, to -> to.putSummary(change.summary(), change.epoch()), null);
        }
    }

    @Override
    public MemoryDetails details(MemoryKey key, Set<MemoryDetails.Part> parts) {
        return ask("read of", key, tree -> tree.details(parts), absent -> MemoryDetails.NONE);
    }

    @Override
    public MemoryPage list(String tenant, ListQuery query) {
        Ids.check("tenant", tenant);
        if (query.activeFirst()) {
            ActivityCursor first = ActivityCursor.of(query);
            return page(
                    tenant,
                    query,
                    (list, behind) -> list.active(behind == null ? first : behind.activity(), query.limit() + 1),
                    entry -> entry.activity().cursor());
        }
        long first = query.cursorAsNumber();
        return page(
                tenant,
                query,
                (list, behind) -> list.before(behind == null ? first : behind.number()),
                entry -> Long.toString(entry.number()));
    }

    /** Tells the entries of a list that come behind another one, or the first ones. */
    private interface Order {
        List<TenantList.Entry> behind(TenantList list, TenantList.@Nullable Entry entry) throws IOException;
    }

    private MemoryPage page(String tenant, ListQuery query, Order order, Function<TenantList.Entry, String> cursor) {
        return during("list of tenant " + tenant, () -> {
            TenantList list = list(tenant);
            List<MemoryInfo> page = new ArrayList<>();
            List<DamagedMemory> damaged = new ArrayList<>();
            List<DailyUsage> usage = new ArrayList<>();
            TenantList.Entry edge = null;
            List<TenantList.Entry> part = order.behind(list, null);
            while (!part.isEmpty()) {
                for (TenantList.Entry entry : part) {
                    MemoryPage one = entry(tenant, entry, query.usage());
                    if (one.memories().isEmpty() && one.damaged().isEmpty()) {
                        continue;
                    }
                    if (edge != null && page.size() + damaged.size() == query.limit()) {
                        return new MemoryPage(page, damaged, usage, Optional.of(query.startingAt(cursor.apply(edge))));
                    }
                    page.addAll(one.memories());
                    damaged.addAll(one.damaged());
                    usage.addAll(one.usage());
                    edge = entry;
                }
                part = order.behind(list, part.get(part.size() - 1));
            }
            return new MemoryPage(page, damaged, usage, Optional.empty());
        });
    }

    /** Returns a page of one memory, or of none if it is not to be listed. One that cannot be read does not hide the others. */
    private MemoryPage entry(String tenant, TenantList.Entry entry, ListQuery.@Nullable Days days) throws IOException {
        MemoryPage none = new MemoryPage(List.of(), Optional.empty());
        if (days != null && entry.usageDay() < days.from().toEpochDay()) {
            return none;
        }
        try {
            return listed(tenant, entry, tree -> page(tree, days), none);
        } catch (UnreadableDataException e) {
            String name = root.relativize(Names.ofBase(Names.tenant(root, tenant), entry.base())
                            .data())
                    .toString();
            String problem = String.valueOf(e.getMessage());
            return new MemoryPage(List.of(), List.of(new DamagedMemory(name, null, problem)), Optional.empty());
        }
    }

    private static MemoryPage page(Tree tree, ListQuery.@Nullable Days days) throws IOException {
        List<DailyUsage> usage = days == null ? List.of() : tree.usage(days.from(), days.toExclusive());
        List<MemoryInfo> infos = days == null || !usage.isEmpty() ? List.of(tree.info()) : List.of();
        return new MemoryPage(infos, List.of(), usage, Optional.empty());
    }

    @Override
    public Optional<Lease> acquireLease(MemoryKey key, String name, String owner, Duration duration) {
        InputRules.checkLease(name, owner, duration);
        return locked(
                "lease of", key, names -> Leases.of(key, names, force).acquire(name, owner, duration, clock.instant()));
    }

    @Override
    public void releaseLease(MemoryKey key, String name, String owner) {
        locked("release of a lease of", key, names -> {
            Leases.of(key, names, force).release(name, owner);
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
            boolean isIdle = memories.with(names, memory -> memory != null && isIdle(memory, since));
            if (isIdle) {
                erase(names);
            }
            return isIdle;
        });
    }

    private static boolean isIdle(Memory memory, Instant since) throws IOException {
        Tree tree = new Tree(memory, memory.recover(false)).sound();
        // Throws if it cannot be read: nothing goes that may be repaired.
        tree.history(HistoryQuery.newest(1));
        return tree.info().lastUse().isBefore(since);
    }

    private long erase(Names names) throws IOException {
        Tombstone before = Tombstone.read(names.tombstone());
        Tombstone last = before == null ? Tombstone.NEVER : before;
        long number = 0;
        if (Files.exists(names.data())) {
            last = lastOf(names, last);
            number = numberOf(names);
        }
        Files.createDirectories(names.directory(), SmallFiles.ownersDirectory(names.directory()));
        Tombstone tombstone = new Tombstone(last.epoch() + 1, last.revision() + 1, erasedAt());
        bury(names, tombstone);
        forceNames(names.directory());
        delete(names, number);
        return tombstone.epoch();
    }

    /** A full device must not keep a memory from being erased. The index gives its room; if that is not enough, it is made again. */
    private void bury(Names names, Tombstone tombstone) throws IOException {
        try {
            tombstone.write(names.tombstone(), force);
        } catch (IOException e) {
            try {
                for (Path part : List.of(names.index(), names.side())) {
                    if (Files.exists(part)) {
                        try (Disk disk = opener.open(part)) {
                            disk.truncate(0);
                        }
                    }
                }
                tombstone.write(names.tombstone(), force);
            } catch (IOException again) {
                again.addSuppressed(e);
                throw again;
            }
        }
    }

    /** A clock out of range must not keep a memory from being erased. */
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
            for (Path tombstone : Tombstone.in(Names.tenant(root, tenant))) {
                boolean isRemoved = lock().holding(
                                Names.lock(tombstone),
                                tombstone,
                                busyTimeout,
                                () -> Tombstone.remove(tombstone, erasedBefore));
                removed += isRemoved ? 1 : 0;
            }
            return removed;
        });
    }

    /** Returns the epoch and a revision that is not lower than the one in force, also of a file that is damaged. */
    private Tombstone lastOf(Names names, Tombstone absent) throws IOException {
        try (Disk data = opener.open(names.data())) {
            // Each line raises the revision by at most one, and has more than one byte.
            Header header = Memory.header(data);
            return new Tombstone(
                    Math.max(absent.epoch(), header.epoch()),
                    Math.max(absent.revision(), header.revision()) + data.length(),
                    absent.erasedAt());
        } catch (BadLineException e) {
            return new Tombstone(absent.epoch(), absent.revision() + Files.size(names.data()), absent.erasedAt());
        }
    }

    private long numberOf(Names names) throws IOException {
        try (Disk data = opener.open(names.data())) {
            return Memory.header(data).number();
        } catch (BadLineException e) {
            return 0;
        }
    }

    private void delete(Names names, long number) throws IOException {
        memories.drop(names);
        for (Path path : List.of(names.data(), names.index(), names.side(), names.torn(), names.leases())) {
            Files.deleteIfExists(path);
            Files.deleteIfExists(SmallFiles.made(path));
        }
        forceNames(names.directory());
        TenantList list = new TenantList(names.directory(), opener, force);
        if (number > 0) {
            list.remove(number, names.base());
        }
    }

    @Override
    public List<Damage> check(MemoryKey key) {
        return MemoryTree.check(
                () -> askDamaged("check of", key, tree -> new Checker(tree).check(), absent -> List.of()));
    }

    @Override
    public Repair repair(MemoryKey key) {
        return locked(
                "repair of",
                key,
                names -> memories.with(names, memory -> {
                    if (memory == null) {
                        return new Repair(List.of(), null, null, 0, 0, 0);
                    }
                    return new Checker(new Tree(memory, memory.recover(true))).repair();
                }));
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
                throw new StorageUnavailableException("close of the files below " + root, e);
            }
        }
    }

    /** Something that reads or writes files. */
    private interface Work<T> {
        T run() throws IOException;
    }

    private interface Question<T> {
        T of(Tree tree) throws IOException;
    }

    private interface Plan<T> {
        Changes.Change<T> of(Changes changes) throws IOException;
    }

    private interface Locked<T> {
        T run(Names names) throws IOException;
    }

    private <T> T ask(String what, MemoryKey key, Question<T> question, Function<Tombstone, T> absent) {
        return askDamaged(what, key, tree -> question.of(tree.sound()), absent);
    }

    private <T> T askDamaged(String what, MemoryKey key, Question<T> question, Function<Tombstone, T> absent) {
        Names names = Names.of(root, Objects.requireNonNull(key, "key"));
        return during(what + " memory " + key, () -> ask(names, key, question, absent));
    }

    /**
     * Asks without a lock, and again if the index was changed meanwhile. If that goes on, or the index has to be brought up to
     * date, asks with the lock.
     */
    private <T> T ask(Names names, Object key, Question<T> question, Function<Tombstone, T> absent) throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Answer<T> answer = memories.with(names, memory -> attempt(memory, question));
            switch (answer.kind()) {
                case ABSENT -> {
                    return absent(names, absent);
                }
                case VALID -> {
                    return answer.get();
                }
                case NEEDS_LOCK -> attempt = ATTEMPTS;
                case CHANGED -> LockSupport.parkNanos(PAUSE);
            }
        }
        return lock().holding(
                        names.lock(),
                        key,
                        busyTimeout,
                        () -> memories.with(names, memory -> {
                            if (memory == null) {
                                return absent(names, absent);
                            }
                            try {
                                return question.of(new Tree(memory, memory.recover(false)));
                            } catch (BrokenIndexException e) {
                                // Found by the question, or before it, as the index was brought up to date.
                                return question.of(new Tree(memory, memory.recover(true)));
                            }
                        }));
    }

    /** What came of one attempt. An answer may be an exception. */
    private record Answer<T>(Kind kind, @Nullable T value, @Nullable RuntimeException failure) {

        enum Kind {
            VALID,
            ABSENT,
            /** The index was changed meanwhile. */
            CHANGED,
            /** The index has to be brought up to date. */
            NEEDS_LOCK
        }

        static <T> Answer<T> none(Kind kind) {
            return new Answer<>(kind, null, null);
        }

        T get() {
            if (failure != null) {
                throw failure;
            }
            return Objects.requireNonNull(value);
        }
    }

    private <T> Answer<T> attempt(@Nullable Memory memory, Question<T> question) throws IOException {
        if (memory == null) {
            return Answer.none(Answer.Kind.ABSENT);
        }
        State state = memory.settled(lock());
        if (state == null) {
            // Who holds the lock brings the index up to date.
            boolean isHeld = lock().isHeld(memory.names().lock());
            return Answer.none(isHeld ? Answer.Kind.CHANGED : Answer.Kind.NEEDS_LOCK);
        }
        T value = null;
        RuntimeException failure = null;
        Tree tree = new Tree(memory, state);
        try {
            value = question.of(tree);
        } catch (BrokenIndexException e) {
            return Answer.none(memory.isUnchangedSince(state) ? Answer.Kind.NEEDS_LOCK : Answer.Kind.CHANGED);
        } catch (RuntimeException e) {
            failure = e;
        }
        return !tree.needsUnchanged() || memory.isUnchangedSince(state)
                ? new Answer<>(Answer.Kind.VALID, value, failure)
                : Answer.none(Answer.Kind.CHANGED);
    }

    private <T> T absent(Names names, Function<Tombstone, T> absent) throws IOException {
        // Without a file nothing tells whether the directory is there, but the lock file does.
        lock();
        Tombstone tombstone = Tombstone.read(names.tombstone());
        return absent.apply(tombstone == null ? Tombstone.NEVER : tombstone);
    }

    /** Makes a change. Only one with a time may create the memory. */
    private <T> T change(String what, MemoryKey key, Plan<T> change, @Nullable Instant created) {
        return locked(what, key, names -> {
            try {
                return memories.with(names, memory -> change(key, names, memory, change, created, false));
            } catch (BrokenIndexException e) {
                return memories.with(names, memory -> change(key, names, memory, change, created, true));
            }
        });
    }

    private <T> T change(
            MemoryKey key,
            Names names,
            @Nullable Memory memory,
            Plan<T> change,
            @Nullable Instant created,
            boolean anew)
            throws IOException {
        Tombstone tombstone = Tombstone.read(names.tombstone());
        if (memory != null && tombstone != null) {
            if (tombstone.epoch() > memory.header().epoch()) {
                // The erasure was interrupted.
                delete(names, memory.header().number());
                return change(key, names, null, change, created, anew);
            }
            Files.deleteIfExists(names.tombstone());
        }
        if (memory == null) {
            Tombstone absent = tombstone == null ? Tombstone.NEVER : tombstone;
            Changes.Change<T> made = change.of(new Changes(key, null, absent));
            if (made.line() != null) {
                Instant now = InputRules.time("clock", Objects.requireNonNull(created));
                create(key, names, made.line(), absent, now);
            }
            return made.result();
        }
        State state = memory.recover(anew);
        Changes.Change<T> made = change.of(new Changes(key, new Tree(memory, state).sound(), Tombstone.NEVER));
        if (made.line() != null) {
            memory.append(state, made.line());
            keepListed(memory, state);
        }
        return made.result();
    }

    /**
     * Keeps the tenant's list as the memory is: its time is written when the hour has changed. The list may also have been
     * restored from a backup that is older than the memory.
     */
    private void keepListed(Memory memory, State state) throws IOException {
        Instant activeAt = state.activeAt == null ? memory.header().createdAt() : state.activeAt;
        TenantList.Entry listed = memory.listed();
        if (listed != null && !listed.differsFrom(activeAt, state.usageDay)) {
            return;
        }
        Names names = memory.names();
        TenantList list = new TenantList(names.directory(), opener, force);
        long number = memory.header().number();
        listed = list.isSound() ? list.of(number, names.base()) : null;
        if (listed == null) {
            holdingList(names.directory(), () -> {
                list.ensure(number, names.base(), activeAt);
                return true;
            });
        }
        if (listed == null || listed.differsFrom(activeAt, state.usageDay)) {
            list.touch(number, names.base(), activeAt, state.usageDay);
        }
        memory.setListed(list.of(number, names.base()));
    }

    private void create(MemoryKey key, Names names, String line, Tombstone before, Instant now) throws IOException {
        if (!Files.exists(names.directory())) {
            Files.createDirectory(names.directory(), SmallFiles.ownersDirectory(names.directory()));
            forceNames(root);
        }
        TenantList list = new TenantList(names.directory(), opener, force);
        long number = holdingList(names.directory(), () -> list.add(names.base(), now));
        String header = Header.write(key, number, before.epoch(), before.revision(), UUID.randomUUID(), now);
        byte[] bytes = (header + "\n" + line + "\n").getBytes(StandardCharsets.UTF_8);
        try {
            for (Path path : List.of(names.index(), names.side())) {
                Files.deleteIfExists(path);
            }
            SmallFiles.replace(names.data(), bytes, force);
            forceNames(names.directory());
        } catch (IOException e) {
            removeAfter(e, list, number, names);
            throw e;
        }
        Files.deleteIfExists(names.tombstone());
        memories.with(names, memory -> {
            if (memory != null) {
                keepListed(memory, memory.recover(false));
            }
            return true;
        });
    }

    private void forceNames(Path directory) throws IOException {
        if (force) {
            SmallFiles.forceNames(directory);
        }
    }

    /** An entry without a memory is passed over, so that it cannot be removed does no harm. */
    private static void removeAfter(IOException reason, TenantList list, long number, Names names) {
        try {
            list.remove(number, names.base());
        } catch (IOException e) {
            reason.addSuppressed(e);
        }
    }

    private <T> T locked(String what, MemoryKey key, Locked<T> work) {
        Names names = Names.of(root, Objects.requireNonNull(key, "key"));
        String text = what + " memory " + key;
        return during(text, () -> lock().holding(names.lock(), text, busyTimeout, () -> work.run(names)));
    }

    private <T> T holdingList(Path tenantDirectory, LockFile.Work<T> work) throws IOException {
        return lock().holding(Names.lock(tenantDirectory), "list " + tenantDirectory, busyTimeout, work);
    }

    /** Returns a tenant's list, made again if it is gone. */
    private TenantList list(String tenant) throws IOException {
        lock();
        Path directory = Names.tenant(root, tenant);
        TenantList list = new TenantList(directory, opener, force);
        if (!list.isSound()) {
            holdingList(directory, () -> {
                if (!list.isSound()) {
                    list.remake();
                }
                return true;
            });
        }
        return list;
    }

    /** Asks a memory that a list names. A memory that was erased, and perhaps written again, is not that one any more. */
    private <T> T listed(String tenant, TenantList.Entry entry, Question<T> question, T gone) throws IOException {
        Names names = Names.ofBase(Names.tenant(root, tenant), entry.base());
        return ask(
                names,
                tenant,
                tree -> tree.memory().header().number() == entry.number() ? question.of(tree) : gone,
                absent -> gone);
    }

    /** Returns the locks, after a look whether the directory is there. */
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
        throw new StorageUnavailableException(
                "The lock file in " + root
                        + " is gone: the directory was moved, unmounted or emptied while it was in use; put it back, or open a"
                        + " new log to begin anew",
                null);
    }

    private static void requireNone(MemoryKey key, String field, @Nullable String id) {
        if (id != null) {
            throw UnknownMessageException.notThere(key, field, id);
        }
    }

    private <T> T during(String what, Work<T> work) {
        if (closed) {
            throw new StorageClosedException(what);
        }
        try {
            return work.run();
        } catch (IOException e) {
            throw translate(what, e);
        } catch (ReadOnlyFileSystemException e) {
            throw new KeepsakeException(what + ": the file system of " + root + " is read-only", e);
        }
    }

    private KeepsakeException translate(String what, IOException e) {
        if (closed) {
            return new StorageClosedException(what);
        }
        if (e instanceof AccessDeniedException || (Files.isDirectory(root) && !Files.isWritable(root))) {
            return new KeepsakeException(
                    what + ": " + root + " or a file in it may not be written; give this process the right to", e);
        }
        return new StorageUnavailableException(what + ": the files below " + root + " cannot be used at the moment", e);
    }

    /** Configures a log in files. Not thread-safe. */
    public static final class Builder {

        private @Nullable Path directory;
        private boolean fsync = true;
        private int maxOpenMemories = 100;
        private Duration busyTimeout = Duration.ofSeconds(10);
        private Clock clock = Clock.systemUTC();
        private Disk.Opener opener = new Disk.Opener();

        private Builder() {}

        /**
         * Sets the directory. Required. It is made if it does not exist; its parent must exist.
         *
         * @param path the directory, which should hold nothing else
         * @return this builder
         */
        public Builder directory(Path path) {
            this.directory = Objects.requireNonNull(path, "path");
            return this;
        }

        /**
         * Sets whether an append waits until the device has it. Without that, what was acknowledged survives the end of
         * the process, but not that of the machine. Default: true.
         *
         * @param wait whether to wait
         * @return this builder
         */
        public Builder fsync(boolean wait) {
            this.fsync = wait;
            return this;
        }

        /**
         * Sets the number of memories whose files stay open, three for each. More are open only while more are used at
         * the same time. Default: 100.
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
         * Sets how long a call waits for others that write to the same memory. Default: 10 seconds.
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
         * Sets the clock for the times of messages and the ends of leases. Default: the system's.
         *
         * @param source the clock
         * @return this builder
         */
        public Builder clock(Clock source) {
            this.clock = Objects.requireNonNull(source, "source");
            return this;
        }

        /** Sets what opens the files. For tests. */
        Builder opener(Disk.Opener source) {
            this.opener = source;
            return this;
        }

        /**
         * Opens the log.
         *
         * @return the log, to be closed at the end
         * @throws InvalidInputException if there is no directory and none can be made
         * @throws StorageUnavailableException if the directory cannot be used at the moment
         */
        public FileMessageLog build() {
            if (directory == null) {
                throw new InvalidInputException("directory", "is needed: FileMessageLog.builder().directory(…)");
            }
            Path root = directory.toAbsolutePath().normalize();
            Path parent = root.getParent();
            if (Files.exists(root) && !Files.isDirectory(root)) {
                throw new InvalidInputException("directory", root + " is not a directory");
            }
            if (parent != null && !Files.isDirectory(parent)) {
                throw new InvalidInputException("directory", "the directory " + parent + " does not exist");
            }
            try {
                if (!Files.exists(root)) {
                    Files.createDirectories(root, SmallFiles.ownersDirectory(root));
                    if (fsync) {
                        SmallFiles.forceNames(parent);
                    }
                }
                return new FileMessageLog(this, root);
            } catch (AccessDeniedException e) {
                throw new KeepsakeException(
                        "directory " + root + " may not be written; give this process the right to", e);
            } catch (IOException e) {
                throw new StorageUnavailableException("directory " + root + " cannot be used at the moment", e);
            }
        }
    }
}

package io.github.keepsake4j.log.file;

import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.backend.TreeStep;
import io.github.keepsake4j.base.Locked;
import io.github.keepsake4j.base.SmallFiles;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One memory in the heap: its tree, and its places in the file. A change is planned, written, synced and applied. The
 * lock is held while the tree is read or changed, and not during the wait for the device. Thread-safe; changes need the
 * memory's lock of the directory too.
 */
final class CachedMemory implements Closeable {

    private static final Logger LOG = LoggerFactory.getLogger(CachedMemory.class);

    /** A time that no file of this library has. It means any later time. */
    static final Instant LATEST_TIME = Instant.parse("2400-01-01T00:00:00Z");

    /** The end of the known part of the file, and a checksum of the bytes before it. */
    private record Known(long end, int tail) {}

    private final Names names;
    private final Disk.Opener opener;
    private final boolean force;
    private final CachedMemories room;

    /** Distinguishes the file from others of the same name; null if the system has no such identity. */
    private final @Nullable Object identity;

    private final Header header;
    private final MemoryTree tree;
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private @Nullable Disk disk;
    private volatile Known known;
    private Totals totals = Totals.NONE;
    private final AtomicLong weight = new AtomicLong(1);

    /** The place of a line whose sync has not returned. Readers of this process do not read behind it. */
    private volatile long writtenTo = Long.MAX_VALUE;

    /** Held while waiting for the device. */
    private final Object durability = new Object();

    /** The end of the part that is known to have reached the device. */
    private long synced;

    /** A line whose sync has failed, to be written again; possibly an empty one at the end. */
    private volatile byte @Nullable [] unsynced;

    private long unsyncedAt;

    /** Whether the tenant's list has it. Guarded by the memory's lock. */
    boolean isListed;

    private CachedMemory(
            Names names,
            Disk.Opener opener,
            boolean force,
            CachedMemories room,
            @Nullable Object identity,
            Header header,
            Disk disk)
            throws IOException {
        this.names = names;
        this.opener = opener;
        this.force = force;
        this.room = room;
        this.identity = identity;
        this.header = header;
        this.disk = disk;
        this.known = new Known(header.end(), disk.tail(header.end()));
        this.tree = empty(
                header.key(),
                part -> disk().read(part.offset(), part.length()),
                header.epoch(),
                header.revision(),
                header.createdAt());
    }

    /** Returns a memory without messages. */
    static MemoryTree empty(
            MemoryKey key, FileBodies.Reader reader, long epoch, long revision, @Nullable Instant createdAt) {
        return new MemoryTree(key, new FileBodies(reader), MemoryTree.State.empty(epoch, revision, createdAt));
    }

    /**
     * Opens a memory's file. Its lines are read at the first use.
     *
     * @return the memory, or null if it has no file, or its file was just replaced
     * @throws UnreadableDataException if the first line cannot be read
     */
    static @Nullable CachedMemory open(Names names, Disk.Opener opener, boolean force, CachedMemories room)
            throws IOException {
        Object identity = identity(names.data());
        if (!Files.isRegularFile(names.data())) {
            return null;
        }
        Disk disk;
        try {
            disk = opener.open(names.data());
        } catch (FileNotFoundException e) {
            if (Files.exists(names.data())) {
                throw e;
            }
            return null; // an erasure came in between
        }
        boolean done = false;
        try {
            Header header = header(names, disk);
            // A file that was replaced in between may be the older one.
            done = Objects.equals(identity, identity(names.data()));
            return done ? new CachedMemory(names, opener, force, room, identity, header, disk) : null;
        } finally {
            if (!done) {
                disk.close();
            }
        }
    }

    /** Reads the first line of a memory's file, which names the memory. */
    static Header header(Names names, Disk disk) throws IOException {
        try {
            Header header = Header.read(disk);
            if (!names.areOf(header.key())) {
                throw new BadLineException("it names another memory than the file's name does");
            }
            return header;
        } catch (BadLineException e) {
            throw new UnreadableDataException(
                    "The first line of " + names.data() + ", which names the memory, cannot be read: " + e.problem()
                            + ". Nothing was changed. Restore the line from a backup, or erase the memory");
        }
    }

    private static @Nullable Object identity(Path path) throws IOException {
        try {
            return SmallFiles.identity(path);
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    Header header() {
        return header;
    }

    Names names() {
        return names;
    }

    /** Returns the approximate heap that it takes, in messages. */
    long weight() {
        return weight.get();
    }

    private synchronized Disk disk() throws IOException {
        if (disk == null) {
            disk = opener.open(names.data());
        }
        return disk;
    }

    /** Closes the file until it is used next. */
    @Override
    public synchronized void close() throws IOException {
        if (disk != null) {
            disk.close();
            disk = null;
        }
    }

    /** Returns whether a line is only in the heap, so that this memory must not be dropped. */
    boolean isUnsynced() {
        return unsynced != null;
    }

    /**
     * Returns whether the file of the name is still this one.
     *
     * @throws UnreadableDataException if it is, and earlier content is missing
     */
    boolean isCurrent() throws IOException {
        if (!isOfThisName()) {
            return false;
        }
        secure();
        Known before = known;
        Disk now = disk();
        if (!isOfThisName()) {
            return false;
        }
        if (isContinued(before, now)) {
            return true;
        }
        checkContinued(before, header(names, now), now);
        return false;
    }

    private static boolean isContinued(Known before, Disk now) throws IOException {
        return now.length() >= before.end() && now.tail(before.end()) == before.tail();
    }

    private boolean isOfThisName() throws IOException {
        Object now = identity(names.data());
        return Objects.equals(identity, now) && (now != null || Files.exists(names.data()));
    }

    /** Checks that another file of the same name has all content of this one, if it has the same generation. */
    void checkContinuedBy(CachedMemory other) throws IOException {
        checkContinued(known, other.header, other.disk());
    }

    private void checkContinued(Known before, Header now, Disk data) throws IOException {
        if (!now.generation().equals(header.generation()) || isContinued(before, data)) {
            return;
        }
        long length = data.length();
        String what = length < before.end()
                ? "bytes " + length + " to " + (before.end() - 1) + " of " + names.data() + " are missing"
                : "the bytes before byte " + before.end() + " of " + names.data() + " have changed";
        throw new UnreadableDataException(
                "Memory " + header.key() + ": " + what + ". Nothing was changed. Restore the file, or call "
                        + "repair() to continue with the present content");
    }

    /** Writes the bytes of a failed sync again before any answer, since the device may have lost them. */
    private void secure() throws IOException {
        if (unsynced == null) {
            return;
        }
        synchronized (durability) {
            byte[] line = unsynced;
            if (line != null) {
                disk().rewrite(synced, unsyncedAt);
                disk().write(unsyncedAt, line);
                force(unsyncedAt + line.length);
                unsynced = null;
                writtenTo = Long.MAX_VALUE;
            }
        }
    }

    /** Waits until a line, or the whole known part, has reached the device, even if other processes wrote it. */
    private void sync(long offset, byte[] line) throws IOException {
        synchronized (durability) {
            long end = offset + line.length;
            if (force && synced < end) {
                try {
                    force(end);
                } catch (IOException e) {
                    unsyncedAt = offset;
                    unsynced = line;
                    throw e;
                }
            }
        }
    }

    private void force(long end) throws IOException {
        if (synced == 0) {
            SmallFiles.forceNames(names.directory());
        }
        disk().force();
        synced = end;
    }

    /**
     * Brings the tree up to the last whole line.
     *
     * @return whether an incomplete line follows
     */
    boolean refresh() throws IOException {
        long limit = writtenTo;
        long size = Math.min(disk().length(), limit);
        if (size > known.end()) {
            if (known.end() == header.end()) {
                Totals last = Totals.last(disk());
                room.need(this, last == null ? 0 : last.messages());
            }
            lock.writeLock().lock();
            try {
                catchUp(size);
            } finally {
                lock.writeLock().unlock();
            }
        }
        return known.end() < size;
    }

    private void catchUp(long size) throws IOException {
        long[] end = {known.end()};
        if (end[0] >= size) {
            return;
        }
        try {
            disk().lines(end[0], size, (bytes, start, until, offset) -> {
                line(bytes, start, until, offset);
                end[0] = offset + until + 1 - start;
            });
        } finally {
            known = new Known(end[0], disk().tail(end[0]));
        }
    }

    private void line(byte[] bytes, int start, int end, long offset) throws IOException {
        try {
            apply(readable(bytes, start, end, offset), offset);
        } catch (BadLineException e) {
            TreeStep.Appended salvaged = Line.salvaged(bytes, start, end, offset);
            if (salvaged.messages().isEmpty() || tree.problem(List.of(salvaged)) != null) {
                String problem =
                        "the line at byte " + offset + " of " + names.data() + " cannot be read: " + e.problem();
                tree.lose(new Damage(Damage.Kind.MESSAGE, null, null, problem));
            } else {
                salvaged.messages().forEach(message -> tree.lose(Line.damage(message)));
                apply(new Line(0, List.of(salvaged), null, null), offset);
            }
        }
    }

    private Line readable(byte[] bytes, int start, int end, long offset) {
        Line line = Line.read(bytes, start, end, offset);
        String problem = tree.problem(line.steps());
        if (problem != null) {
            throw new BadLineException(problem);
        }
        return line;
    }

    private void apply(Line line, long offset) throws IOException {
        long more = weight(line.steps());
        room.need(this, more);
        weight.addAndGet(more);
        tree.apply(line.revision(), line.steps());
        totals = totals.after(line.steps(), line.description(), header.createdAt());
        if (line.totals() != null && tree.isWhole() && !line.totals().equals(totals)) {
            String problem = "the totals of the line at byte " + offset + " do not agree with the lines before it";
            tree.lose(new Damage(Damage.Kind.SEQUENCE, null, null, problem));
        }
    }

    /** Returns the approximate heap that a change takes, in messages of 300 bytes. */
    private static long weight(List<TreeStep> steps) {
        long weight = 0;
        for (TreeStep step : steps) {
            if (step instanceof TreeStep.Appended appended) {
                for (TreeStep.Added added : appended.messages()) {
                    weight += 1 + added.entry().id().length() / 256;
                }
                weight +=
                        appended.view() == null ? 0 : 1 + appended.view().runs().size();
            } else if (step instanceof TreeStep.Summarized put) {
                weight += 1 + put.summary().text().length() / 150;
            }
        }
        return weight;
    }

    /** Asks the tree, which must be up to date. */
    <T> T ask(Function<MemoryTree, T> question) {
        return Locked.by(lock.readLock(), () -> question.apply(tree));
    }

    /** Moves an incomplete line out of the file: it was never acknowledged. Call it with the memory's lock. */
    void recover() throws IOException {
        if (refresh()) {
            moveTorn(known.end(), disk().length());
        }
    }

    private void moveTorn(long from, long size) throws IOException {
        byte[] torn = disk().read(from, Math.toIntExact(Math.min(size - from, Integer.MAX_VALUE - 8)));
        byte[] line = Arrays.copyOf(torn, torn.length + 1);
        line[torn.length] = '\n';
        SmallFiles.add(names.torn(), line, force);
        disk().truncate(from);
        if (force) {
            disk().force();
        }
        LOG.warn(
                "The last {} bytes of {} have no end of a line, because their writer was killed or had no room. They were"
                        + " never acknowledged and are moved to {}",
                size - from,
                names.data(),
                names.torn());
    }

    /** Makes a change. Call it with the memory's lock. */
    <T> T change(Function<MemoryTree, MemoryTree.Plan<T>> planner) throws IOException {
        recover();
        MemoryTree.Plan<T> plan = ask(planner);
        if (plan.steps().isEmpty()) {
            // An existing result is an answer too.
            sync(known.end(), new byte[0]);
        } else {
            append(plan);
        }
        return plan.result();
    }

    private void append(MemoryTree.Plan<?> plan) throws IOException {
        long start = known.end();
        String json = Line.write(plan.revision(), plan.steps());
        Line line = ask(any -> written(json, start));
        Totals after = totals.after(line.steps(), line.description(), header.createdAt());
        byte[] bytes = line(json, after);
        room.need(this, weight(line.steps()));
        writtenTo = start;
        try {
            if (header.version() == 1) {
                Header.raise(disk());
            }
            disk().append(start, bytes);
            keepTime(names.data(), after);
            sync(start, bytes);
        } finally {
            writtenTo = isUnsynced() ? start : Long.MAX_VALUE;
        }
        lock.writeLock().lock();
        try {
            if (known.end() == start) {
                apply(new Line(line.revision(), line.steps(), line.description(), after), start);
                known = new Known(start + bytes.length, disk().tail(start + bytes.length));
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    private static byte[] line(String json, Totals totals) {
        return (json + ",\"totals\":" + PlainJson.write(totals.json()) + "}\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the first two lines of a new memory's file: one that names it, and its first change. */
    static byte[] firstLines(MemoryKey key, long number, Tombstone before, Instant now, MemoryTree.Plan<?> plan) {
        byte[] header = (Header.write(key, number, before.epoch(), before.revision(), now) + "\n")
                .getBytes(StandardCharsets.UTF_8);
        String json = Line.write(plan.revision(), plan.steps());
        byte[] body = (json + "}").getBytes(StandardCharsets.UTF_8);
        try {
            Line line = Line.read(body, 0, body.length, header.length);
            byte[] bytes = line(json, Totals.NONE.after(line.steps(), line.description(), now));
            byte[] both = Arrays.copyOf(header, header.length + bytes.length);
            System.arraycopy(bytes, 0, both, header.length, bytes.length);
            return both;
        } catch (BadLineException e) {
            throw new IllegalStateException("the first line of memory " + key + ": " + e.problem(), e);
        }
    }

    /** No line is written that could not be read. */
    private Line written(String json, long start) {
        byte[] bytes = (json + "}").getBytes(StandardCharsets.UTF_8);
        try {
            return readable(bytes, 0, bytes.length, start);
        } catch (BadLineException e) {
            throw new IllegalStateException("a line to be written to " + names.data() + ": " + e.problem(), e);
        }
    }

    /**
     * Makes the file as new as its newest message, which may have a future time. So a list knows which files it need
     * not open.
     */
    static void keepTime(Path file, Totals after) throws IOException {
        Instant last = after.last();
        if (last != null && last.isAfter(Instant.now())) {
            Instant time = last.isBefore(LATEST_TIME) ? last : LATEST_TIME;
            Files.setLastModifiedTime(file, FileTime.from(time));
        }
    }
}

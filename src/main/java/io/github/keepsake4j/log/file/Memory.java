package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.LockFile;
import io.github.keepsake4j.log.SmallFiles;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.Closeable;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The open files of one memory. */
final class Memory implements Closeable {

    private static final Logger LOG = LoggerFactory.getLogger(Memory.class);

    /** How much of the end of a file tells it from another file. */
    private static final int TAIL = 64;

    private static final int USUAL_HEADER = 512;

    private final Names names;
    private final Header header;
    private final Disk data;
    private final Disk indexFile;
    private final Disk sideFile;
    private final Index index;
    private final boolean force;

    /** Tells the file from another one of the same name; null where the system has no such identity. */
    private final @Nullable Object identity;

    private final long identityHash;

    /** Whether the index was compared with the end of the file since it was opened. */
    private volatile boolean compared;

    /** What the tenant's list tells of it, as far as that was looked up since it was opened. */
    private volatile TenantList.@Nullable Entry listed;

    private Memory(
            Names names, Header header, Disk data, Disk index, Disk side, boolean force, @Nullable Object identity) {
        this.names = names;
        this.header = header;
        this.data = data;
        this.indexFile = index;
        this.sideFile = side;
        this.index = new Index(index, side);
        this.force = force;
        this.identity = identity;
        byte[] text = String.valueOf(identity).getBytes(StandardCharsets.UTF_8);
        this.identityHash = ByteBuffer.wrap(Names.sha256(text)).getLong();
    }

    /**
     * Opens a memory's files.
     *
     * @return the memory, or null if it has no file, or its file was just replaced
     * @throws UnreadableDataException if the first line cannot be read
     */
    static @Nullable Memory open(Names names, Disk.Opener opener, boolean force) throws IOException {
        Object identity = identity(names.data());
        if (!Files.exists(names.data())) {
            return null;
        }
        Disk data = null;
        Disk index = null;
        Disk side = null;
        boolean done = false;
        try {
            data = openExisting(names.data(), opener);
            Header header = header(data);
            index = opener.open(names.index());
            side = opener.open(names.side());
            // A file that was replaced in between may be the older one.
            done = Objects.equals(identity, identity(names.data()));
            return done ? new Memory(names, header, data, index, side, force, identity) : null;
        } catch (BadLineException e) {
            throw unreadableHeader(names, e);
        } finally {
            if (!done) {
                for (Disk disk : new @Nullable Disk[] {data, index, side}) {
                    if (disk != null) {
                        disk.close();
                    }
                }
            }
        }
    }

    private static Disk openExisting(Path path, Disk.Opener opener) throws IOException {
        if (!Files.isRegularFile(path)) {
            throw new FileNotFoundException(path + " is no file");
        }
        return opener.open(path);
    }

    /** Reads the first line of a file. */
    static Header header(Disk data) throws IOException, BadLineException {
        byte[] beginning = new byte[USUAL_HEADER];
        int length = data.read(0, beginning);
        if (length == beginning.length) {
            try {
                return Header.read(beginning);
            } catch (BadLineException e) {
                // It may be longer than most.
                beginning = new byte[Header.MAX_LENGTH];
                length = data.read(0, beginning);
            }
        }
        return Header.read(Arrays.copyOf(beginning, length));
    }

    static UnreadableDataException unreadableHeader(Names names, BadLineException e) {
        return new UnreadableDataException(
                "The first line of " + names.data() + ", which names the memory, cannot be read: " + e.problem()
                        + ". Nothing is written over it: restore the line from a backup, or erase the memory",
                null);
    }

    private static @Nullable Object identity(Path path) throws IOException {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    /** Returns whether the file that is open still has its name. */
    boolean isThere() throws IOException {
        Object now = identity(names.data());
        return Objects.equals(identity, now) && (now != null || Files.exists(names.data()));
    }

    private boolean isOfThisFile(State state) {
        return state.fileId.equals(header.fileId())
                && state.identity == identityHash
                && state.isOfThisStart()
                && state.covered >= header.end();
    }

    TenantList.@Nullable Entry listed() {
        return listed;
    }

    void setListed(TenantList.@Nullable Entry entry) {
        listed = entry;
    }

    Names names() {
        return names;
    }

    Header header() {
        return header;
    }

    Disk data() {
        return data;
    }

    Index index() {
        return index;
    }

    /**
     * Returns the state that was acknowledged last, without the memory's lock.
     *
     * @return the state, or null if the index is being made anew, or has to be brought up to date first
     */
    @Nullable
    State settled(LockFile lock) throws IOException {
        State state = index.state();
        if (state == null || !isBelieved(state)) {
            return null;
        }
        long size = data.length();
        return switch (state.phase) {
            case IDLE -> size == state.covered ? state : null;
            // If no process holds the lock, the writer was killed.
            case APPENDING, LINKING -> size >= state.covered && lock.isHeld(names.lock()) ? state : null;
            case REBUILDING -> null;
        };
    }

    /** Returns whether the index has not been changed since a reader took a state. */
    boolean isUnchangedSince(State before) throws IOException {
        State now = index.state();
        return now != null
                && before.phase != State.Phase.LINKING
                && (now.phases == before.phases
                        || (now.phases == before.phases + 1
                                && before.phase == State.Phase.IDLE
                                && now.phase == State.Phase.APPENDING));
    }

    private boolean isBelieved(State state) {
        return compared && isOfThisFile(state);
    }

    /**
     * Brings the index up to date. To be called with the memory's lock.
     *
     * @param anew whether to make it anew even if nothing seems to be wrong with it
     * @return the state of the whole file
     */
    State recover(boolean anew) throws IOException {
        State state = index.state();
        long size = data.length();
        if (anew || state == null || !isUsable(state, size)) {
            state = rebuild(state, size);
        } else if (state.covered < size) {
            LOG.debug("The index of {} is brought up to date", names.data());
            index.reserve(state.count, state.sides);
            index.enter(state, State.Phase.LINKING);
            new Linker(this, state, false).catchUp(size);
            settle(state);
        } else if (state.phase != State.Phase.IDLE) {
            settle(state);
        }
        compared = true;
        if (state.covered < size) {
            moveTorn(state.covered, size);
        }
        return state;
    }

    private boolean isUsable(State state, long size) throws IOException {
        boolean isComplete = state.phase == State.Phase.IDLE || state.phase == State.Phase.APPENDING;
        boolean mayBeBelieved = MachineStart.isKnown() || compared;
        return isComplete
                && mayBeBelieved
                && isOfThisFile(state)
                && state.covered <= size
                && ((compared && state.covered == size) || state.tail == tail(state.covered));
    }

    private State rebuild(@Nullable State before, long size) throws IOException {
        LOG.debug("The index of {} is made anew", names.data());
        State state = new State(header.fileId(), identityHash);
        state.phases = before == null ? 0 : before.phases + 1;
        state.phase = State.Phase.REBUILDING;
        state.epoch = header.epoch();
        state.revision = header.revision();
        state.covered = header.end();
        index.begin(state);
        try {
            new Linker(this, state, true).catchUp(size);
            index.flush();
        } finally {
            index.abandon();
        }
        index.reserve(state.count, state.sides);
        settle(state);
        return state;
    }

    /** Makes what was changed valid. */
    private void settle(State state) throws IOException {
        state.phases++;
        state.phase = State.Phase.IDLE;
        state.machineStart = MachineStart.id();
        index.write(state);
    }

    /** Moves what has no line's end out of the file: it was never acknowledged. */
    private void moveTorn(long from, long size) throws IOException {
        byte[] torn = data.read(from, Math.toIntExact(Math.min(size - from, Integer.MAX_VALUE - 8)));
        byte[] line = Arrays.copyOf(torn, torn.length + 1);
        line[torn.length] = '\n';
        SmallFiles.add(names.torn(), line, force);
        data.truncate(from);
        if (force) {
            data.force();
        }
        LOG.warn(
                "The last {} bytes of {} have no end of a line, because their writer was killed or had no room. They were"
                        + " never acknowledged and are moved to {}",
                size - from,
                names.data(),
                names.torn());
    }

    /** Returns a checksum of what comes before a place. */
    int tail(long end) throws IOException {
        int length = (int) Math.min(TAIL, end);
        CRC32C sum = new CRC32C();
        sum.update(data.read(end - length, length));
        return (int) sum.getValue();
    }

    /**
     * Appends a line, and waits until it has reached the device. To be called with the memory's lock.
     *
     * @param state what {@link #recover} returned; is changed
     * @param json the line without its end
     */
    void append(State state, String json) throws IOException {
        byte[] bytes = (json + "\n").getBytes(StandardCharsets.UTF_8);
        Linker linker = new Linker(this, state, false);
        Line line = readable(state, linker, bytes);
        // A side entry for each kind of change, and for the day of each message.
        index.reserve(
                state.count + line.messages().size(),
                state.sides + 5 + line.messages().size());
        index.enter(state, State.Phase.APPENDING);
        try {
            data.write(state.covered, bytes);
            if (force) {
                data.force();
            }
        } catch (IOException e) {
            takeBack(state, e);
            throw e;
        }
        index.enter(state, State.Phase.LINKING);
        linker.apply(line);
        state.covered += bytes.length;
        state.tail = tail(state.covered);
        settle(state);
    }

    /** No line is written that could not be read. */
    private Line readable(State state, Linker linker, byte[] bytes) throws IOException {
        try {
            Line line = Line.read(state.fileId, bytes, 0, bytes.length - 1, state.covered);
            linker.check(line);
            return line;
        } catch (BadLineException e) {
            throw new IllegalStateException("a line to be written to " + names.data() + ": " + e.problem(), e);
        }
    }

    /** If that fails too, what is there has no end and is moved away later, or is whole and was not acknowledged. */
    private void takeBack(State state, IOException reason) {
        try {
            data.truncate(state.covered);
            index.enter(state, State.Phase.IDLE);
        } catch (IOException e) {
            reason.addSuppressed(e);
        }
    }

    @Override
    public void close() throws IOException {
        data.close();
        indexFile.close();
        sideFile.close();
    }
}

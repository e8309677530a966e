package io.github.keepsake4j.log.file;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a memory as a whole, as the beginning of its index holds it. Mutable: a writer changes a copy that it
 * writes at the end.
 */
final class State {

    /** The bytes that it takes at the beginning of an index. */
    static final int SIZE = 256;

    /** Where the phase is. It is written alone, before and after the rest. */
    static final int PHASE_AT = 8;

    /** What a writer does at the moment, or did when it was killed. */
    enum Phase {
        /** Nothing: the index is complete. */
        IDLE(0),
        /** It appends a line to the file. The index is as before. */
        APPENDING(1),
        /** It adds the line to the index. What the index held before can be read, but ids may not be found. */
        LINKING(2),
        /** It makes the index anew. */
        REBUILDING(3);

        private final int code;

        Phase(int code) {
            this.code = code;
        }
    }

    private static final long MAGIC = 0x4B454550_49445832L;

    /** Counts the phases, so that a reader sees that there was a writer in between. */
    long phases;

    Phase phase = Phase.IDLE;
    byte[] machineStart = MachineStart.id();
    final UUID fileId;

    /** Tells the file from a copy of it: an index that was copied while it was written may be of two minds. */
    final long identity;

    /** The length of the file up to which the index knows it. */
    long covered;

    /** A checksum of the last bytes before. */
    int tail;

    long count;
    long head;
    int sides;
    long epoch;
    long revision;
    long tokens;
    int views;
    int summaries;
    int lastSummary;
    int lastReference;
    int lastDay;
    long versions;
    Part description = new Part(0, 0);

    @Nullable
    Instant firstMessageAt;

    /** The latest time of any message. */
    @Nullable
    Instant activeAt;

    /** The newest day with usage. */
    long usageDay = TenantList.NO_DAY;

    /** The lines that cannot be read and that no repair has passed over, and the first of them. */
    long badLines;

    Part badLine = new Part(0, 0);

    State(UUID fileId, long identity) {
        this.fileId = fileId;
        this.identity = identity;
    }

    /** Returns what is written of the phase: which one of how many it is, and what it is. */
    long phase() {
        return (phases << 2) | phase.code;
    }

    byte[] write() {
        ByteBuffer out = ByteBuffer.allocate(SIZE);
        out.putLong(MAGIC).putLong(phase());
        out.put(machineStart);
        out.putLong(fileId.getMostSignificantBits())
                .putLong(fileId.getLeastSignificantBits())
                .putLong(identity);
        out.putLong(covered).putInt(tail).putLong(count).putLong(head).putInt(sides);
        out.putLong(epoch).putLong(revision).putLong(tokens);
        out.putInt(views)
                .putInt(summaries)
                .putInt(lastSummary)
                .putInt(lastReference)
                .putInt(lastDay);
        out.putLong(versions).putLong(description.offset()).putInt(description.length());
        put(out, firstMessageAt);
        put(out, activeAt);
        out.putLong(usageDay);
        out.putLong(badLines).putLong(badLine.offset()).putInt(badLine.length());
        out.putInt(SIZE - Integer.BYTES, sum(out.array()));
        return out.array();
    }

    /** Reads a state, or returns null if it is none. */
    static @Nullable State read(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (bytes.length < SIZE || in.getLong() != MAGIC || in.getInt(SIZE - Integer.BYTES) != sum(bytes)) {
            return null;
        }
        long phases = in.getLong();
        byte[] machineStart = new byte[MachineStart.LENGTH];
        in.get(machineStart);
        State state = new State(new UUID(in.getLong(), in.getLong()), in.getLong());
        state.phases = phases >>> 2;
        state.phase = Phase.values()[(int) (phases & 3)];
        state.machineStart = machineStart;
        state.covered = in.getLong();
        state.tail = in.getInt();
        state.count = in.getLong();
        state.head = in.getLong();
        state.sides = in.getInt();
        state.epoch = in.getLong();
        state.revision = in.getLong();
        state.tokens = in.getLong();
        state.views = in.getInt();
        state.summaries = in.getInt();
        state.lastSummary = in.getInt();
        state.lastReference = in.getInt();
        state.lastDay = in.getInt();
        state.versions = in.getLong();
        state.description = new Part(in.getLong(), in.getInt());
        state.firstMessageAt = time(in);
        state.activeAt = time(in);
        state.usageDay = in.getLong();
        state.badLines = in.getLong();
        state.badLine = new Part(in.getLong(), in.getInt());
        return state;
    }

    private static void put(ByteBuffer out, @Nullable Instant time) {
        out.put((byte) (time == null ? 0 : 1));
        out.putLong(time == null ? 0 : time.getEpochSecond()).putInt(time == null ? 0 : time.getNano());
    }

    private static @Nullable Instant time(ByteBuffer in) {
        boolean isThere = in.get() != 0;
        Instant time = Instant.ofEpochSecond(in.getLong(), in.getInt());
        return isThere ? time : null;
    }

    /** Returns whether it was written since the machine started. */
    boolean isOfThisStart() {
        return Arrays.equals(machineStart, MachineStart.id());
    }

    /** The phase is left out, because it is written alone. */
    private static int sum(byte[] bytes) {
        CRC32C sum = new CRC32C();
        sum.update(bytes, PHASE_AT + Long.BYTES, SIZE - Integer.BYTES - PHASE_AT - Long.BYTES);
        return (int) sum.getValue();
    }
}

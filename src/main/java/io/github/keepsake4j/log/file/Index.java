package io.github.keepsake4j.log.file;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The index of a memory's file: for each message an entry of fixed size at the place that its sequence number tells, and the
 * {@link State} in front. So what a read or an append looks up does not depend on the number of messages.
 *
 * <p><b>Ids</b> are found by linear hashing. There are always as many buckets as messages, and bucket {@code n} lies in the
 * entry of message {@code n + 1}: each new message splits one bucket. A bucket is a chain of messages from high to low
 * sequence numbers.
 *
 * <p><b>Views and summaries</b> lie at messages. The newest one up to a message is found by bitmaps of several levels. Each
 * bit of a level tells whether 64 bits of the level below hold any. They lie in front of the entries: 64 entries and the words
 * in front of them are a block.
 */
final class Index {

    /** What lies at messages and is looked for. */
    enum Mark {
        VIEW(0),
        SUMMARY(1);

        private final int place;

        Mark(int place) {
            this.place = place;
        }
    }

    private static final int HEADER = 4096;
    private static final int LEVELS = 5;
    private static final int PER_BLOCK = 64;
    private static final int WORDS = Mark.values().length * LEVELS * Long.BYTES;
    private static final int ENTRY = 80;
    private static final int BLOCK = WORDS + PER_BLOCK * ENTRY;

    /** Behind this place an entry's fields are changed later; those before have a checksum. */
    private static final int CHECKED = 60;

    private static final int NEXT = 60;
    private static final int BUCKET = 64;
    private static final int VIEW = 68;
    private static final int SUMMARY = 72;
    private static final int OUTCOME = 76;

    /** The most messages of a memory: their numbers have 31 bits here. */
    static final long MAX_MESSAGES = Integer.MAX_VALUE - 1L;

    /** The blocks that are kept in the heap while an index is made anew: 1.3 MB. */
    private static final int CACHED_BLOCKS = 256;

    private final Disk file;
    private final Disk sides;

    /** While an index is made anew, the blocks that were used last; else null. */
    private @Nullable Map<Long, byte[]> blocks;

    Index(Disk file, Disk sides) {
        this.file = file;
        this.sides = sides;
    }

    /** Returns the state, or null if there is none that can be read. */
    @Nullable
    State state() throws IOException {
        byte[] bytes = new byte[State.SIZE];
        return file.read(0, bytes) < bytes.length ? null : State.read(bytes);
    }

    void write(State state) throws IOException {
        file.write(0, state.write());
    }

    /** Tells readers what is done from now on. */
    void enter(State state, State.Phase phase) throws IOException {
        state.phases++;
        state.phase = phase;
        byte[] bytes = new byte[Long.BYTES];
        ByteBuffer.wrap(bytes).putLong(state.phase());
        file.write(State.PHASE_AT, bytes);
    }

    /** Takes room for entries, so that a device that is full is noticed before the file is changed. */
    void reserve(long messages, int sideEntries) throws IOException {
        long blocksNeeded = (messages + PER_BLOCK - 1) / PER_BLOCK;
        grow(file, HEADER + blocksNeeded * BLOCK);
        grow(sides, (sideEntries + PER_BLOCK - 1L) / PER_BLOCK * PER_BLOCK * Side.SIZE);
    }

    private static void grow(Disk disk, long needed) throws IOException {
        long length = disk.length();
        while (length < needed) {
            byte[] zeros = new byte[(int) Math.min(needed - length, 1 << 16)];
            disk.write(length, zeros);
            length += zeros.length;
        }
    }

    /** Empties the index. Until {@link #flush}, changes are kept in the heap as far as possible. */
    void begin(State state) throws IOException {
        write(state);
        file.truncate(State.SIZE);
        sides.truncate(0);
        blocks = new LinkedHashMap<>(16, 0.75f, true);
    }

    /** Forgets what {@link #begin} keeps in the heap. */
    void abandon() {
        blocks = null;
    }

    void flush() throws IOException {
        Map<Long, byte[]> cached = blocks;
        blocks = null;
        if (cached != null) {
            for (Map.Entry<Long, byte[]> block : cached.entrySet()) {
                file.write(blockAt(block.getKey()), block.getValue());
            }
        }
    }

    Node node(long seq) throws IOException {
        return nodes(seq, seq).get(0);
    }

    /** Reads the entries of a range of messages. */
    List<Node> nodes(long first, long last) throws IOException {
        if (first < 1) {
            throw new BrokenIndexException("there is no message " + first);
        }
        List<Node> nodes = new ArrayList<>();
        long from = entryAt(first);
        byte[] bytes = get(from, (int) (entryAt(last) + ENTRY - from));
        for (long seq = first; seq <= last; seq++) {
            nodes.add(node(
                    seq,
                    ByteBuffer.wrap(bytes, (int) (entryAt(seq) - from), ENTRY).slice()));
        }
        return nodes;
    }

    private static Node node(long seq, ByteBuffer in) throws BrokenIndexException {
        if (in.getInt(CHECKED - Integer.BYTES) != sum(in, seq)) {
            throw new BrokenIndexException("the entry of message " + seq + " is damaged");
        }
        return new Node(
                seq,
                new Part(in.getLong(), in.getInt()),
                in.getInt() != 0,
                in.getLong(),
                in.getInt(),
                in.getInt(),
                in.getInt(),
                in.getLong(),
                in.getInt(),
                in.getInt(),
                // Behind the checksum.
                in.getInt(52),
                in.getInt(VIEW),
                in.getInt(SUMMARY),
                in.getInt(OUTCOME));
    }

    /** Writes the entry of a new message, which is not found by its id yet. */
    void add(Node node) throws IOException {
        if (node.seq() > MAX_MESSAGES) {
            throw new IOException("a memory holds at most " + MAX_MESSAGES + " messages");
        }
        ByteBuffer out = ByteBuffer.allocate(ENTRY);
        out.putLong(node.part().offset()).putInt(node.part().length()).putInt(node.damaged() ? 1 : 0);
        out.putLong(node.idHash())
                .putInt((int) node.parent())
                .putInt((int) node.run())
                .putInt((int) node.depth());
        out.putLong(node.path()).putInt((int) node.system()).putInt((int) node.user());
        out.putInt(52, node.tokens());
        out.putInt(CHECKED - Integer.BYTES, sum(out, node.seq()));
        put(entryAt(node.seq()), out.array());
    }

    private static int sum(ByteBuffer entry, long seq) {
        CRC32C sum = new CRC32C();
        for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
            sum.update((int) (seq >>> shift));
        }
        sum.update(entry.slice(0, CHECKED - Integer.BYTES));
        return (int) sum.getValue();
    }

    /** Sets the newest view, summary or outcome at a message. */
    void setView(long seq, int side) throws IOException {
        putNumber(entryAt(seq) + VIEW, side);
    }

    void setSummary(long seq, int side) throws IOException {
        putNumber(entryAt(seq) + SUMMARY, side);
    }

    void setOutcome(long seq, int side) throws IOException {
        putNumber(entryAt(seq) + OUTCOME, side);
    }

    /** Makes a new message found by its id. There are as many buckets as messages up to it. */
    void link(long seq, long idHash, boolean hasId) throws IOException {
        long bucket = seq - 1;
        if (bucket > 0) {
            split(bucket - Long.highestOneBit(bucket), bucket, seq);
        }
        if (hasId) {
            long own = address(idHash, seq);
            putNumber(entryAt(seq) + NEXT, bucket(own));
            putNumber(bucketAt(own), (int) seq);
        }
    }

    private void split(long from, long to, long buckets) throws IOException {
        List<Long> stay = new ArrayList<>();
        List<Long> move = new ArrayList<>();
        long seq = bucket(from);
        for (long above = buckets; seq != 0; above = seq, seq = number(entryAt(above) + NEXT)) {
            checkChain(above, seq);
            (address(idHash(seq), buckets) == to ? move : stay).add(seq);
        }
        if (!move.isEmpty()) {
            chain(from, stay);
            chain(to, move);
        }
    }

    private void chain(long bucket, List<Long> messages) throws IOException {
        long at = bucketAt(bucket);
        for (long seq : messages) {
            if (number(at) != (int) seq) {
                putNumber(at, (int) seq);
            }
            at = entryAt(seq) + NEXT;
        }
        if (number(at) != 0) {
            putNumber(at, 0);
        }
    }

    /** Makes all messages found by their ids, in the end of making an index anew. Takes 16 bytes of heap a message. */
    void linkAll(long count) throws IOException {
        int[] next = new int[(int) count];
        int[] bucket = new int[(int) count];
        for (long seq = 1; seq <= count; seq++) {
            Node node = node(seq);
            if (node.hasPlace()) {
                int own = (int) address(node.idHash(), count);
                next[(int) seq - 1] = bucket[own];
                bucket[own] = (int) seq;
            }
        }
        for (long seq = 1; seq <= count; seq++) {
            byte[] both = ByteBuffer.allocate(2 * Integer.BYTES)
                    .putInt(next[(int) seq - 1])
                    .putInt(bucket[(int) seq - 1])
                    .array();
            put(entryAt(seq) + NEXT, both);
        }
    }

    /** Returns the newest message up to another one whose id has a hash, or 0. */
    long find(long idHash, long count, long upTo) throws IOException {
        if (count == 0) {
            return 0;
        }
        long above = count + 1;
        for (long seq = bucket(address(idHash, count)); seq != 0; seq = number(entryAt(above) + NEXT)) {
            checkChain(above, seq);
            if (seq <= upTo && idHash(seq) == idHash) {
                return seq;
            }
            above = seq;
        }
        return 0;
    }

    private static void checkChain(long above, long seq) throws BrokenIndexException {
        if (seq < 1 || seq >= above) {
            throw new BrokenIndexException("a chain of ids leads from message " + above + " to " + seq);
        }
    }

    private static long address(long idHash, long buckets) {
        long half = Long.highestOneBit(buckets);
        long address = idHash & (2 * half - 1);
        return address < buckets ? address : address & (half - 1);
    }

    private long idHash(long seq) throws IOException {
        return ByteBuffer.wrap(get(entryAt(seq) + 16, Long.BYTES)).getLong();
    }

    private int bucket(long bucket) throws IOException {
        return number(bucketAt(bucket));
    }

    private static long bucketAt(long bucket) {
        return entryAt(bucket + 1) + BUCKET;
    }

    /** Marks a message. */
    void mark(Mark mark, long seq) throws IOException {
        long bit = seq - 1;
        for (int level = 0; level < LEVELS; level++) {
            long at = wordAt(mark, level, bit >>> 6);
            long word = word(at);
            putWord(at, word | (1L << bit));
            if (word != 0) {
                return;
            }
            bit >>>= 6;
        }
    }

    /** Takes a mark away. */
    void unmark(Mark mark, long seq) throws IOException {
        long bit = seq - 1;
        for (int level = 0; level < LEVELS; level++) {
            long at = wordAt(mark, level, bit >>> 6);
            long word = word(at) & ~(1L << bit);
            putWord(at, word);
            if (word != 0) {
                return;
            }
            bit >>>= 6;
        }
    }

    /** Returns the newest message up to another one that has a mark, or 0. */
    long newest(Mark mark, long seq) throws IOException {
        long bit = seq - 1;
        long mask = upTo(bit);
        for (int level = 0; level < LEVELS; level++) {
            long word = word(wordAt(mark, level, bit >>> 6)) & mask;
            if (word != 0) {
                long found = ((bit >>> 6) << 6) | highest(word);
                for (int below = level - 1; below >= 0; below--) {
                    found = (found << 6) | highest(word(wordAt(mark, below, found)));
                }
                return found + 1;
            }
            bit >>>= 6;
            // What lies in the same word of the level below was looked at.
            mask = upTo(bit) & ~(1L << bit);
        }
        return 0;
    }

    private static long upTo(long bit) {
        return -1L >>> (63 - (bit & 63));
    }

    private static int highest(long word) throws BrokenIndexException {
        if (word == 0) {
            throw new BrokenIndexException("a mark leads nowhere");
        }
        return 63 - Long.numberOfLeadingZeros(word);
    }

    private static long wordAt(Mark mark, int level, long word) {
        return blockAt(word << (6 * level)) + ((long) mark.place * LEVELS + level) * Long.BYTES;
    }

    Side side(int number) throws IOException {
        try {
            return Side.read(sides.read((number - 1L) * Side.SIZE, Side.SIZE));
        } catch (EOFException e) {
            throw new BrokenIndexException("there is no side entry " + number);
        }
    }

    void write(int number, Side side) throws IOException {
        sides.write((number - 1L) * Side.SIZE, side.write());
    }

    private static long blockAt(long block) {
        return HEADER + block * BLOCK;
    }

    private static long entryAt(long seq) {
        return blockAt((seq - 1) / PER_BLOCK) + WORDS + (seq - 1) % PER_BLOCK * ENTRY;
    }

    private int number(long at) throws IOException {
        return ByteBuffer.wrap(get(at, Integer.BYTES)).getInt();
    }

    private void putNumber(long at, int number) throws IOException {
        put(at, ByteBuffer.allocate(Integer.BYTES).putInt(number).array());
    }

    private long word(long at) throws IOException {
        return ByteBuffer.wrap(get(at, Long.BYTES)).getLong();
    }

    private void putWord(long at, long word) throws IOException {
        put(at, ByteBuffer.allocate(Long.BYTES).putLong(word).array());
    }

    /** Reads bytes; while blocks are in the heap, of one block. */
    private byte[] get(long at, int length) throws IOException {
        if (blocks != null) {
            byte[] block = block(blocks, (at - HEADER) / BLOCK);
            int from = (int) ((at - HEADER) % BLOCK);
            return Arrays.copyOfRange(block, from, from + length);
        }
        try {
            return file.read(at, length);
        } catch (EOFException e) {
            throw new BrokenIndexException("the index ends too early");
        }
    }

    private void put(long at, byte[] bytes) throws IOException {
        if (blocks == null) {
            file.write(at, bytes);
            return;
        }
        byte[] block = block(blocks, (at - HEADER) / BLOCK);
        System.arraycopy(bytes, 0, block, (int) ((at - HEADER) % BLOCK), bytes.length);
    }

    private byte[] block(Map<Long, byte[]> cached, long number) throws IOException {
        byte[] block = cached.get(number);
        if (block == null) {
            if (cached.size() == CACHED_BLOCKS) {
                Map.Entry<Long, byte[]> eldest = cached.entrySet().iterator().next();
                file.write(blockAt(eldest.getKey()), eldest.getValue());
                cached.remove(eldest.getKey());
            }
            // A block that is not there yet is all zeros.
            block = new byte[BLOCK];
            file.read(blockAt(number), block);
            cached.put(number, block);
        }
        return block;
    }
}

package io.github.keepsake4j.log.file;

import io.github.keepsake4j.log.ActivityCursor;
import io.github.keepsake4j.log.SmallFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The list of a tenant's memories: one entry of fixed size for each memory that was ever created, in order of creation. It can
 * be made again from the first lines of the memories' files. An erased memory's entry is empty.
 */
final class TenantList {

    /** The day of a memory without usage. */
    static final long NO_DAY = Long.MIN_VALUE;

    /**
     * One memory.
     *
     * @param number its number, from 1
     * @param base the beginning of its files' names
     * @param activeAt the time of its last activity, exact to the hour
     * @param usageDay the newest day with usage, in days since 1970
     */
    record Entry(long number, String base, Instant activeAt, long usageDay) {

        /** Returns the place of the memory in the order of activity. */
        ActivityCursor activity() {
            return new ActivityCursor(activeAt, number);
        }

        /** Returns whether the list must tell another time or day. It tells a later time of the same hour not. */
        boolean differsFrom(Instant otherActiveAt, long otherUsageDay) {
            return hour(activeAt) != hour(otherActiveAt) || usageDay < otherUsageDay;
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(TenantList.class);

    private static final long MAGIC = 0x4B454550_4C495354L;
    private static final int HEADER = 64;
    private static final int NAME = 72;
    private static final int ENTRY = 96;
    private static final int ACTIVITY = NAME;
    private static final int USAGE_DAY = NAME + Long.BYTES + Integer.BYTES;
    private static final int SUM = USAGE_DAY + Long.BYTES;
    private static final int AT_ONCE = 128;

    private final Path directory;
    private final Path file;
    private final Disk.Opener opener;
    private final boolean force;

    TenantList(Path directory, Disk.Opener opener, boolean force) {
        this.directory = directory;
        this.file = directory.resolve("list.idx");
        this.opener = opener;
        this.force = force;
    }

    private static long hour(Instant time) {
        return Math.floorDiv(time.getEpochSecond(), Duration.ofHours(1).toSeconds());
    }

    /** Returns whether the list is there or not needed. If not, it must be made again, with the tenant's lock. */
    boolean isSound() throws IOException {
        if (!Files.exists(directory)) {
            return true;
        }
        if (!Files.exists(file)) {
            return dataFiles().isEmpty();
        }
        try (Disk list = opener.open(file)) {
            return hasHeader(list);
        }
    }

    /** Adds a memory in the end, with the tenant's lock. Returns its number. */
    long add(String base, Instant activeAt) throws IOException {
        try (Disk list = openSound()) {
            long number = last(list) + 1;
            write(list, new Entry(number, base, activeAt, NO_DAY));
            if (force) {
                list.force();
            }
            return number;
        }
    }

    /** Puts a memory in its place, if another one or none is there, with the tenant's lock. */
    void ensure(long number, String base, Instant activeAt) throws IOException {
        try (Disk list = openSound()) {
            Entry there = entry(list, number);
            if (there == null || !there.base().equals(base)) {
                write(list, new Entry(number, base, activeAt, NO_DAY));
            }
        }
    }

    /** Returns the entry of a memory, or null if another one or none is in its place. */
    @Nullable
    Entry of(long number, String base) throws IOException {
        if (!Files.exists(file)) {
            return null;
        }
        try (Disk list = opener.open(file)) {
            Entry there = entry(list, number);
            return there != null && there.base().equals(base) ? there : null;
        }
    }

    /** Notes a memory's last activity and its newest day with usage, with the memory's lock. */
    void touch(long number, String base, Instant activeAt, long usageDay) throws IOException {
        try (Disk list = opener.open(file)) {
            Entry there = entry(list, number);
            if (there != null && there.base().equals(base)) {
                byte[] both = ByteBuffer.allocate(SUM - ACTIVITY)
                        .putLong(activeAt.getEpochSecond())
                        .putInt(activeAt.getNano())
                        .putLong(Math.max(usageDay, there.usageDay()))
                        .array();
                list.write(at(number) + ACTIVITY, both);
            }
        }
    }

    /** Removes a memory, with the memory's lock. */
    void remove(long number, String base) throws IOException {
        if (Files.exists(file)) {
            try (Disk list = opener.open(file)) {
                Entry there = entry(list, number);
                if (there != null && there.base().equals(base)) {
                    list.write(at(number), new byte[ENTRY]);
                    if (force) {
                        list.force();
                    }
                }
            }
        }
    }

    /** Returns the last memories before a number, newest first; at least one if there is any. */
    List<Entry> before(long number) throws IOException {
        List<Entry> found = new ArrayList<>();
        if (!Files.exists(file)) {
            return found;
        }
        try (Disk list = opener.open(file)) {
            long to = Math.min(number - 1, last(list));
            while (to > 0 && found.isEmpty()) {
                long from = Math.max(1, to - AT_ONCE + 1);
                byte[] bytes = new byte[(int) (to - from + 1) * ENTRY];
                int got = list.read(at(from), bytes);
                for (long at = from + got / ENTRY - 1; at >= from; at--) {
                    Entry entry = read(
                            at,
                            ByteBuffer.wrap(bytes, (int) (at - from) * ENTRY, ENTRY)
                                    .slice());
                    if (entry != null) {
                        found.add(entry);
                    }
                }
                to = from - 1;
            }
        }
        return found;
    }

    /** Returns the most active memories behind a place, the most active first. Goes through the whole list. */
    List<Entry> active(ActivityCursor behind, int most) throws IOException {
        PriorityQueue<Entry> best = new PriorityQueue<>(Comparator.comparing(Entry::activity));
        for (List<Entry> part = before(Long.MAX_VALUE); !part.isEmpty(); ) {
            for (Entry entry : part) {
                if (entry.activity().compareTo(behind) < 0) {
                    best.add(entry);
                    if (best.size() > most) {
                        best.remove();
                    }
                }
            }
            part = before(part.get(part.size() - 1).number());
        }
        List<Entry> sorted = new ArrayList<>(best);
        sorted.sort(Comparator.comparing(Entry::activity).reversed());
        return sorted;
    }

    /** Returns all memories, newest first. */
    List<Entry> all() throws IOException {
        List<Entry> all = new ArrayList<>();
        for (List<Entry> part = before(Long.MAX_VALUE); !part.isEmpty(); ) {
            all.addAll(part);
            part = before(part.get(part.size() - 1).number());
        }
        return all;
    }

    private Disk openSound() throws IOException {
        if (!isSound()) {
            remake();
        }
        Disk list = opener.open(file);
        if (list.length() == 0) {
            byte[] header = ByteBuffer.allocate(HEADER).putLong(MAGIC).array();
            list.write(0, header);
            if (force) {
                list.force();
                SmallFiles.forceNames(directory);
            }
        }
        return list;
    }

    /** Makes the list again from the first lines of the memories' files, with the tenant's lock. */
    void remake() throws IOException {
        LOG.info("The list {} is made again from the first lines of the files", file);
        Path made = directory.resolve("list.idx.new");
        Files.deleteIfExists(made);
        try (Disk list = opener.open(made)) {
            list.write(0, ByteBuffer.allocate(HEADER).putLong(MAGIC).array());
            for (Path data : dataFiles()) {
                String name = data.getFileName().toString();
                String base = name.substring(0, name.length() - Names.DATA.length());
                try (Disk disk = opener.open(data)) {
                    Header header = Memory.header(disk);
                    if (entry(list, header.number()) == null && header.number() > 0) {
                        // Times and days are noted when the memory is written. Until then, these are not too early.
                        Instant written = Files.getLastModifiedTime(data).toInstant();
                        write(list, new Entry(header.number(), base, written, Long.MAX_VALUE));
                    }
                } catch (BadLineException e) {
                    LOG.warn("{} is not listed: {}", data, e.problem());
                }
            }
            if (force) {
                list.force();
            }
        }
        Files.move(made, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private List<Path> dataFiles() throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory, "*" + Names.DATA)) {
            for (Path path : paths) {
                if (Names.isData(path.getFileName().toString())) {
                    files.add(path);
                }
            }
        }
        return files;
    }

    private static boolean hasHeader(Disk list) throws IOException {
        byte[] magic = new byte[Long.BYTES];
        return list.read(0, magic) == magic.length && ByteBuffer.wrap(magic).getLong() == MAGIC;
    }

    private static long last(Disk list) throws IOException {
        return Math.max(0, list.length() - HEADER) / ENTRY;
    }

    private static long at(long number) {
        return HEADER + (number - 1) * ENTRY;
    }

    private static @Nullable Entry entry(Disk list, long number) throws IOException {
        byte[] bytes = new byte[ENTRY];
        return list.read(at(number), bytes) < ENTRY ? null : read(number, ByteBuffer.wrap(bytes));
    }

    /** Returns an entry, or null if it is empty or was not written whole. */
    private static @Nullable Entry read(long number, ByteBuffer in) {
        if (in.get(0) == 0 || in.getInt(SUM) != sum(in, number)) {
            return null;
        }
        byte[] name = new byte[NAME];
        in.get(0, name);
        String base = new String(name, StandardCharsets.US_ASCII).replace("\0", "");
        Instant activeAt = Instant.ofEpochSecond(in.getLong(ACTIVITY), in.getInt(ACTIVITY + Long.BYTES));
        return new Entry(number, base, activeAt, in.getLong(USAGE_DAY));
    }

    private static void write(Disk list, Entry entry) throws IOException {
        ByteBuffer out = ByteBuffer.allocate(ENTRY);
        out.put(0, entry.base().getBytes(StandardCharsets.US_ASCII));
        Instant activeAt = entry.activeAt();
        out.putLong(ACTIVITY, activeAt.getEpochSecond())
                .putInt(ACTIVITY + Long.BYTES, activeAt.getNano())
                .putLong(USAGE_DAY, entry.usageDay());
        out.putInt(SUM, sum(out, entry.number()));
        list.write(at(entry.number()), out.array());
    }

    private static int sum(ByteBuffer entry, long number) {
        CRC32C sum = new CRC32C();
        sum.update(ByteBuffer.allocate(Long.BYTES).putLong(number).flip());
        sum.update(entry.slice(0, NAME));
        return (int) sum.getValue();
    }
}

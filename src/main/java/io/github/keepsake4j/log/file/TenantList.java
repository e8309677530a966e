package io.github.keepsake4j.log.file;

import io.github.keepsake4j.base.SmallFiles;
import io.github.keepsake4j.codec.JsonFields;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The list of a tenant's memories: an append-only file of JSON lines. A line assigns a number to a memory, whose name
 * is a hash, or records its erasure. So the list has the order of creation, and shows which files were removed. It can
 * be rebuilt from the first lines of the memories' files. Only the new part of the file is read. Thread-safe.
 */
final class TenantList {

    private static final Logger LOG = LoggerFactory.getLogger(TenantList.class);

    private static final String FIRST_LINE = "{\"keepsake\":2,\"list\":\"memories\"}\n";

    private final Path directory;
    private final Path file;
    private final Disk.Opener opener;
    private final boolean force;
    private final NavigableMap<Long, String> hashes = new TreeMap<>();
    private final Map<String, Long> numbers = new HashMap<>();
    private @Nullable Object identity;
    private long end;
    private int tail;
    private long last;
    private boolean isDamaged;

    TenantList(Path directory, Disk.Opener opener, boolean force) {
        this.directory = directory;
        this.file = directory.resolve("list.jsonl");
        this.opener = opener;
        this.force = force;
    }

    /** Returns the list of earlier versions, whose directory also has other files of theirs. */
    static Path old(Path directory) {
        return directory.resolve("list.idx");
    }

    /**
     * Reads the added lines.
     *
     * @return whether the list exists and is sound, or is not needed; if not, it must be rebuilt
     */
    synchronized boolean refresh() throws IOException {
        if (!Files.exists(directory)) {
            clear();
            return true;
        }
        if (!Files.exists(file)) {
            return hashes.isEmpty() && Names.in(directory).isEmpty();
        }
        Object now = SmallFiles.identity(file);
        try (Disk list = opener.open(file)) {
            if (now == null || !now.equals(identity) || list.length() < end || list.tail(end) != tail) {
                clear();
                identity = now;
            }
            if (list.length() > end) {
                end = list.lines(end, list.length(), this::line);
                tail = list.tail(end);
            }
        }
        return end > 0 && !isDamaged;
    }

    private void clear() {
        hashes.clear();
        numbers.clear();
        identity = null;
        end = 0;
        tail = 0;
        last = 0;
        isDamaged = false;
    }

    private void line(byte[] bytes, int start, int until, long offset) {
        try {
            JsonFields line = Contents.fields(bytes, start, until);
            if (offset == 0) {
                isDamaged = line.neededNumber("keepsake") < 1;
                return;
            }
            long number = line.neededNumber("number");
            last = Math.max(last, number);
            String before = hashes.remove(number);
            if (before != null) {
                numbers.remove(before, number);
            }
            if (!Boolean.TRUE.equals(line.flag("erased"))) {
                put(number, line.neededText("memory"));
            }
        } catch (BadLineException e) {
            LOG.warn("The line at byte {} of {} cannot be read: {}. The list is rebuilt", offset, file, e.problem());
            isDamaged = true;
        }
    }

    private void put(long number, String hash) {
        Long before = numbers.put(hash, number);
        if (before != null) {
            hashes.remove(before);
        }
        hashes.put(number, hash);
        last = Math.max(last, number);
    }

    /** Returns whether no memory is known. */
    synchronized boolean isEmpty() {
        return numbers.isEmpty();
    }

    /** Returns whether a memory was created and not erased since. */
    synchronized boolean has(String hash) {
        return numbers.containsKey(hash);
    }

    /** Returns the memories before a number, the newest first. */
    synchronized NavigableMap<Long, String> before(long number) {
        return new TreeMap<>(hashes.headMap(number, false)).descendingMap();
    }

    /** Returns the number of the next memory, with the tenant's lock. */
    synchronized long next() throws IOException {
        prepare();
        return last + 1;
    }

    /** Adds a memory with the next number, with the tenant's lock. */
    synchronized void add(String hash) throws IOException {
        write(entry(next(), hash));
    }

    /** Adds a memory whose file exists and that the list does not have, with the tenant's lock. */
    synchronized void ensure(long number, String hash) throws IOException {
        prepare();
        if (!numbers.containsKey(hash)) {
            write(entry(number > 0 && !hashes.containsKey(number) ? number : last + 1, hash));
        }
    }

    synchronized void prepare() throws IOException {
        if (!refresh()) {
            remake();
        }
    }

    private static String entry(long number, String hash) {
        return PlainJson.write(new JsonObject().with("number", number).with("memory", hash)) + "\n";
    }

    /** Records the erasure of a memory, with the tenant's lock. */
    synchronized void remove(String hash) throws IOException {
        prepare();
        Long number = numbers.get(hash);
        if (number != null) {
            write(PlainJson.write(new JsonObject().with("number", number).with("erased", true)) + "\n");
        }
    }

    private void write(String line) throws IOException {
        boolean isNew = !Files.exists(file);
        SmallFiles.create(file);
        try (Disk list = opener.open(file)) {
            if (list.length() > end) {
                // It has no line feed, because its writer was killed.
                list.truncate(end);
            }
            list.append(end, ((end == 0 ? FIRST_LINE : "") + line).getBytes(StandardCharsets.UTF_8));
            if (force) {
                list.force();
                if (isNew) {
                    SmallFiles.forceNames(directory);
                }
            }
        }
        refresh();
    }

    /**
     * Rebuilds the list from the known entries and the first lines of the memories' files, with the tenant's lock.
     * Removes the files of earlier versions that can be rebuilt.
     */
    synchronized void remake() throws IOException {
        LOG.info("The list {} is rebuilt from the first lines of the files", file);
        NavigableMap<Long, String> all = new TreeMap<>(hashes);
        Map<String, Names> unnumbered = new HashMap<>(Names.in(directory, ".idx"));
        unnumbered.values().removeIf(names -> Files.exists(names.tombstone()));
        unnumbered.putAll(Names.in(directory));
        unnumbered.keySet().removeAll(numbers.keySet());
        Map<String, Names> later = new HashMap<>(unnumbered);
        for (Names names : unnumbered.values()) {
            long number = number(names);
            if (number > 0 && all.putIfAbsent(number, names.hash()) == null) {
                later.remove(names.hash());
            }
        }
        for (String hash : later.keySet()) {
            all.put(Math.max(last, all.isEmpty() ? 0 : all.lastKey()) + 1, hash);
        }
        StringBuilder lines = new StringBuilder(FIRST_LINE);
        all.forEach((number, hash) -> lines.append(entry(number, hash)));
        SmallFiles.replace(file, lines.toString().getBytes(StandardCharsets.US_ASCII), force);
        if (force) {
            SmallFiles.forceNames(directory);
        }
        for (String suffix : List.of(".idx", ".side")) {
            for (Names names : Names.in(directory, suffix).values()) {
                Files.deleteIfExists(directory.resolve(names.base() + suffix));
            }
        }
        Files.deleteIfExists(old(directory));
        refresh();
    }

    /** Returns the number in a memory's file, or 0. */
    private long number(Names names) throws IOException {
        if (!Files.exists(names.data())) {
            return 0;
        }
        try (Disk data = opener.open(names.data())) {
            return Header.read(data).number();
        } catch (BadLineException e) {
            return 0;
        }
    }
}

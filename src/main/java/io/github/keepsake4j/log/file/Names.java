package io.github.keepsake4j.log.file;

import io.github.keepsake4j.base.SmallFiles;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The names of a memory's files. A name begins with the harmless characters of the ids, so that a person finds a file,
 * and ends in a hash, which identifies the memory. It has only lower-case ASCII letters, digits, {@code -} and
 * {@code _}. So no id leaves the directory or collides with another one, even if a file system ignores case.
 *
 * @param directory the tenant's directory
 * @param base the beginning of the names of all files of this memory except the tombstone
 * @param hash the hash of the memory's key
 */
record Names(Path directory, String base, String hash) {

    /** The number of hexadecimal digits of a hash: 96 bits, as in a database. */
    static final int HASH_LENGTH = 24;

    /** The longest base. */
    static final int MAX_BASE = 40 + 1 + HASH_LENGTH;

    private static final String BASE = "[a-z0-9_-]{0,40}-[0-9a-f]{" + HASH_LENGTH + "}";

    static final String DATA = ".jsonl";
    static final String TOMBSTONE = ".erased";
    static final String TORN = ".torn";
    static final String LEASES = ".leases";

    static Names of(Path root, MemoryKey key) {
        String hash = hash(key.canonical());
        return new Names(tenant(root, key.tenant()), readable(key) + "-" + hash, hash);
    }

    /** Returns whether these are the names of a memory. */
    boolean areOf(MemoryKey key) {
        return hash.equals(hash(key.canonical()));
    }

    /** Returns a tenant's directory. Its name is only a hash, because it stays when all memories are erased. */
    static Path tenant(Path root, String tenant) {
        return root.resolve(hash(MemoryKey.encode(tenant)));
    }

    /** Returns whether a file's name is the name of a memory's data. */
    static boolean isData(String fileName) {
        return fileName.matches(BASE + "\\.jsonl");
    }

    /** Returns the memories of a tenant whose data exist, by their hashes. */
    static Map<String, Names> in(Path directory) throws IOException {
        return in(directory, DATA);
    }

    /** Returns the memories of a tenant that have a file with a suffix, by their hashes. */
    static Map<String, Names> in(Path directory, String suffix) throws IOException {
        Map<String, Names> found = new HashMap<>();
        for (Path path : files(directory, suffix)) {
            String name = path.getFileName().toString();
            String base = name.substring(0, name.length() - suffix.length());
            if (base.matches(BASE)) {
                String hash = base.substring(base.length() - HASH_LENGTH);
                found.put(hash, new Names(directory, base, hash));
            }
        }
        return found;
    }

    /** Returns the files in a tenant's directory that have a suffix. */
    static List<Path> files(Path directory, String suffix) throws IOException {
        List<Path> found = new ArrayList<>();
        if (Files.isDirectory(directory)) {
            try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory, "*" + suffix)) {
                paths.forEach(found::add);
            }
        }
        return found;
    }

    Path data() {
        return file(DATA);
    }

    /**
     * The name under which the data file is created. If there is no data file beside it, the memory's creation was
     * interrupted.
     */
    Path made() {
        return SmallFiles.made(data());
    }

    /** The file of incomplete lines that were moved out of the data because they were never acknowledged. */
    Path torn() {
        return file(TORN);
    }

    Path leases() {
        return file(LEASES);
    }

    Path tombstone() {
        return directory.resolve(hash + TOMBSTONE);
    }

    private Path file(String suffix) {
        return directory.resolve(base + suffix);
    }

    /** Returns the number by which this memory is locked. */
    long lock() {
        return number(hash);
    }

    /** Returns the number by which a tenant's list, or the memory of a tombstone, is locked. */
    static long lock(Path directoryOrTombstone) {
        return number(directoryOrTombstone.getFileName().toString());
    }

    /** Returns the hash of the memory of a tombstone. */
    static String hashOf(Path tombstone) {
        return tombstone.getFileName().toString().substring(0, HASH_LENGTH);
    }

    private static long number(String hash) {
        return Long.parseUnsignedLong(hash.substring(0, 16), 16) >>> 4;
    }

    private static String readable(MemoryKey key) {
        String ids = key instanceof NodeKey node
                ? node.appId() + "-" + node.conversationId() + "-" + node.nodeId()
                : ((ConversationKey) key).conversationId();
        String harmless = ids.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]", "_");
        return harmless.substring(0, Math.min(40, harmless.length()));
    }

    private static String hash(String text) {
        return Ids.sha256(text).substring(0, HASH_LENGTH);
    }
}

package io.github.keepsake4j.memories.file;

import io.github.keepsake4j.base.SmallFiles;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.KeyColumns;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The files of one discussion, in the tenant's directory. An id of up to 40 lower-case ASCII letters, digits, {@code -} and
 * {@code _} is a part of the names unchanged, as in WilmerAI. Of any other id, the names have the harmless characters
 * and a hash. So no id leaves the directory or collides with another one, even if a file system ignores case.
 *
 * @param directory the tenant's directory
 * @param base the beginning of the names
 * @param hash the hash of the discussion's key
 */
record MemoryFiles(Path directory, String base, String hash) {

    private static final int READABLE = 40;
    private static final int HASH_BYTES = 12;
    private static final String KEY = ".key";
    private static final Pattern PLAIN = Pattern.compile("[a-z0-9_-]{1," + READABLE + "}");

    /** What the names of other ids end in. */
    private static final Pattern HASHED = Pattern.compile(".*-[0-9a-f]{" + 2 * HASH_BYTES + "}");

    static MemoryFiles of(Path root, MemoryKey key) {
        byte[] bytes = KeyColumns.hash(key);
        String hash = HexFormat.of().formatHex(bytes, HASH_BYTES, 2 * HASH_BYTES);
        Path directory = root.resolve(name(key.tenant(), HexFormat.of().formatHex(bytes, 0, HASH_BYTES)));
        String base = key instanceof ConversationKey conversation
                ? name(conversation.conversationId(), hash)
                : readable(key.canonical()) + "-" + hash;
        return new MemoryFiles(directory, base, hash);
    }

    private static String name(String id, String hash) {
        boolean plain = PLAIN.matcher(id).matches() && !HASHED.matcher(id).matches();
        return plain ? id : readable(id) + "-" + hash;
    }

    private static String readable(String id) {
        String harmless = id.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]", "_");
        return harmless.substring(0, Math.min(READABLE, harmless.length()));
    }

    Path ledger() {
        return file("_memories.jsonl");
    }

    /** The summary that holds, for other programs. */
    Path summary() {
        return file("_summary.jsonl");
    }

    /** All versions of the summary. A plain id has no dot, so this is not the file of another discussion. */
    Path summaries() {
        return file(".summaries.jsonl");
    }

    /** What is written of chunks or summaries. */
    Path of(MadeMemory.Kind kind) {
        return kind == MadeMemory.Kind.CHUNK ? ledger() : summaries();
    }

    Path facts() {
        return file("_vector_memory.db");
    }

    /** The canonical form of the discussion's key, for a clean-up. */
    Path key() {
        return file(KEY);
    }

    /** Returns the files that have the keys of a tenant's discussions. */
    static List<Path> keys(Path root, String tenant) throws IOException {
        List<Path> found = new ArrayList<>();
        Path directory = of(root, ConversationKey.of(tenant, "any")).directory();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + KEY)) {
            files.forEach(found::add);
        } catch (NoSuchFileException e) {
            return List.of();
        }
        return found;
    }

    Path leases() {
        return file(".leases.json");
    }

    /** What stays when the memories are erased. */
    Path tombstone() {
        return directory.resolve(hash + ".erased");
    }

    /** All files but the tombstone. */
    List<Path> all() {
        List<Path> files = new ArrayList<>(List.of(facts(), file("_vector_memory.db-journal")));
        for (Path file : List.of(Ledger.moves(ledger()), ledger(), summary(), summaries(), leases(), key())) {
            files.add(SmallFiles.made(file));
            files.add(file);
        }
        return files;
    }

    private Path file(String suffix) {
        return directory.resolve(base + suffix);
    }

    /**
     * Returns the number by which this discussion is locked. It differs from the numbers of a log's memories in the
     * same directory.
     */
    long lock() {
        return ByteBuffer.wrap(HexFormat.of().parseHex(hash), 1, Long.BYTES).getLong() >>> 4;
    }
}

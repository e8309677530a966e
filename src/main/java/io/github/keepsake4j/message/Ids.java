package io.github.keepsake4j.message;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Checks ids, generates message ids, names the ids of a workflow engine's rows, and makes hashes for names. Thread-safe. */
public final class Ids {

    /** The maximum length of an id, in bytes of UTF-8. */
    public static final int MAX_BYTES = 512;

    /**
     * The parent id that means "the previous message in time". Dify's data holds this marker for conversations that are
     * older than branches.
     */
    public static final String BEFORE_IN_TIME = "00000000-0000-0000-0000-000000000000";

    /** The suffix of a question's id after its row's id, if a node or an engine stores it. */
    public static final String QUESTION = "#user";

    /** The suffix of a question's id after its row's id, if it was imported from Dify's tables. */
    public static final String IMPORTED_QUESTION = ":query";

    private static final SecureRandom RANDOM = new SecureRandom();

    /** The time in milliseconds (48 bits) and the counter (12 bits) of the most recent id. */
    private static long lastTick;

    private Ids() {}

    /**
     * Checks an id. An id is any Unicode text of 1 to {@value #MAX_BYTES} bytes of UTF-8 without NUL and without
     * unpaired surrogates (no encoding keeps those apart).
     *
     * @param field the caller's name for this id
     * @param id the id
     * @return the same id
     * @throws InvalidInputException if the id is null or breaks a rule
     */
    public static String check(String field, @Nullable String id) {
        if (id == null) {
            throw new InvalidInputException(field, "must not be null");
        }
        if (id.isEmpty()) {
            throw new InvalidInputException(field, "must not be empty");
        }
        InvalidInputException.checkText(field, id);
        int bytes = id.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_BYTES) {
            throw new InvalidInputException(
                    field,
                    "is " + bytes + " bytes of UTF-8 long; at most " + MAX_BYTES
                            + " are allowed: pass a shorter id, such as a UUID or a hash of this one");
        }
        return id;
    }

    /**
     * Generates an id for a message: a UUID of version 7 (RFC 9562). Within one process, later ids sort after earlier
     * ones, so new rows are added at the end of an index.
     *
     * @return a new id of 36 ASCII characters
     */
    public static String next() {
        long tick;
        synchronized (RANDOM) {
            long now = System.currentTimeMillis() << 12;
            lastTick = Math.max(now, lastTick + 1);
            tick = lastTick;
        }
        long high = (tick >>> 12) << 16 | 0x7000L | (tick & 0xFFF);
        long low = (RANDOM.nextLong() & 0x3FFFFFFFFFFFFFFFL) | 0x8000000000000000L;
        return new UUID(high, low).toString();
    }

    /**
     * Returns the ids under which a row of a workflow engine is stored. A row is a question and its answer. The answer
     * has the row's id; it may be missing, because an engine stores the question before the run.
     *
     * @param row the row's id
     * @return the id of its answer, then the ids that its question may have
     */
    public static List<String> ofRow(String row) {
        return List.of(row, row + QUESTION, row + IMPORTED_QUESTION);
    }

    /**
     * Returns the row that a stored message belongs to.
     *
     * @param id the id of a question or an answer
     * @return the row's id: the same id, unless it is a question's
     */
    public static String rowOf(String id) {
        return Stream.of(QUESTION, IMPORTED_QUESTION)
                .filter(suffix -> id.endsWith(suffix) && id.length() > suffix.length())
                .findFirst()
                .map(suffix -> id.substring(0, id.length() - suffix.length()))
                .orElse(id);
    }

    /**
     * Returns a hash of a text. Stores use it as a name if an id is too long or contains characters that a name
     * cannot have.
     *
     * @param text any text
     * @return the SHA-256 of its UTF-8, in 64 hexadecimal digits
     */
    public static String sha256(String text) {
        return HexFormat.of().formatHex(sha256().digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Creates a digest.
     *
     * @return a SHA-256 of nothing
     */
    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}

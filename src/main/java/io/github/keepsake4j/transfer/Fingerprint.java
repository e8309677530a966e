package io.github.keepsake4j.transfer;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NotesText;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a memory holds, in short. Two memories with equal fingerprints show the same in all that is copied.
 *
 * @param memories 1, or 0 for a memory that is not there
 * @param messages the number of messages
 * @param sha256 the SHA-256 of all else and of the messages, in hexadecimal digits
 */
record Fingerprint(long memories, long messages, String sha256) {

    private static final int PAGE = 500;
    private static final MessageCodec CODEC = new MessageCodec();

    static Fingerprint of(MessageLog log, MemoryKey key) {
        Digest digest = new Digest();
        MemoryDetails details = log.details(key);
        List<Summary> summaries = log.summaries(key);
        if (details.info() != null) {
            digest.add(details.info().title());
            digest.add(new TreeMap<>(details.info().metadata()).toString());
        }
        digest.add(new TreeMap<>(details.branches()).toString());
        digest.add(log.read(key, ReadQuery.newest(0)).head());
        for (View view : details.views()) {
            digest.add(view.anchor());
            digest.add(view.runs().toString());
            digest.add(view.summary());
        }
        for (Summary summary : summaries) {
            digest.add(summary.withVersion(0).toString());
            digest.add(summary.text());
            digest.add(summary.tokenCounter());
            digest.add(summary.model());
            digest.add(summary.createdAt().toString());
        }
        OneMemory.Numbers numbers = new OneMemory(log, log, key, progress -> {}).new Numbers(summaries);
        long messages = 0;
        Optional<HistoryQuery> next = Optional.of(HistoryQuery.oldest(PAGE));
        while (next.isPresent()) {
            HistoryPage page = log.history(key, next.get());
            for (LoggedMessage message : page.messages()) {
                messages++;
                add(digest, message, OneMemory.made(log, key, message), numbers);
            }
            next = page.next();
        }
        return new Fingerprint(details.info() == null ? 0 : 1, messages, digest.hex());
    }

    private static void add(Digest digest, LoggedMessage message, @Nullable Made made, OneMemory.Numbers numbers) {
        digest.add(message.id());
        digest.add(message.parentId());
        digest.add(CODEC.encode(message.message()));
        digest.add(Integer.toString(message.tokens()));
        digest.add(message.tokenCounter());
        digest.add(message.createdAt().toString());
        digest.add(NotesText.of(message.outcome()));
        if (made != null) {
            digest.add(NotesText.of(made.seen() == null ? null : numbers.of(made.seen()), made.usage()));
            digest.add(made.request());
        }
    }

    /** A digest of texts, each with its length in front, so that no two lists of texts are one text. */
    private static final class Digest {

        private final MessageDigest sha256;

        Digest() {
            try {
                sha256 = MessageDigest.getInstance("SHA-256");
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every Java platform has SHA-256", e);
            }
        }

        void add(@Nullable String text) {
            byte[] bytes = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_16BE);
            sha256.update(ByteBuffer.allocate(Integer.BYTES)
                    .putInt(text == null ? -1 : bytes.length)
                    .flip());
            sha256.update(bytes);
        }

        String hex() {
            return HexFormat.of().formatHex(sha256.digest());
        }
    }
}

package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.AppendRules;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Between rows and records. */
final class Rows {

    private Rows() {}

    /** 16 bytes name a memory in every table: four ids of 512 bytes would outgrow an index entry. */
    static byte[] hash(MemoryKey key) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            return Arrays.copyOf(sha256.digest(key.canonical().getBytes(StandardCharsets.US_ASCII)), 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    static long micros(Instant time) {
        // Down, also before 1970, as Instant truncates.
        return ChronoUnit.MICROS.between(Instant.EPOCH, time.truncatedTo(ChronoUnit.MICROS));
    }

    static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    static @Nullable Long nullableLong(ResultSet row, String column) throws SQLException {
        long value = row.getLong(column);
        return row.wasNull() ? null : value;
    }

    static LoggedMessage message(MemoryKey key, MessageCodec codec, ResultSet row) throws SQLException {
        String id = row.getString("id");
        try {
            return new LoggedMessage(
                    id,
                    row.getString("parent_id"),
                    row.getLong("seq"),
                    codec.decode(row.getString("message")),
                    row.getInt("tokens"),
                    row.getString("token_counter"),
                    time(row.getLong("created_at")));
        } catch (UnreadableDataException e) {
            throw AppendRules.unreadable(key, id, e);
        }
    }

    static Summary summary(MessageCodec codec, ResultSet row) throws SQLException {
        return new Summary(
                row.getString("covers"),
                codec.decodeText(row.getString("text")),
                row.getInt("tokens"),
                row.getString("token_counter"),
                row.getLong("replaced_messages"),
                row.getLong("replaced_tokens"),
                row.getString("model"),
                time(row.getLong("created_at")));
    }
}

package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.AppendRules;
import io.github.keepsake4j.backend.NotesText;
import io.github.keepsake4j.backend.RecordJson;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnknownMessage;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.DamagedException;
import io.github.keepsake4j.sql.KeyColumns;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Between rows and records. */
final class Rows {

    private Rows() {}

    /** Returns the bytes that name a memory in every table. */
    static byte[] hash(MemoryKey key) {
        return KeyColumns.hash(key);
    }

    /** The microseconds of a time that {@link io.github.keepsake4j.base.InputRules#time} accepted. */
    static long micros(Instant time) {
        // From the second above: near the lower end, the second below does not fit in 64 bits.
        long nanos = time.getEpochSecond() < 0 ? time.getNano() - 1_000_000_000L : time.getNano();
        long seconds = time.getEpochSecond() < 0 ? time.getEpochSecond() + 1 : time.getEpochSecond();
        return seconds * 1_000_000 + Math.floorDiv(nanos, 1_000L);
    }

    static Instant time(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    static long number(ResultSet row, String column) throws SQLException {
        return required(nullableNumber(row, column), row, row.findColumn(column));
    }

    /** Reads a column by its place, as {@link #nullableNumber(ResultSet, int)} does. */
    static long number(ResultSet row, int column) throws SQLException {
        return required(nullableNumber(row, column), row, column);
    }

    /** SQLite would read any text as a number, so the value's type is checked. */
    static @Nullable Long nullableNumber(ResultSet row, String column) throws SQLException {
        return checkedNumber(row, row.findColumn(column));
    }

    /**
     * Reads a column of one of possibly many rows. SQLite reads the text "2x" as 2, and any text without a number as 0.
     * Only for 0 the type is checked, because reading the type costs as much as reading the value. The checks of the
     * rows against each other find other wrong numbers in a message's place.
     */
    static @Nullable Long nullableNumber(ResultSet row, int column) throws SQLException {
        long value = row.getLong(column);
        return value != 0 ? (Long) value : checkedNumber(row, column);
    }

    private static @Nullable Long checkedNumber(ResultSet row, int column) throws SQLException {
        Object value = row.getObject(column);
        if (value == null) {
            return null;
        }
        if (value instanceof Long || value instanceof Integer) {
            return ((Number) value).longValue();
        }
        throw new DamagedException("the column " + name(row, column) + " of a row is not a whole number");
    }

    static String text(ResultSet row, String column) throws SQLException {
        return required(nullableText(row, column), row, row.findColumn(column));
    }

    static String text(ResultSet row, int column) throws SQLException {
        return required(nullableText(row, column), row, column);
    }

    static @Nullable String nullableText(ResultSet row, String column) throws SQLException {
        int place = row.findColumn(column);
        Object value = row.getObject(place);
        if (value == null || value instanceof String) {
            return (String) value;
        }
        throw new DamagedException("the column " + name(row, place) + " of a row is not a text");
    }

    /** Reads a column of any type of one of possibly many rows. */
    static @Nullable String nullableText(ResultSet row, int column) throws SQLException {
        return row.getString(column);
    }

    private static String name(ResultSet row, int column) throws SQLException {
        return row.getMetaData().getColumnLabel(column);
    }

    private static <T> T required(@Nullable T value, ResultSet row, int column) throws SQLException {
        if (value == null) {
            throw new DamagedException("the column " + name(row, column) + " of a row is empty");
        }
        return value;
    }

    private static int tokens(ResultSet row) throws SQLException {
        return tokens(row, row.findColumn("tokens"));
    }

    private static int tokens(ResultSet row, int column) throws SQLException {
        long tokens = number(row, column);
        if (tokens < 0 || tokens > Integer.MAX_VALUE) {
            throw new DamagedException("a row has an impossible number of tokens");
        }
        return (int) tokens;
    }

    /** A message whose columns come first, in the order in which all statements but the checks select them. */
    static LoggedMessage message(MemoryKey key, MessageCodec codec, ResultSet row) throws SQLException {
        return message(key, codec, row, 1, 2, 3, 4, 5, 6, 7, 8);
    }

    /** A message as {@link #message} reads it, and how it was made if the statement selects that. */
    static Found found(MemoryKey key, MessageCodec codec, ResultSet row, boolean withMade) throws SQLException {
        LoggedMessage message = message(key, codec, row);
        try {
            Made made = withMade
                    ? NotesText.made(nullableText(row, "made")).withRequest(nullableText(row, "request"))
                    : Made.NOTHING;
            return new Found(message, made.ifKnown().orElse(null));
        } catch (UnreadableDataException e) {
            throw AppendRules.unreadable(key, message.id(), e);
        }
    }

    /** A message of a row that selects other columns first. */
    static LoggedMessage messageByName(MemoryKey key, MessageCodec codec, ResultSet row) throws SQLException {
        return message(
                key,
                codec,
                row,
                row.findColumn("seq"),
                row.findColumn("id"),
                row.findColumn("parent_id"),
                row.findColumn("message"),
                row.findColumn("tokens"),
                row.findColumn("token_counter"),
                row.findColumn("created_at"),
                row.findColumn("outcome"));
    }

    /** A message of a row that has its columns anywhere. */
    static LoggedMessage message(
            MemoryKey key,
            MessageCodec codec,
            ResultSet row,
            int seq,
            int messageId,
            int parentId,
            int message,
            int tokens,
            int tokenCounter,
            int createdAt,
            int outcome)
            throws SQLException {
        String id = text(row, messageId);
        try {
            Outcome ended = NotesText.outcome(nullableText(row, outcome));
            MessageCodec.Row read = Outcome.UNREADABLE.equals(ended)
                    ? new MessageCodec.Row(UnknownMessage.unreadable(), null, null)
                    : codec.decodeRow(text(row, message));
            return new LoggedMessage(
                    id,
                    nullableText(row, parentId),
                    number(row, seq),
                    read.message(),
                    tokens(row, tokens),
                    text(row, tokenCounter),
                    time(number(row, createdAt)),
                    ended,
                    read.question(),
                    read.asked());
        } catch (UnreadableDataException e) {
            throw AppendRules.unreadable(key, id, e);
        }
    }

    /** Reads a view. Fields of newer versions are ignored. */
    static View view(MemoryKey key, String json, @Nullable String anchor, long anchorSequence) {
        if (anchor == null) {
            throw new DamagedException("a view belongs to message " + anchorSequence + ", which is missing");
        }
        // If no statement replaced the name of the head, there was no head: the memory was empty.
        return RecordJson.view(key, json, anchor, anchorSequence).resolved(null);
    }

    /** A summary; {@code covers} is null if the last message that it covers is missing. */
    static Summary summary(MessageCodec codec, ResultSet row) throws SQLException {
        String covers = nullableText(row, "covers");
        if (covers == null) {
            throw new DamagedException(
                    "a summary covers up to message " + number(row, "covers_seq") + ", which is missing");
        }
        return summary(
                covers,
                codec,
                row,
                "text",
                "model",
                number(row, "replaced_messages"),
                number(row, "replaced_tokens"),
                Math.max(0, row.getLong("version")));
    }

    /** The same, of a row whose columns have other names. */
    static Summary summary(
            String covers,
            MessageCodec codec,
            ResultSet row,
            String text,
            String model,
            long replacedMessages,
            long replacedTokens,
            long version)
            throws SQLException {
        try {
            return new Summary(
                    covers,
                    codec.decodeText(text(row, text)),
                    tokens(row),
                    text(row, "token_counter"),
                    replacedMessages,
                    replacedTokens,
                    nullableText(row, model),
                    time(number(row, "created_at")),
                    version);
        } catch (UnreadableDataException | InvalidInputException e) {
            throw new DamagedException("the summary that covers up to message " + covers + " cannot be read", e);
        }
    }
}

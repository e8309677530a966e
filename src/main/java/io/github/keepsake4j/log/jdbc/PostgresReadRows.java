package io.github.keepsake4j.log.jdbc;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.DamagedException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one statement of {@link PostgresReadSql}. Columns are read by their place, because looking up their names
 * costs more than reading them. The rows are checked against each other, so that damage causes an error instead of a
 * wrong answer.
 */
final class PostgresReadRows {

    private static final Comparator<Row> OLDEST_FIRST = Comparator.comparingLong(Row::seq);

    private static final int KIND = 1;
    private static final int SEQ = 2;
    private static final int ID = 3;
    private static final int PARENT_ID = 4;
    private static final int PARENT_SEQ = 5;
    private static final int MESSAGE = 6;
    private static final int TOKENS = 7;
    private static final int TOKEN_COUNTER = 8;
    private static final int CREATED_AT = 9;
    private static final int OUTCOME = 10;
    private static final int PLACE = 11;
    private static final int MEMORY = 12;
    private static final int NAMED_AFTER_SEQ = 13;
    private static final int AFTER_SEQ = 14;

    /** A message, and the number of tokens of the branch behind it. */
    private record Row(LoggedMessage message, @Nullable Long parentSeq, @Nullable Long place) {
        long seq() {
            return message.sequence();
        }
    }

    /** The ancestor to stop behind. */
    private record Ancestor(long seq, String id, @Nullable Long place) {}

    private final MemoryKey key;
    private final ReadQuery query;
    private final MessageCodec codec;
    private final List<Row> rows = new ArrayList<>();
    private final List<Row> oldest = new ArrayList<>();
    private final List<LoggedMessage> before = new ArrayList<>(2);
    private boolean hasMemory;
    private Position position = Position.NONE;
    private @Nullable Long end;
    private @Nullable Long system;
    private @Nullable Long user;
    private @Nullable Long viewSeq;
    /**
     * The last message that the summary of the memory's row covers; in a general read, the message at which to stop.
     */
    private @Nullable Long named;

    private @Nullable Long coversSeq;
    private long floor;
    private long afterSeq;
    private boolean isAfterThere = true;
    private @Nullable Ancestor after;
    private @Nullable View view;
    private @Nullable Summary summary;

    PostgresReadRows(MemoryKey key, ReadQuery query, MessageCodec codec) {
        this.key = key;
        this.query = query;
        this.codec = codec;
    }

    /** Adds a row of a read from the head. Some rows repeat the memory's row. */
    Void fromHead(ResultSet row) throws SQLException {
        int kind = row.getInt(KIND);
        String columns = hasMemory ? null : row.getString(MEMORY);
        if (columns != null) {
            memory(columns);
            coversSeq = query.toSummary() ? named : null;
            floor = coversSeq == null ? 0 : coversSeq;
        }
        take(kind, row);
        return null;
    }

    /** Adds a row of a general read. One of the rows is the memory's. */
    Void general(ResultSet row) throws SQLException {
        int kind = row.getInt(KIND);
        if (kind == 1) {
            String damage = row.getString(MESSAGE);
            if (damage != null) {
                throw new DamagedException(damage);
            }
            memory(Rows.text(row, MEMORY));
            floor = named == null ? 0 : named;
            isAfterThere = Rows.nullableNumber(row, NAMED_AFTER_SEQ) != null;
            afterSeq = Rows.number(row, AFTER_SEQ);
        } else {
            take(kind, row);
        }
        return null;
    }

    private void memory(String columns) {
        hasMemory = true;
        String[] values = columns.split(",", 9);
        Long epoch = number(values[1]);
        Long revision = number(values[2]);
        end = number(values[3]);
        system = number(values[4]);
        user = number(values[5]);
        viewSeq = number(values[6]);
        named = number(values[7]);
        if (values[0].equals("t")) {
            throw new DamagedException("the memory's row does not count all messages");
        }
        String head = values[8].isEmpty() ? null : values[8];
        if ((epoch == null) != (revision == null) || (query.from() == null && (end == null) != (head == null))) {
            throw new DamagedException("the columns of the memory's row contradict each other");
        }
        if (epoch != null && revision != null) {
            position = new Position(epoch, revision, head);
        }
    }

    private static @Nullable Long number(String column) {
        return column.isEmpty() ? null : (Long) Long.parseLong(column);
    }

    private void take(int kind, ResultSet row) throws SQLException {
        switch (kind) {
            case 2 -> rows.add(row(row));
            case 3 -> before.add(message(row));
            case 4 -> view = Rows.view(key, Rows.text(row, MESSAGE), row.getString(ID), Rows.number(row, SEQ));
            case 5 -> summary = summary(row);
            case 6 -> oldest.add(row(row));
            case 7 -> after = new Ancestor(Rows.number(row, SEQ), Rows.text(row, ID), Rows.nullableNumber(row, PLACE));
            default -> {
                // The memory's row, without any other.
            }
        }
    }

    private Row row(ResultSet row) throws SQLException {
        return new Row(message(row), Rows.nullableNumber(row, PARENT_SEQ), Rows.nullableNumber(row, PLACE));
    }

    private LoggedMessage message(ResultSet row) throws SQLException {
        return Rows.message(key, codec, row, SEQ, ID, PARENT_ID, MESSAGE, TOKENS, TOKEN_COUNTER, CREATED_AT, OUTCOME);
    }

    private Summary summary(ResultSet row) throws SQLException {
        return Rows.summary(
                Rows.text(row, ID),
                codec,
                row,
                "message",
                "parent_id",
                Rows.number(row, PARENT_SEQ),
                Rows.number(row, PLACE),
                Long.parseLong(Rows.text(row, OUTCOME)));
    }

    /** Returns whether the memory is empty according to its row. */
    boolean isEmpty() {
        return end == null;
    }

    /** Returns whether the messages fulfil the query, or show that the memory is damaged. */
    boolean isEnough() {
        if (end == null || rows.isEmpty()) {
            return true;
        }
        Row first = first();
        Long parent = first.parentSeq();
        Long place = first.place();
        return parent == null
                || parent <= floor
                || rows.size() >= query.maxMessages()
                || place == null
                || place + first.message().tokens() >= query.maxTokens();
    }

    /** Returns whether the rows end before their run does. */
    boolean endsWithinRun() {
        Long parent = rows.isEmpty() ? null : first().parentSeq();
        return parent != null && parent == first().seq() - 1;
    }

    /** Returns the parts that a read from the head needs to return the same. */
    Set<PostgresReadSql.Part> needed() {
        Set<PostgresReadSql.Part> needed = EnumSet.noneOf(PostgresReadSql.Part.class);
        if (runs() > 1) {
            needed.add(PostgresReadSql.Part.RUNS);
        }
        if (isBefore(system)) {
            needed.add(PostgresReadSql.Part.SYSTEM);
        }
        if (isBefore(user)) {
            needed.add(PostgresReadSql.Part.USER);
        }
        if (viewSeq != null) {
            needed.add(PostgresReadSql.Part.VIEW);
        }
        return needed;
    }

    boolean hasSystem() {
        return system != null;
    }

    private boolean isBefore(@Nullable Long seq) {
        return seq != null && (rows.isEmpty() || seq < first().seq());
    }

    int runs() {
        int runs = 1;
        for (int i = 1; i < rows.size(); i++) {
            runs += Math.abs(rows.get(i).seq() - rows.get(i - 1).seq()) == 1 ? 0 : 1;
        }
        return runs;
    }

    int size() {
        return rows.size();
    }

    /** Returns the oldest message of the newest part. The statements return the newest first. */
    private Row first() {
        Row one = rows.get(0);
        Row other = rows.get(rows.size() - 1);
        return one.seq() < other.seq() ? one : other;
    }

    Tail tail() {
        Long branchEnd = end;
        if (branchEnd == null) {
            if (query.from() != null) {
                throw UnknownMessageException.notThere(key, "messageId", query.from());
            }
            return Tail.empty(position);
        }
        if (query.after() != null && !isAfterThere) {
            throw UnknownMessageException.notThere(key, "after", query.after());
        }
        if (query.after() != null && afterSeq == 0) {
            throw UnknownMessageException.noAncestor(key, "after");
        }
        rows.sort(OLDEST_FIRST);
        checkBranch(rows);
        boolean isWanted = query.maxMessages() > 0 && query.maxTokens() > 0;
        Row first = rows.isEmpty() ? null : rows.get(0);
        Long parent = first == null || !isWanted ? branchEnd : first.parentSeq();
        checkEnds(branchEnd, first);
        if ((viewSeq != null && view == null) || (coversSeq != null && summary == null)) {
            throw new DamagedException("the view or the summary that the memory's row names is missing");
        }
        return new Tail(
                position,
                isWanted ? rows.stream().map(Row::message).toList() : List.of(),
                oldest(branchEnd),
                inForce(system, ChatMessageType.SYSTEM),
                inForce(user, ChatMessageType.USER),
                view,
                summary,
                parent == null || parent <= floor,
                isWanted && first != null && parent == null ? first.message().parentId() : null);
    }

    /** Checks a part of one branch, oldest first: each message must be the parent of the next, and have its tokens behind it. */
    private static void checkBranch(List<Row> branch) {
        Row parent = null;
        for (Row row : branch) {
            if (row.place() == null) {
                throw new DamagedException("the place of message " + row.seq() + " in the tree contradicts itself");
            }
            if (parent != null) {
                checkUnder(row, parent.seq(), parent.message().id(), parent.place());
            }
            parent = row;
        }
    }

    private static void checkUnder(Row row, long parent, String id, @Nullable Long place) {
        boolean continues = Objects.equals(row.parentSeq(), parent)
                && id.equals(row.message().parentId())
                && row.place() != null
                && place != null
                && place == row.place() + row.message().tokens();
        if (!continues) {
            throw new DamagedException("message " + row.seq() + " does not continue message " + parent);
        }
    }

    /** The messages begin where the branch ends, and continue to its start or floor, or to the end of the query. */
    private void checkEnds(long branchEnd, @Nullable Row first) {
        Row last = rows.isEmpty() ? null : rows.get(rows.size() - 1);
        if (last != null && (last.seq() != branchEnd || !Objects.equals(last.place(), 0L))) {
            throw new DamagedException("message " + branchEnd + " of the branch is missing");
        }
        Long parent = first == null ? (Long) branchEnd : first.parentSeq();
        boolean isEnough = rows.size() >= query.maxMessages()
                || query.maxTokens() == 0
                // The tokens of the branch from this message on.
                || (first != null
                        && Objects.requireNonNull(first.place())
                                        + first.message().tokens()
                                >= query.maxTokens());
        if (!isEnough && parent != null && parent > floor) {
            throw new DamagedException("message " + parent + " of the branch is missing");
        }
        if (floor > 0 && (parent == null || parent < floor)) {
            throw new DamagedException("the branch does not go through message " + floor);
        }
        Ancestor ancestor = after;
        if (first != null && ancestor != null && Objects.equals(parent, ancestor.seq())) {
            checkUnder(first, ancestor.seq(), ancestor.id(), ancestor.place());
        }
    }

    /** The separate rows first, and then the newest messages, which reach up to the branch's end without a gap. */
    private List<LoggedMessage> oldest(long branchEnd) {
        oldest.sort(OLDEST_FIRST);
        List<Row> all = new ArrayList<>(oldest);
        long newest = all.isEmpty() ? 0 : all.get(all.size() - 1).seq();
        for (Row row : rows) {
            if (all.size() >= query.oldest()) {
                break;
            }
            if (row.seq() > newest) {
                all.add(row);
            }
        }
        checkBranch(all);
        Long parent = all.isEmpty() ? null : all.get(0).parentSeq();
        long reached = all.isEmpty() ? afterSeq : all.get(all.size() - 1).seq();
        boolean isShort = all.size() < query.oldest() && reached != branchEnd;
        boolean startsElsewhere = !all.isEmpty() && (parent == null ? 0 : parent) != afterSeq;
        if (isShort || startsElsewhere) {
            throw new DamagedException("messages are missing where the branch begins");
        }
        return all.stream().map(Row::message).toList();
    }

    private @Nullable LoggedMessage inForce(@Nullable Long seq, ChatMessageType type) {
        return seq == null || seq <= afterSeq ? null : Node.requireInForce(find(seq), seq, type);
    }

    private @Nullable LoggedMessage find(long seq) {
        for (LoggedMessage message : before) {
            if (message.sequence() == seq) {
                return message;
            }
        }
        for (Row row : rows) {
            if (row.seq() == seq) {
                return row.message();
            }
        }
        return null;
    }
}

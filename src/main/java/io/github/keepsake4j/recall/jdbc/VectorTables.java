package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.CosineReader;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import io.github.keepsake4j.recall.vectors.Cosines;
import io.github.keepsake4j.recall.vectors.QueryVector;
import io.github.keepsake4j.recall.vectors.VectorRow;
import io.github.keepsake4j.sql.KeyColumns;
import io.github.keepsake4j.sql.Session;
import io.github.keepsake4j.sql.Session.Mapper;
import java.sql.SQLException;
import java.time.Clock;
import java.time.LocalDate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The tables of the vectors of an index. */
final class VectorTables {

    private VectorTables() {}

    /**
     * What became of a mark.
     *
     * @param memory the memory's number, or 0 if the mark was not moved
     * @param outdated whether this day's use is not recorded, or another model was not used for long
     */
    record Moved(int memory, int model, boolean outdated) {

        private static final Moved NOT = new Moved(0, 0, false);
    }

    /**
     * Adds vectors behind a known mark, whose row is the only lock. A removal deletes the marks first. So either it waits for
     * the vectors and deletes them too, or the mark is not found here.
     */
    static Moved add(
            Session session, String model, MemoryKey key, VectorMark before, VectorMark after, List<VectorRow> added)
            throws SQLException {
        long today = today();
        Moved moved = session.first(
                IndexSql.MOVE_VECTOR_MARK,
                row -> new Moved(row.getInt(1), row.getInt(2), row.getBoolean(3)),
                after.sequence(),
                after.weight(),
                after.measured(),
                model,
                KeyColumns.hash(key),
                before.epoch(),
                before.sequence(),
                before.weight(),
                before.measured(),
                today,
                today - MessageIndex.UNUSED_DAYS);
        if (moved == null) {
            return Moved.NOT;
        }
        put(session, moved.memory(), moved.model(), added, VectorRow.completed(before, after));
        return moved;
    }

    /** Adds the first vectors of a memory whose tenant is locked. */
    static boolean addFirst(Session session, String model, int memory, VectorMark after, List<VectorRow> added)
            throws SQLException {
        List<VectorMarkRow> marks = session.list(IndexSql.VECTOR_MARKS, VectorMarkRow::of, memory);
        if (marks.stream().anyMatch(row -> row.name().equals(model))) {
            return false;
        }
        int number = model(session, model, today());
        session.update(
                IndexSql.NEW_VECTOR_MARK,
                memory,
                number,
                after.epoch(),
                after.sequence(),
                after.weight(),
                after.measured());
        put(session, memory, number, added, -1);
        use(session, memory, number);
        return true;
    }

    /** Records that a model is used today, and removes the vectors of unused ones from a memory whose tenant is locked. */
    static void use(Session session, int memory, int model) throws SQLException {
        long today = today();
        session.update(IndexSql.USE_MODEL, today, model, today);
        for (VectorMarkRow row : session.list(IndexSql.VECTOR_MARKS, VectorMarkRow::of, memory)) {
            if (row.model() != model && row.used() < today - MessageIndex.UNUSED_DAYS) {
                int unused = Math.toIntExact(row.model());
                session.update(IndexSql.DELETE_VECTOR_MARK, memory, unused);
                session.update(IndexSql.DELETE_VECTORS_FROM, memory, unused, 0L);
            }
        }
    }

    private static long today() {
        return LocalDate.now(Clock.systemUTC()).toEpochDay();
    }

    private static int model(Session session, String model, long today) throws SQLException {
        while (true) {
            Integer number = session.first(IndexSql.MODEL, row -> row.getInt(1), model);
            if (number != null) {
                return number;
            }
            session.update(IndexSql.NEW_MODEL, model, today);
        }
    }

    /** Writes rows, with the earlier ones of the block that is complete now, so that the stored rows depend only on the calls. */
    private static void put(Session session, int memory, int model, List<VectorRow> added, long completed)
            throws SQLException {
        List<VectorRow> earlier = completed < 0
                ? List.of()
                : session.list(IndexSql.VECTORS_FROM, row -> StoredVectors.row(row, 1), memory, model, completed);
        if (!earlier.isEmpty()) {
            session.update(IndexSql.DELETE_VECTORS_FROM, memory, model, completed);
        }
        List<VectorRow> written = earlier.isEmpty() ? added : VectorRow.joined(earlier, added);
        session.updateAll(
                IndexSql.ADD_VECTORS,
                written.stream()
                        .map(row ->
                                new Object[] {memory, model, row.sequence(), row.newest(), row.amount(), row.stored()})
                        .toList());
    }

    /** Removes the vectors of a memory. */
    static void remove(Session session, int memory) throws SQLException {
        for (String statement : IndexSql.DELETE_VECTORS) {
            session.update(statement, memory);
        }
    }

    /** Compares rows with a query as they are read. */
    record Reading(QueryVector query, CosineReader reader) {

        /** The number of rows of a round trip: about 3 MB at 384 dimensions, and twice that as the text that is sent. */
        private static final int AT_ONCE = 64;

        private record Compared(StoredVectors stored, Cosines cosines) {}

        void read(Session session, String sql, @Nullable Object... parameters) throws SQLException {
            // A row that cannot be decoded is damaged; what the reader throws is not about the row.
            Mapper<Compared> compare = row -> {
                StoredVectors stored = StoredVectors.of(row);
                return new Compared(stored, stored.row().cosines(query));
            };
            session.each(
                    sql,
                    AT_ONCE,
                    compare,
                    each -> each.cosines()
                            .read(each.stored().key(), each.stored().most(), reader),
                    parameters);
        }
    }
}

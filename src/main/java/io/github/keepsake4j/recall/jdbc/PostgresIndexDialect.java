package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.recall.Matches.Share;
import io.github.keepsake4j.recall.jdbc.IndexDialect.PostingRow;
import io.github.keepsake4j.recall.jdbc.IndexDialect.Segment;
import io.github.keepsake4j.sql.Session;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The statements of PostgreSQL. Lists are arrays in a parameter. */
final class PostgresIndexDialect implements IndexDialect {

    private static final String ADD_TERMS =
            """
            INSERT INTO keepsake_index_term AS t (tenant, term, messages)
            SELECT ?, n.term, n.messages FROM unnest(?::text[], ?::integer[]) AS n (term, messages)
            ON CONFLICT (tenant, term) DO UPDATE SET messages = t.messages + excluded.messages
            """;

    private static final String ADD_POSTINGS =
            """
            INSERT INTO keepsake_index_posting AS p (tenant, memory, term, segment, messages, postings)
            SELECT ?, ?, n.term, n.segment, n.messages, n.postings
            FROM unnest(?::text[], ?::integer[], ?::integer[], ?::bytea[]) AS n (term, segment, messages, postings)
            ON CONFLICT (tenant, term, memory, segment) DO UPDATE
            SET messages = p.messages + excluded.messages, postings = excluded.postings || p.postings
            """;

    private static final String JOIN_SEGMENTS =
            """
            INSERT INTO keepsake_index_posting AS p (tenant, term, memory, segment, messages, postings)
            SELECT n.tenant, n.term, n.memory, ?, SUM(n.messages), string_agg(n.postings, ''::bytea ORDER BY n.segment DESC)
            FROM keepsake_index_posting n
            WHERE n.memory = ? AND n.segment > ? AND n.segment < ?
            GROUP BY n.tenant, n.term, n.memory
            ON CONFLICT (tenant, term, memory, segment) DO UPDATE
            SET messages = p.messages + excluded.messages, postings = excluded.postings || p.postings
            """;

    private static final String MEMORIES_BY_KEY = "SELECT " + MemoryRow.COLUMNS + "m.memory_key = ANY (?::bytea[])\n";

    private static final String SIZES = "SELECT " + MemoryRow.Size.COLUMNS + "WHERE m.memory_key = ANY (?::bytea[])";

    private static final String MEMORIES_BY_NUMBER = "SELECT " + MemoryRow.COLUMNS + "m.number = ANY (?::integer[])\n";

    /**
     * Each term is looked up separately. There are no statistics of terms, so the planner would otherwise read the
     * whole table.
     */
    private static final String FREQUENCIES_IN_TENANT =
            """
            SELECT t.term, t.messages
            FROM unnest(?::text[]) AS n (term)
            CROSS JOIN LATERAL (
              SELECT t.term, t.messages FROM keepsake_index_term t
              WHERE t.tenant = ? AND t.term = n.term
              LIMIT 1
            ) AS t
            """;

    private static final String FREQUENCIES =
            """
            SELECT n.term, p.messages
            FROM unnest(?::text[]) AS n (term)
            CROSS JOIN LATERAL (
              SELECT SUM(p.messages) AS messages FROM keepsake_index_posting p
              WHERE p.tenant = ? AND p.term = n.term AND p.memory = ANY (?::integer[])
            ) AS p
            WHERE p.messages > 0
            """;

    private static final String POSTINGS =
            """
            SELECT n.term, p.memory, p.segment, p.messages, p.postings
            FROM unnest(?::text[], ?::integer[]) AS n (term, bytes)
            CROSS JOIN LATERAL (
              SELECT p.memory, p.segment, p.messages, substring(p.postings FROM 1 FOR n.bytes) AS postings
              FROM keepsake_index_posting p
              WHERE p.tenant = ? AND p.term = n.term AND p.memory = ANY (?::integer[])
              ORDER BY p.memory DESC, p.segment DESC
              LIMIT ?
            ) AS p
            """;

    private static final String POSTINGS_IN_TENANT = POSTINGS.replace(" AND p.memory = ANY (?::integer[])", "");

    private static final String VECTOR_MARKS =
            "SELECT " + VectorMarkRow.COLUMNS + "d.model = ? AND m.memory_key = ANY (?::bytea[])";

    /** A long row is only a pointer to the vectors until it is returned, so it can be sorted. */
    private static final String VECTORS =
            """
            SELECT v.tenant, v.app_id, v.conversation_id, v.node_id, CASE WHEN v.named THEN v.amount ELSE v.most END,
              v.sequence, v.newest, v.amount, v.vectors
            FROM (
              SELECT t.tenant, m.app_id, m.conversation_id, m.node_id,
                ? + v.amount - SUM(v.amount) OVER (ORDER BY v.newest DESC, v.memory DESC, v.sequence DESC) AS most,
                (m.memory_key, v.sequence / 128) IN (SELECT * FROM unnest(?::bytea[], ?::bigint[])) AS named,
                v.sequence, v.newest, v.amount, v.vectors
              FROM keepsake_index_memory m
              JOIN keepsake_index_tenant t ON t.number = m.tenant
              JOIN keepsake_index_vector v ON v.memory = m.number
              WHERE v.model = (SELECT d.number FROM keepsake_index_model d WHERE d.model = ?)
                AND m.memory_key = ANY (?::bytea[])
            ) v
            WHERE v.most > 0 OR v.named
            """;

    private static final String VECTORS_IN_TENANT = VECTORS.replace("m.memory_key = ANY (?::bytea[])", "t.tenant = ?");

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    public String lockTenant() {
        return "SELECT number FROM keepsake_index_tenant WHERE tenant = ? FOR UPDATE";
    }

    @Override
    public String joinSegments() {
        return JOIN_SEGMENTS;
    }

    @Override
    public void addTerms(Session session, long tenant, Map<String, Integer> messages) throws SQLException {
        session.update(
                ADD_TERMS,
                (int) tenant,
                texts(messages.keySet(), term -> term),
                integers(messages.values(), count -> count));
    }

    @Override
    public void addPostings(Session session, long tenant, long memory, List<Segment> segments) throws SQLException {
        session.update(
                ADD_POSTINGS,
                (int) tenant,
                (int) memory,
                texts(segments, Segment::term),
                integers(segments, Segment::number),
                integers(segments, Segment::messages),
                segments.stream().map(Segment::postings).toArray(byte[][]::new));
    }

    @Override
    public List<MemoryRow> memories(Session session, Collection<byte[]> keys) throws SQLException {
        return session.list(MEMORIES_BY_KEY, MemoryRow::of, (Object) keys.toArray(byte[][]::new));
    }

    @Override
    public List<MemoryRow.Size> sizes(Session session, Collection<byte[]> keys) throws SQLException {
        return session.list(SIZES, MemoryRow.Size::of, (Object) keys.toArray(byte[][]::new));
    }

    @Override
    public List<MemoryRow> memoriesByNumber(Session session, Collection<Long> numbers) throws SQLException {
        return session.list(MEMORIES_BY_NUMBER, MemoryRow::of, integers(numbers, Math::toIntExact));
    }

    @Override
    public Map<String, Long> frequencies(
            Session session, long tenant, @Nullable Collection<Long> memories, Collection<String> terms)
            throws SQLException {
        Map<String, Long> frequencies = new HashMap<>();
        Object texts = texts(terms, term -> term);
        Session.Mapper<Boolean> mapper = row -> frequencies.put(row.getString(1), row.getLong(2)) == null;
        if (memories == null) {
            session.list(FREQUENCIES_IN_TENANT, mapper, texts, (int) tenant);
        } else {
            session.list(FREQUENCIES, mapper, texts, (int) tenant, integers(memories, Math::toIntExact));
        }
        return frequencies;
    }

    @Override
    public List<PostingRow> postings(
            Session session, long tenant, @Nullable Collection<Long> memories, List<Share> shares, int mostRows)
            throws SQLException {
        Object terms = texts(shares, Share::term);
        Object bytes = integers(shares, share -> Integer.BYTES * share.most());
        Session.Mapper<PostingRow> mapper =
                row -> new PostingRow(row.getString(1), row.getLong(2), row.getInt(3), row.getInt(4), row.getBytes(5));
        return memories == null
                ? session.list(POSTINGS_IN_TENANT, mapper, terms, bytes, (int) tenant, mostRows)
                : session.list(
                        POSTINGS, mapper, terms, bytes, (int) tenant, integers(memories, Math::toIntExact), mostRows);
    }

    @Override
    public List<VectorMarkRow> vectorMarks(Session session, String model, Collection<byte[]> keys) throws SQLException {
        return session.list(VECTOR_MARKS, VectorMarkRow::of, model, keys.toArray(byte[][]::new));
    }

    @Override
    public void vectors(
            Session session,
            String model,
            String tenant,
            @Nullable Collection<byte[]> keys,
            int most,
            List<Block> blocks,
            VectorTables.Reading reading)
            throws SQLException {
        reading.read(
                session,
                keys == null ? VECTORS_IN_TENANT : VECTORS,
                most,
                blocks.stream().map(Block::key).toArray(byte[][]::new),
                blocks.stream().map(Block::number).toArray(Long[]::new),
                model,
                keys == null ? tenant : keys.toArray(byte[][]::new));
    }

    private static <T> Object texts(Collection<T> from, Function<T, String> text) {
        return from.stream().map(text).toArray(String[]::new);
    }

    private static <T> Object integers(Collection<T> from, Function<T, Integer> number) {
        return from.stream().map(number).toArray(Integer[]::new);
    }
}

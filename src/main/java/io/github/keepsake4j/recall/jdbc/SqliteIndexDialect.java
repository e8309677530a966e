package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.recall.Matches.Share;
import io.github.keepsake4j.recall.jdbc.IndexDialect.PostingRow;
import io.github.keepsake4j.recall.jdbc.IndexDialect.Segment;
import io.github.keepsake4j.sql.Session;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The statements of SQLite. A list of numbers is a JSON array in a parameter. */
final class SqliteIndexDialect implements IndexDialect {

    private static final String ADD_TERM =
            """
            INSERT INTO keepsake_index_term (tenant, term, messages) VALUES (?, ?, ?)
            ON CONFLICT (tenant, term) DO UPDATE SET messages = messages + excluded.messages
            """;

    private static final String ADD_POSTINGS =
            """
            INSERT INTO keepsake_index_posting (tenant, term, memory, segment, messages, postings)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (tenant, term, memory, segment) DO UPDATE
            SET messages = messages + excluded.messages, postings = CAST(excluded.postings || postings AS BLOB)
            """;

    private static final String JOIN_SEGMENTS =
            """
            INSERT INTO keepsake_index_posting (tenant, term, memory, segment, messages, postings)
            SELECT tenant, term, memory, ?, messages, postings
            FROM keepsake_index_posting
            WHERE memory = ? AND segment > ? AND segment < ?
            ORDER BY segment
            ON CONFLICT (tenant, term, memory, segment) DO UPDATE
            SET messages = messages + excluded.messages, postings = CAST(excluded.postings || postings AS BLOB)
            """;

    private static final String MEMORIES_BY_KEY =
            "SELECT " + MemoryRow.COLUMNS + "m.memory_key IN (SELECT unhex(value) FROM json_each(?))\n";

    private static final String SIZES =
            "SELECT " + MemoryRow.Size.COLUMNS + "WHERE m.memory_key IN (SELECT unhex(value) FROM json_each(?))";

    private static final String MEMORIES_BY_NUMBER =
            "SELECT " + MemoryRow.COLUMNS + "m.number IN (SELECT value FROM json_each(?))\n";

    private static final String FREQUENCY_IN_TENANT =
            "SELECT messages FROM keepsake_index_term WHERE tenant = ? AND term = ?";

    private static final String FREQUENCY_IN_MEMORY =
            "SELECT SUM(messages) FROM keepsake_index_posting WHERE tenant = ? AND term = ? AND memory = ?";

    private static final String FREQUENCY =
            """
            SELECT SUM(messages) FROM keepsake_index_posting
            WHERE tenant = ? AND term = ? AND memory IN (SELECT value FROM json_each(?))
            """;

    /**
     * Reads all rows of the term. This is faster than looking up each memory if there are not many more rows than
     * memories.
     */
    private static final String FREQUENCY_BY_SCAN = FREQUENCY.replace("AND memory", "AND +memory");

    private static final String POSTINGS =
            """
            SELECT memory, segment, messages, substr(postings, 1, ?)
            FROM keepsake_index_posting
            WHERE tenant = ? AND term = ? AND memory IN (SELECT value FROM json_each(?))
            ORDER BY memory DESC, segment DESC
            LIMIT ?
            """;

    private static final String POSTINGS_BY_SCAN = POSTINGS.replace("AND memory", "AND +memory");

    private static final String POSTINGS_IN_TENANT =
            POSTINGS.replace(" AND memory IN (SELECT value FROM json_each(?))", "");

    private static final String VECTOR_MARKS = "SELECT " + VectorMarkRow.COLUMNS
            + "d.model = ? AND m.memory_key IN (SELECT unhex(value) FROM json_each(?))";

    /** Rows are sorted without the vectors, which are read when they are needed. */
    private static final String VECTORS =
            """
            SELECT t.tenant, m.app_id, m.conversation_id, m.node_id, CASE WHEN n.named THEN v.amount ELSE n.most END,
              v.sequence, v.newest, v.amount, v.vectors
            FROM (
              SELECT v.memory, v.model, v.sequence,
                ? + v.amount - SUM(v.amount) OVER (ORDER BY v.newest DESC, v.memory DESC, v.sequence DESC) AS most,
                (m.memory_key, v.sequence / 128) IN (SELECT unhex(value ->> 0), value ->> 1 FROM json_each(?)) AS named
              FROM keepsake_index_memory m
              JOIN keepsake_index_tenant t ON t.number = m.tenant
              JOIN keepsake_index_vector v ON v.memory = m.number
              WHERE v.model = (SELECT d.number FROM keepsake_index_model d WHERE d.model = ?)
                AND m.memory_key IN (SELECT unhex(value) FROM json_each(?))
            ) n
            CROSS JOIN keepsake_index_vector v
            JOIN keepsake_index_memory m ON m.number = n.memory
            JOIN keepsake_index_tenant t ON t.number = m.tenant
            WHERE (n.most > 0 OR n.named) AND v.memory = n.memory AND v.model = n.model AND v.sequence = n.sequence
            """;

    private static final String VECTORS_IN_TENANT =
            VECTORS.replace("m.memory_key IN (SELECT unhex(value) FROM json_each(?))", "t.tenant = ?");

    /** Looking up a memory takes as long as reading this number of consecutive rows. */
    private static final int ROWS_OF_A_LOOK_UP = 4;

    @Override
    public String name() {
        return "sqlite";
    }

    @Override
    public String lockTenant() {
        // The transaction is the only writer.
        return "SELECT number FROM keepsake_index_tenant WHERE tenant = ?";
    }

    @Override
    public String joinSegments() {
        return JOIN_SEGMENTS;
    }

    @Override
    public void addTerms(Session session, long tenant, Map<String, Integer> messages) throws SQLException {
        List<Object[]> rows = new ArrayList<>(messages.size());
        messages.forEach((term, count) -> rows.add(new Object[] {tenant, term, count}));
        session.updateAll(ADD_TERM, rows);
    }

    @Override
    public void addPostings(Session session, long tenant, long memory, List<Segment> segments) throws SQLException {
        List<Object[]> rows = new ArrayList<>(segments.size());
        for (Segment segment : segments) {
            rows.add(new Object[] {
                tenant, segment.term(), memory, segment.number(), segment.messages(), segment.postings()
            });
        }
        session.updateAll(ADD_POSTINGS, rows);
    }

    @Override
    public List<MemoryRow> memories(Session session, Collection<byte[]> keys) throws SQLException {
        return session.list(MEMORIES_BY_KEY, MemoryRow::of, hex(keys));
    }

    @Override
    public List<MemoryRow.Size> sizes(Session session, Collection<byte[]> keys) throws SQLException {
        return session.list(SIZES, MemoryRow.Size::of, hex(keys));
    }

    @Override
    public List<MemoryRow> memoriesByNumber(Session session, Collection<Long> numbers) throws SQLException {
        return session.list(MEMORIES_BY_NUMBER, MemoryRow::of, json(numbers));
    }

    @Override
    public Map<String, Long> frequencies(
            Session session, long tenant, @Nullable Collection<Long> memories, Collection<String> terms)
            throws SQLException {
        String list = memories == null ? "" : json(memories);
        Map<String, Long> frequencies = new HashMap<>();
        for (String term : terms) {
            Long messages = session.first(
                    frequency(session, tenant, memories, term),
                    row -> row.getLong(1),
                    memories == null
                            ? new Object[] {tenant, term}
                            : new Object[] {
                                tenant,
                                term,
                                memories.size() == 1 ? memories.iterator().next() : list
                            });
            if (messages != null && messages > 0) {
                frequencies.put(term, messages);
            }
        }
        return frequencies;
    }

    private static String frequency(Session session, long tenant, @Nullable Collection<Long> memories, String term)
            throws SQLException {
        if (memories == null) {
            return FREQUENCY_IN_TENANT;
        }
        if (memories.size() == 1) {
            return FREQUENCY_IN_MEMORY;
        }
        return isScanned(session, tenant, term, memories.size()) ? FREQUENCY_BY_SCAN : FREQUENCY;
    }

    @Override
    public List<PostingRow> postings(
            Session session, long tenant, @Nullable Collection<Long> memories, List<Share> shares, int mostRows)
            throws SQLException {
        String list = memories == null ? null : json(memories);
        List<PostingRow> found = new ArrayList<>();
        for (Share share : shares) {
            Session.Mapper<PostingRow> mapper = row -> new PostingRow(
                    share.term(),
                    row.getLong(1),
                    row.getInt(2),
                    row.getInt(3),
                    Objects.requireNonNull(row.getBytes(4)));
            int bytes = Integer.BYTES * share.most();
            found.addAll(
                    memories == null || list == null
                            ? session.list(POSTINGS_IN_TENANT, mapper, bytes, tenant, share.term(), mostRows)
                            : session.list(
                                    isScanned(session, tenant, share.term(), memories.size())
                                            ? POSTINGS_BY_SCAN
                                            : POSTINGS,
                                    mapper,
                                    bytes,
                                    tenant,
                                    share.term(),
                                    list,
                                    mostRows));
        }
        return found;
    }

    @Override
    public List<VectorMarkRow> vectorMarks(Session session, String model, Collection<byte[]> keys) throws SQLException {
        return session.list(VECTOR_MARKS, VectorMarkRow::of, model, hex(keys));
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
        HexFormat hex = HexFormat.of();
        String named = blocks.stream()
                .map(block -> "[\"" + hex.formatHex(block.key()) + "\"," + block.number() + "]")
                .collect(Collectors.joining(",", "[", "]"));
        reading.read(
                session,
                keys == null ? VECTORS_IN_TENANT : VECTORS,
                most,
                named,
                model,
                keys == null ? tenant : hex(keys));
    }

    private static boolean isScanned(Session session, long tenant, String term, int memories) throws SQLException {
        if (memories == 1) {
            return false;
        }
        // There are at most as many rows as messages.
        Long messages = session.first(FREQUENCY_IN_TENANT, row -> row.getLong(1), tenant, term);
        return messages != null && messages <= (long) ROWS_OF_A_LOOK_UP * memories;
    }

    private static String hex(Collection<byte[]> keys) {
        HexFormat hex = HexFormat.of();
        return keys.stream().map(hex::formatHex).collect(Collectors.joining("\",\"", "[\"", "\"]"));
    }

    private static String json(Collection<Long> numbers) {
        return numbers.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]"));
    }
}

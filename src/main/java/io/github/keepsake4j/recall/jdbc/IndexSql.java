package io.github.keepsake4j.recall.jdbc;

import java.util.List;

/** The statements that every database takes. */
final class IndexSql {

    private IndexSql() {}

    static final String FINGERPRINT = "SELECT fingerprint FROM keepsake_index_words WHERE one = 1";

    static final String PUT_FINGERPRINT =
            "INSERT INTO keepsake_index_words (one, fingerprint) VALUES (1, ?) ON CONFLICT (one) DO NOTHING";

    static final String NEW_TENANT =
            "INSERT INTO keepsake_index_tenant (tenant) VALUES (?) ON CONFLICT (tenant) DO NOTHING";

    static final String TENANT =
            "SELECT number, messages, length, number, messages FROM keepsake_index_tenant WHERE tenant = ?";

    static final String TENANTS = "SELECT tenant FROM keepsake_index_tenant";

    /** Parameters: messages, length, tenant. */
    static final String COUNT_IN_TENANT =
            """
            UPDATE keepsake_index_tenant SET messages = messages + ?, length = length + ? WHERE number = ?
            """;

    static final String DELETE_EMPTY_TENANT =
            """
            DELETE FROM keepsake_index_tenant
            WHERE number = ? AND NOT EXISTS (SELECT 1 FROM keepsake_index_memory m WHERE m.tenant = ?)
            """;

    static final String MEMORY = "SELECT " + MemoryRow.COLUMNS + "m.memory_key = ?\n";

    /** Parameters: tenant, the number after which the page begins, rows. */
    static final String MEMORIES_OF_TENANT =
            "SELECT " + MemoryRow.COLUMNS + "m.tenant = ? AND m.number > ?\n ORDER BY m.number\n LIMIT ?\n";

    static final String NEW_MEMORY =
            """
            INSERT INTO keepsake_index_memory
              (tenant, memory_key, app_id, conversation_id, node_id, epoch, sequence, messages, length)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            RETURNING number
            """;

    /** Parameters: sequence, messages, length, memory. */
    static final String MOVE_WATERMARK =
            """
            UPDATE keepsake_index_memory SET sequence = ?, messages = messages + ?, length = length + ? WHERE number = ?
            """;

    /** The statements of a clearing, for all tenants. Marks of vectors are removed before vectors. */
    static final List<String> CLEAR = List.of(
            "DELETE FROM keepsake_index_vector_mark",
            "DELETE FROM keepsake_index_vector",
            "DELETE FROM keepsake_index_model",
            "DELETE FROM keepsake_index_posting",
            "DELETE FROM keepsake_index_term",
            "DELETE FROM keepsake_index_memory",
            "DELETE FROM keepsake_index_tenant",
            "DELETE FROM keepsake_index_words");

    static final String DELETE_MEMORY = "DELETE FROM keepsake_index_memory WHERE number = ?";

    /** Parameters: memory, tenant. */
    static final String SUBTRACT_TERMS =
            """
            UPDATE keepsake_index_term AS t
            SET messages = t.messages - p.messages
            FROM (
              SELECT term, CAST(SUM(messages) AS bigint) AS messages
              FROM keepsake_index_posting WHERE memory = ? GROUP BY term
            ) AS p
            WHERE t.tenant = ? AND t.term = p.term
            """;

    /** Parameters: tenant, memory. */
    static final String DELETE_UNUSED_TERMS =
            """
            DELETE FROM keepsake_index_term
            WHERE tenant = ? AND messages <= 0 AND term IN (SELECT p.term FROM keepsake_index_posting p WHERE p.memory = ?)
            """;

    static final String DELETE_POSTINGS = "DELETE FROM keepsake_index_posting WHERE memory = ?";

    /** Parameters: memory, the first segment (which stays), the segment behind the last. */
    static final String DELETE_JOINED =
            "DELETE FROM keepsake_index_posting WHERE memory = ? AND segment > ? AND segment < ?";

    static final String MODEL = "SELECT number FROM keepsake_index_model WHERE model = ?";

    /** Parameters: model, day. */
    static final String NEW_MODEL =
            "INSERT INTO keepsake_index_model (model, used) VALUES (?, ?) ON CONFLICT (model) DO NOTHING";

    /** Parameters: day, model, the same day. */
    static final String USE_MODEL = "UPDATE keepsake_index_model SET used = ? WHERE number = ? AND used < ?";

    static final String VECTOR_MARKS = "SELECT " + VectorMarkRow.COLUMNS + "k.memory = ?\n";

    /**
     * Moves a mark if it is the one before, and returns memory, model, and whether the days of use are to be looked at.
     * Parameters: the new sequence, weight and measured; the model; the memory's key; the known epoch, sequence, weight
     * and measured; today; the first day of use that keeps vectors of other models.
     */
    static final String MOVE_VECTOR_MARK =
            """
            UPDATE keepsake_index_vector_mark SET sequence = ?, weight = ?, measured = ?
            WHERE model = (SELECT d.number FROM keepsake_index_model d WHERE d.model = ?)
              AND memory = (SELECT m.number FROM keepsake_index_memory m WHERE m.memory_key = ?)
              AND epoch = ? AND sequence = ? AND weight = ? AND measured = ?
            RETURNING memory, model, EXISTS (
              SELECT 1 FROM keepsake_index_vector_mark k JOIN keepsake_index_model d ON d.number = k.model
              WHERE k.memory = keepsake_index_vector_mark.memory
                AND d.used < CASE WHEN k.model = keepsake_index_vector_mark.model THEN ? ELSE ? END)
            """;

    /** Parameters: memory, model, epoch, sequence, weight, measured. No version reads the floor that others kept. */
    static final String NEW_VECTOR_MARK =
            """
            INSERT INTO keepsake_index_vector_mark (memory, model, epoch, sequence, weight, floor, measured)
            VALUES (?, ?, ?, ?, ?, 0, ?)
            """;

    /** Parameters: memory, model, sequence, newest, amount, vectors. */
    static final String ADD_VECTORS =
            """
            INSERT INTO keepsake_index_vector (memory, model, sequence, newest, amount, vectors) VALUES (?, ?, ?, ?, ?, ?)
            """;

    /** Parameters: memory, model, the first sequence. */
    static final String VECTORS_FROM =
            """
            SELECT sequence, newest, amount, vectors FROM keepsake_index_vector
            WHERE memory = ? AND model = ? AND sequence >= ?
            ORDER BY sequence
            """;

    /** Parameters: memory, model, the first sequence. */
    static final String DELETE_VECTORS_FROM =
            "DELETE FROM keepsake_index_vector WHERE memory = ? AND model = ? AND sequence >= ?";

    /** Parameters: memory, model. */
    static final String DELETE_VECTOR_MARK = "DELETE FROM keepsake_index_vector_mark WHERE memory = ? AND model = ?";

    /** The statements that remove the vectors of a memory, the marks first. Parameter: memory. */
    static final List<String> DELETE_VECTORS = List.of(
            "DELETE FROM keepsake_index_vector_mark WHERE memory = ?",
            "DELETE FROM keepsake_index_vector WHERE memory = ?");
}

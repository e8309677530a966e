package io.github.keepsake4j.log.jdbc;

/** The statements that every database takes, whole. Parameters are positional; the memory's key comes first mostly. */
final class Sql {

    static final String CREATE_MEMORY =
            """
            INSERT INTO keepsake_memory
              (memory_key, tenant, app_id, conversation_id, node_id, metadata, epoch, revision, last_seq, tokens, created_at)
            VALUES (?, ?, ?, ?, ?, '{}', 1, 1, 0, 0, ?)
            ON CONFLICT (memory_key) DO UPDATE
              SET tenant = excluded.tenant, app_id = excluded.app_id, conversation_id = excluded.conversation_id,
                  node_id = excluded.node_id, metadata = excluded.metadata, created_at = excluded.created_at
              WHERE keepsake_memory.tenant IS NULL
            """;

    static final String DESCRIBE =
            """
            UPDATE keepsake_memory SET title = ?, metadata = ? WHERE memory_key = ?
            """;

    static final String LIST =
            """
            SELECT number, tenant, app_id, conversation_id, node_id, title, metadata, last_seq, tokens, created_at,
                   last_message_at
            FROM keepsake_memory
            WHERE tenant = ? AND number < ?
            ORDER BY number DESC
            LIMIT ?
            """;

    /** What the next message inherits, by sequence. */
    static final String NODE_BY_SEQ =
            """
            SELECT seq, id, run_start, depth, path_tokens, system_seq, user_seq
            FROM keepsake_message
            WHERE memory_key = ? AND seq = ?
            """;

    /** What the next message inherits, by id. */
    static final String NODE_BY_ID =
            """
            SELECT seq, id, run_start, depth, path_tokens, system_seq, user_seq
            FROM keepsake_message
            WHERE memory_key = ? AND id = ?
            """;

    static final String HISTORY_BACK =
            """
            SELECT seq, id, parent_id, message, tokens, token_counter, created_at
            FROM keepsake_message
            WHERE memory_key = ? AND seq < ?
            ORDER BY seq DESC
            LIMIT ?
            """;

    static final String HISTORY_FORWARD =
            """
            SELECT seq, id, parent_id, message, tokens, token_counter, created_at
            FROM keepsake_message
            WHERE memory_key = ? AND seq > ?
            ORDER BY seq
            LIMIT ?
            """;

    static final String PUT_SUMMARY =
            """
            INSERT INTO keepsake_summary
              (memory_key, version, covers_seq, text, tokens, token_counter, replaced_messages, replaced_tokens, model,
               created_at)
            SELECT ?, COALESCE(MAX(version), 0) + 1, ?, ?, ?, ?, ?, ?, ?, ?
            FROM keepsake_summary WHERE memory_key = ?
            """;

    static final String SUMMARIES =
            """
            SELECT s.covers_seq, c.id AS covers, s.text, s.tokens, s.token_counter, s.replaced_messages,
                   s.replaced_tokens, s.model, s.created_at
            FROM keepsake_summary s
            JOIN keepsake_message c ON c.memory_key = s.memory_key AND c.seq = s.covers_seq
            WHERE s.memory_key = ?
            ORDER BY s.version
            """;

    static final String TAKE_LEASE =
            """
            INSERT INTO keepsake_lease (memory_key, name, owner, expires_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (memory_key, name) DO UPDATE
              SET owner = excluded.owner, expires_at = excluded.expires_at
              WHERE keepsake_lease.owner = excluded.owner OR keepsake_lease.expires_at <= ?
            """;

    static final String RELEASE_LEASE =
            """
            DELETE FROM keepsake_lease WHERE memory_key = ? AND name = ? AND owner = ?
            """;

    static final String ERASE_MESSAGES =
            """
            DELETE FROM keepsake_message WHERE memory_key = ?
            """;

    static final String ERASE_VIEWS = """
            DELETE FROM keepsake_view WHERE memory_key = ?
            """;

    static final String ERASE_SUMMARIES =
            """
            DELETE FROM keepsake_summary WHERE memory_key = ?
            """;

    static final String ERASE_LEASES = """
            DELETE FROM keepsake_lease WHERE memory_key = ?
            """;

    private Sql() {}
}

package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.NamedSql;

/**
 * The complete statements that are the same for every database. Parameters are positional; the memory's key is usually
 * the first.
 */
final class Sql {

    static final String CREATE_MEMORY =
            """
            INSERT INTO keepsake_memory
              (memory_key, tenant, app_id, conversation_id, node_id, metadata, lists, epoch, revision, last_seq, tokens,
               created_at, stored_at, active_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, 1, 1, 0, 0, ?, ?, ?)
            ON CONFLICT (memory_key) DO UPDATE
              SET tenant = excluded.tenant, app_id = excluded.app_id, conversation_id = excluded.conversation_id,
                  node_id = excluded.node_id, metadata = excluded.metadata, lists = excluded.lists,
                  created_at = excluded.created_at, stored_at = excluded.stored_at, active_at = excluded.active_at
              WHERE keepsake_memory.tenant IS NULL
            """;

    static final String DESCRIBE =
            """
            UPDATE keepsake_memory SET title = ?, metadata = ? WHERE memory_key = ?
            """;

    static final String METADATA =
            """
            SELECT metadata FROM keepsake_memory WHERE memory_key = ?
            """;

    static final String SET_METADATA =
            """
            UPDATE keepsake_memory SET metadata = ? WHERE memory_key = ?
            """;

    /** The first message of a memory. An imported message sets the memory's age to its own. Parameters: time, key, time. */
    static final String BEGIN =
            """
            UPDATE keepsake_memory SET created_at = ? WHERE memory_key = ? AND created_at > ?
            """;

    /** Records where {@link OwnSql#move} moved a memory. Parameters: time, key, whether it is the first message, time. */
    static final String SET_ACTIVE_AT =
            """
            UPDATE keepsake_memory SET active_at = ?
            WHERE memory_key = ? AND (? OR active_at / 60000000 < ? / 60000000)
            """;

    /**
     * The time changes too, so that an append that waits for this does not move rows of the lists that it cannot see.
     * Parameters: lists, key.
     */
    static final String SET_LISTS =
            """
            UPDATE keepsake_memory
            SET lists = ?, active_at = CASE WHEN active_at < 9223372036854775807 THEN active_at + 1 ELSE active_at - 1 END
            WHERE memory_key = ?
            """;

    /** A row if a memory has these lists. Parameters: key, lists. */
    static final String HAS_LISTS =
            """
            SELECT 1 AS has_lists FROM keepsake_memory WHERE memory_key = ? AND lists = ?
            """;

    static final String LISTED_NAMES = """
            SELECT name, listed_at FROM keepsake_listed_name
            """;

    static final String ADD_LISTED_NAME =
            """
            INSERT INTO keepsake_listed_name (name, listed_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING
            """;

    /** Parameters: time, name. */
    static final String SET_LISTED =
            """
            UPDATE keepsake_listed_name SET listed_at = ? WHERE name = ?
            """;

    /** A part of all memories with metadata. Parameters: key, limit. */
    static final String DESCRIBED =
            """
            SELECT memory_key, tenant, app_id, conversation_id, node_id, metadata, lists
            FROM keepsake_memory
            WHERE memory_key > ? AND tenant IS NOT NULL AND metadata <> '{}'
            ORDER BY memory_key
            LIMIT ?
            """;

    /** The entry of a memory in a list, unless it is a tombstone. */
    static final String INFO =
            """
            SELECT tenant, app_id, conversation_id, node_id, title, metadata, last_seq, tokens, created_at,
                   last_message_at, stored_at
            FROM keepsake_memory
            WHERE memory_key = ? AND tenant IS NOT NULL
            """;

    /** The memories of a conversation's nodes, in any order. Parameters: tenant, conversation. */
    static final String NODES =
            """
            SELECT tenant, app_id, conversation_id, node_id
            FROM keepsake_memory
            WHERE tenant = ? AND conversation_id = ? AND node_id IS NOT NULL
            """;

    /** A message's place in the tree, joined with its parent's. Parameters: key, key, sequence. */
    static final String NODE_BY_SEQ =
            """
            SELECT m.seq, m.id, m.parent_seq, m.parent_id, m.tokens, m.run_start, m.depth, m.path_tokens, m.system_seq,
                   m.user_seq,
                   p.seq AS p_seq, p.id AS p_id, p.parent_seq AS p_parent_seq, p.parent_id AS p_parent_id,
                   p.tokens AS p_tokens, p.run_start AS p_run_start, p.depth AS p_depth, p.path_tokens AS p_path_tokens,
                   p.system_seq AS p_system_seq, p.user_seq AS p_user_seq
            FROM keepsake_message m
            LEFT JOIN keepsake_message p ON p.memory_key = ? AND p.seq = m.parent_seq
            WHERE m.memory_key = ? AND m.seq = ?
            """;

    /** The same by id. Parameters: key, key, id. */
    static final String NODE_BY_ID = NODE_BY_SEQ.replace("m.seq = ?", "m.id = ?");

    /** A page of all messages with their parents, to be checked. In SQLite, a column may hold a value of another type. */
    static final NamedSql CHECK_MESSAGES = NamedSql.of(
            """
            SELECT m.seq, m.id, m.parent_seq, m.parent_id, m.tokens, m.run_start, m.depth, m.path_tokens, m.system_seq,
                   m.user_seq, m.message, m.token_counter, m.created_at, m.outcome, m.made,
                   CASE WHEN typeof(m.request) NOT IN ('text', 'null') THEN m.request END AS bad_request,
                   p.seq AS p_seq, p.id AS p_id, p.parent_seq AS p_parent_seq, p.parent_id AS p_parent_id,
                   p.tokens AS p_tokens, p.run_start AS p_run_start, p.depth AS p_depth, p.path_tokens AS p_path_tokens,
                   p.system_seq AS p_system_seq, p.user_seq AS p_user_seq, 1 AS has_runs
            FROM keepsake_message m
            LEFT JOIN keepsake_message p ON p.memory_key = :memory_key AND p.seq = m.parent_seq
            WHERE m.memory_key = :memory_key AND m.seq > :behind AND m.seq <= :up_to
            ORDER BY m.seq
            LIMIT :rows
            """,
            "memory_key behind up_to rows");

    /**
     * The runs, found by the index over their starts, each joined with the message that continues its parent's run.
     * Parameters: key, key.
     */
    static final String RUNS =
            """
            SELECT r.seq, r.id, r.parent_seq,
                   (SELECT n.id FROM keepsake_message n
                    WHERE n.memory_key = ? AND n.seq = r.parent_seq + 1 AND n.run_start < n.seq) AS beside
            FROM keepsake_message r
            WHERE r.memory_key = ? AND r.run_start = r.seq
            """;

    static final String BUMP_REVISION =
            """
            UPDATE keepsake_memory SET revision = revision + 1 WHERE memory_key = ?
            """;

    static final String MESSAGE_BY_ID =
            """
            SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
            FROM keepsake_message
            WHERE memory_key = ? AND id = ?
            """;

    static final String PUT_VIEW =
            """
            INSERT INTO keepsake_view (memory_key, anchor_seq, anchor_id, view) VALUES (?, ?, ?, ?)
            ON CONFLICT (memory_key, anchor_seq) DO UPDATE SET anchor_id = excluded.anchor_id, view = excluded.view
            """;

    static final String SEQUENCE_BY_ID =
            """
            SELECT seq FROM keepsake_message WHERE memory_key = ? AND id = ?
            """;

    /** A page of all views. An anchor that is missing, or has another id, is null. */
    static final NamedSql CHECK_VIEWS = NamedSql.of(
            """
            SELECT v.anchor_seq, v.view, CASE WHEN a.id = v.anchor_id THEN a.id END AS anchor
            FROM keepsake_view v
            LEFT JOIN keepsake_message a ON a.memory_key = :memory_key AND a.seq = v.anchor_seq
            WHERE v.memory_key = :memory_key AND v.anchor_seq > :behind AND v.anchor_seq <= :up_to
            ORDER BY v.anchor_seq
            LIMIT :rows
            """,
            "memory_key behind up_to rows");

    /** A page of all summaries. The same applies to the last message that a summary covers. */
    static final NamedSql CHECK_SUMMARIES = NamedSql.of(
            """
            SELECT s.version, s.covers_seq, CASE WHEN c.id = s.covers_id THEN c.id END AS covers, s.text, s.tokens, s.token_counter, s.replaced_messages,
                   s.replaced_tokens, s.model, s.created_at
            FROM keepsake_summary s
            LEFT JOIN keepsake_message c ON c.memory_key = :memory_key AND c.seq = s.covers_seq
            WHERE s.memory_key = :memory_key AND s.version > :behind AND s.version <= :up_to
            ORDER BY s.version
            LIMIT :rows
            """,
            "memory_key behind up_to rows");

    /**
     * Parameters: key, sequence, key, epoch. Statements that delete or move take the epoch too. No two of them, and no
     * read, have values of the same types in the same order, so that a pooler cannot confuse them.
     */
    static final String DROP_VIEW =
            """
            DELETE FROM keepsake_view
            WHERE memory_key = ? AND anchor_seq = ?
              AND EXISTS (SELECT 1 FROM keepsake_memory m WHERE m.memory_key = ? AND m.epoch = ?)
            """;

    /** Parameters: version, key, key, epoch. */
    static final String DROP_SUMMARY =
            """
            DELETE FROM keepsake_summary
            WHERE version = ? AND memory_key = ?
              AND EXISTS (SELECT 1 FROM keepsake_memory m WHERE m.memory_key = ? AND m.epoch = ?)
            """;

    /** Parameters: key, sequence, limit. */
    static final String HISTORY_BACK =
            """
            SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
            FROM keepsake_message
            WHERE memory_key = ? AND seq < ?
            ORDER BY seq DESC
            LIMIT ?
            """;

    /** Parameters: sequence, key, limit. The order distinguishes it from the other direction. */
    static final String HISTORY_FORWARD =
            """
            SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
            FROM keepsake_message
            WHERE seq > ? AND memory_key = ?
            ORDER BY seq
            LIMIT ?
            """;

    /**
     * Writes nothing if the head is missing, because the memory is damaged, or if there is a summary with the version or a
     * higher one.
     */
    static final NamedSql PUT_SUMMARY = NamedSql.of(
            """
            INSERT INTO keepsake_summary
              (memory_key, version, covers_seq, covers_id, text, tokens, token_counter, replaced_messages, replaced_tokens,
               model, created_at)
            SELECT :memory_key, COALESCE(MAX(s.version), 0) + 1, :covers_seq, :covers_id, :text, :tokens, :token_counter,
                   :replaced_messages, :replaced_tokens, :model, :created_at
            FROM keepsake_summary s
            WHERE s.memory_key = :memory_key
            HAVING COALESCE(MAX(s.version), 0) < :version AND EXISTS (
              SELECT 1 FROM keepsake_memory m
              WHERE m.memory_key = :memory_key
                AND (m.head_seq IS NULL
                     OR EXISTS (SELECT 1 FROM keepsake_message h
                                WHERE h.memory_key = :memory_key AND h.seq = m.head_seq AND h.id = m.head_id)))
            """,
            "memory_key covers_seq covers_id text tokens token_counter replaced_messages replaced_tokens "
                    + "model created_at version");

    /** Parameters: key, key. */
    static final String SUMMARIES =
            """
            SELECT s.version, s.covers_seq, c.id AS covers, s.text, s.tokens, s.token_counter, s.replaced_messages,
                   s.replaced_tokens, s.model, s.created_at
            FROM keepsake_summary s
            LEFT JOIN keepsake_message c ON c.memory_key = ? AND c.seq = s.covers_seq
            WHERE s.memory_key = ?
            ORDER BY s.version
            """;

    /**
     * The newest message of a named branch, which is null if the branch has no existing message. Parameters: key, key,
     * name.
     */
    static final String REFERENCE =
            """
            SELECT r.seq, r.id, n.seq AS there
            FROM keepsake_reference r
            LEFT JOIN keepsake_message n ON n.memory_key = ? AND n.seq = r.seq AND n.id = r.id
            WHERE r.memory_key = ? AND r.name = ?
            """;

    /** All named branches of a memory, in order of their names. Parameters: key, key. */
    static final String REFERENCES =
            """
            SELECT r.name, r.seq, r.id, n.seq AS there
            FROM keepsake_reference r
            LEFT JOIN keepsake_message n ON n.memory_key = ? AND n.seq = r.seq AND n.id = r.id
            WHERE r.memory_key = ?
            ORDER BY r.name
            """;

    /** Parameters: key, name, sequence, id. */
    static final String PUT_REFERENCE =
            """
            INSERT INTO keepsake_reference (memory_key, name, seq, id) VALUES (?, ?, ?, ?)
            ON CONFLICT (memory_key, name) DO UPDATE SET seq = excluded.seq, id = excluded.id
            """;

    /** Parameters: name, key, key, epoch. */
    static final String DROP_REFERENCE =
            """
            DELETE FROM keepsake_reference
            WHERE name = ? AND memory_key = ?
              AND EXISTS (SELECT 1 FROM keepsake_memory m WHERE m.memory_key = ? AND m.epoch = ?)
            """;

    /** Counts the messages of a batch that does not move the head. Parameters: sequence, tokens, time, key. */
    static final String ADVANCE_BESIDE_HEAD =
            """
            UPDATE keepsake_memory
            SET last_seq = ?, tokens = tokens + ?, last_message_at = CASE WHEN last_message_at > ? THEN last_message_at ELSE ? END
            WHERE memory_key = ?
            """;

    /**
     * Replaces a message that cannot be read by a marker in reads. Its bytes stay. Parameters: outcome, key, number.
     */
    static final String MARK_UNREADABLE =
            """
            UPDATE keepsake_message SET outcome = ? WHERE memory_key = ? AND seq = ?
            """;

    /** Drops the notes of how an answer was made. Parameters: number, key. */
    static final String DROP_MADE =
            """
            UPDATE keepsake_message SET made = NULL, request = NULL WHERE seq = ? AND memory_key = ?
            """;

    static final String OUTCOME_BY_ID =
            """
            SELECT outcome FROM keepsake_message WHERE memory_key = ? AND id = ?
            """;

    /** Parameters: outcome, key, id. */
    static final String SET_OUTCOME =
            """
            UPDATE keepsake_message SET outcome = ? WHERE memory_key = ? AND id = ?
            """;

    static final NamedSql ADD_USAGE = NamedSql.of(
            """
            INSERT INTO keepsake_usage (memory_key, day, tenant, input_tokens, output_tokens, cached_tokens)
            VALUES (:memory_key, :day, :tenant, :input, :output, :cached)
            ON CONFLICT (memory_key, day) DO UPDATE
              SET input_tokens = keepsake_usage.input_tokens + excluded.input_tokens,
                  output_tokens = keepsake_usage.output_tokens + excluded.output_tokens,
                  cached_tokens = keepsake_usage.cached_tokens + excluded.cached_tokens
            """,
            "memory_key day tenant input output cached");

    static final String RELEASE_LEASE =
            """
            DELETE FROM keepsake_lease WHERE memory_key = ? AND name = ? AND owner = ?
            """;

    private Sql() {}

    /** Selects also how the messages were made. */
    static String withMade(String find) {
        return find.replaceFirst("(m\\.|)outcome\n", "$1outcome, $1made, $1request\n");
    }
}

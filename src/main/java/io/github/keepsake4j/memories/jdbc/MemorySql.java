package io.github.keepsake4j.memories.jdbc;

import java.util.List;

/**
 * The statements on long-term memories. All of them begin with the parameters discussion and kind, if none are named. A
 * SQLite file has the facts of one discussion, so its {@code keepsake_word} has no column for the discussion: its
 * statements ignore the parameter.
 */
enum MemorySql {

    /** Further parameters: revision, fingerprint. Changes nothing if the row exists. */
    NEW_PROGRESS(
            """
            INSERT INTO keepsake_made_progress (memory_key, kind, revision, head, fingerprint) VALUES (?, ?, ?, 0, ?)
            ON CONFLICT (memory_key, kind) DO NOTHING
            """,
            """
            INSERT INTO keepsake_progress (discussion_id, kind, revision, head, fingerprint) VALUES (?, ?, ?, 0, ?)
            ON CONFLICT (discussion_id, kind) DO NOTHING
            """),

    /** Columns: revision, head, fingerprint. */
    PROGRESS(
            "SELECT revision, head, fingerprint FROM keepsake_made_progress WHERE memory_key = ? AND kind = ?",
            "SELECT revision, head, fingerprint FROM keepsake_progress WHERE discussion_id = ? AND kind = ?"),

    /** As {@link #PROGRESS}, and blocks other writers. */
    LOCK_PROGRESS(
            """
            SELECT revision, head, fingerprint FROM keepsake_made_progress WHERE memory_key = ? AND kind = ? FOR UPDATE
            """,
            PROGRESS.onSqlite),

    /** Parameters: revision, head, fingerprint, discussion, kind. */
    PUT_PROGRESS(
            """
            UPDATE keepsake_made_progress SET revision = ?, head = ?, fingerprint = ? WHERE memory_key = ? AND kind = ?
            """,
            """
            UPDATE keepsake_progress SET revision = ?, head = ?, fingerprint = ? WHERE discussion_id = ? AND kind = ?
            """),

    /** Columns: number, parent, messages, message_hash, after_hash, up_to_hash, message_ids, failures. In order. */
    STEPS(
            """
            SELECT number, parent, messages, message_hash, after_hash, up_to_hash, message_ids, failures
            FROM keepsake_made_step WHERE memory_key = ? AND kind = ? ORDER BY number
            """,
            """
            SELECT id, parent, messages, message_hash, after_hash, up_to_hash, message_ids, failures
            FROM vector_memory_tracker WHERE discussion_id = ? AND kind = ? ORDER BY id
            """),

    /**
     * Further parameters: number, parent, message_hash, after_hash, up_to_hash, messages, message_ids, failures, time.
     * If the step exists, only the last two are changed.
     */
    PUT_STEP(
            """
            INSERT INTO keepsake_made_step
              (memory_key, kind, number, parent, message_hash, after_hash, up_to_hash, messages, message_ids, failures,
               processed_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (memory_key, kind, number)
            DO UPDATE SET failures = excluded.failures, processed_at = excluded.processed_at
            """,
            """
            INSERT INTO vector_memory_tracker
              (discussion_id, kind, id, parent, message_hash, after_hash, up_to_hash, messages, message_ids, failures,
               timestamp)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET failures = excluded.failures, timestamp = excluded.timestamp
            """),

    /** Marks a step as the last one. Parameters: time, discussion, kind, number. */
    TOUCH_STEP(
            """
            UPDATE keepsake_made_step SET processed_at = ? WHERE memory_key = ? AND kind = ? AND number = ?
            """,
            "UPDATE vector_memory_tracker SET timestamp = ? WHERE discussion_id = ? AND kind = ? AND id = ?"),

    /** Columns: number, step, shown, memory_text, metadata_json. In order. */
    MEMORIES(
            """
            SELECT number, step, shown, memory_text, metadata_json
            FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? ORDER BY number
            """,
            """
            SELECT id, step, shown, memory_text, metadata_json
            FROM memories WHERE discussion_id = ? AND kind = ? ORDER BY id
            """),

    /** Further parameter: limit. As {@link #MEMORIES}, but only memories that are shown, from the newest. */
    SHOWN(
            """
            SELECT number, step, shown, memory_text, metadata_json
            FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? AND shown = 1 ORDER BY number DESC LIMIT ?
            """,
            """
            SELECT id, step, shown, memory_text, metadata_json
            FROM memories WHERE discussion_id = ? AND kind = ? AND shown = 1 ORDER BY id DESC LIMIT ?
            """),

    /** As {@link #MEMORIES}. Parameters: discussion, memory_id. */
    BY_ID(
            """
            SELECT number, step, shown, memory_text, metadata_json
            FROM keepsake_made_memory WHERE memory_key = ? AND memory_id = ?
            """,
            "SELECT id, step, shown, memory_text, metadata_json FROM memories WHERE discussion_id = ? AND memory_id = ?"),

    /** As {@link #MEMORIES}. Further parameter: number. */
    BY_NUMBER(
            """
            SELECT number, step, shown, memory_text, metadata_json
            FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? AND number = ?
            """,
            "SELECT id, step, shown, memory_text, metadata_json FROM memories"
                    + " WHERE discussion_id = ? AND kind = ? AND id = ?"),

    /** Further parameter: the least trust. */
    COUNT_SHOWN(
            """
            SELECT COUNT(*) FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? AND shown = 1 AND trust <= ?
            """,
            "SELECT COUNT(*) FROM memories WHERE discussion_id = ? AND kind = ? AND shown = 1 AND trust <= ?"),

    /** The next number of a memory. */
    NEXT_NUMBER(
            "SELECT COALESCE(MAX(number), 0) + 1 FROM keepsake_made_memory WHERE memory_key = ? AND kind = ?",
            "SELECT COALESCE(MAX(id), 0) + 1 FROM memories WHERE discussion_id = ? AND kind = ?"),

    /** Further parameters: number, memory_id, memory_text, date_added, metadata_json, step, shown, trust, pinned. */
    NEW_MEMORY(
            """
            INSERT INTO keepsake_made_memory
              (memory_key, kind, number, memory_id, memory_text, date_added, metadata_json, step, shown, trust,
               pinned)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            """
            INSERT INTO memories
              (discussion_id, kind, id, memory_id, memory_text, date_added, metadata_json, step, shown, trust,
               pinned)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """),

    /** Parameters: memory_text, metadata_json, shown, trust, pinned, discussion, kind, number. */
    PUT_MEMORY(
            """
            UPDATE keepsake_made_memory SET memory_text = ?, metadata_json = ?, shown = ?, trust = ?, pinned = ?
            WHERE memory_key = ? AND kind = ? AND number = ?
            """,
            """
            UPDATE memories SET memory_text = ?, metadata_json = ?, shown = ?, trust = ?, pinned = ?
            WHERE discussion_id = ? AND kind = ? AND id = ?
            """),

    /** Further parameters: term, number, weight. Has no kind. */
    NEW_WORD(
            "INSERT INTO keepsake_made_word (memory_key, term, number, weight) VALUES (?, ?, ?, ?)",
            "INSERT INTO keepsake_word (term, memory, weight) SELECT term, memory, weight"
                    + " FROM (SELECT ? AS discussion, ? AS term, ? AS memory, ? AS weight)"),

    /** Parameters: discussion, number. */
    DELETE_WORDS(
            "DELETE FROM keepsake_made_word WHERE memory_key = ? AND number = ?",
            "DELETE FROM keepsake_word WHERE ? IS NOT NULL AND memory = ?"),

    /** Columns: term, number, weight. Parameters: discussion, the terms as a JSON array,
     * discussion, the least trust. */
    WORDS(
            """
            SELECT w.term, w.number, w.weight
            FROM keepsake_made_word w JOIN keepsake_made_memory m ON m.memory_key = w.memory_key AND m.number = w.number
            WHERE w.memory_key = ? AND w.term IN (SELECT jsonb_array_elements_text(CAST(? AS jsonb)))
              AND m.memory_key = ? AND m.kind = 'FACT' AND m.trust <= ?
            """,
            """
            SELECT w.term, w.memory, w.weight
            FROM keepsake_word w JOIN memories m ON m.id = w.memory
            WHERE ? IS NOT NULL AND w.term IN (SELECT value FROM json_each(?)) AND m.discussion_id = ? AND m.trust <= ?
            """);

    private final String onPostgres;
    private final String onSqlite;

    MemorySql(String onPostgres, String onSqlite) {
        this.onPostgres = onPostgres;
        this.onSqlite = onSqlite;
    }

    String text(boolean isSqlite) {
        return isSqlite ? onSqlite : onPostgres;
    }

    static final String TAKE_LEASE =
            """
            INSERT INTO keepsake_made_lease AS l (memory_key, name, owner, expires_at)
            VALUES (?, ?, ?, clock_timestamp() + ? * interval '1 microsecond')
            ON CONFLICT (memory_key, name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
            WHERE l.memory_key = ? AND (l.owner = excluded.owner OR l.expires_at <= clock_timestamp())
            RETURNING expires_at
            """;

    static final String RELEASE_LEASE =
            "DELETE FROM keepsake_made_lease WHERE memory_key = ? AND name = ? AND owner = ?";

    /**
     * The memories that are shown without a question. Parameters: for chunks and again for facts the discussion, the
     * least trust and the number; for pinned memories the same; the discussion for the summary, for its last passage,
     * and for the chunk of that passage.
     */
    static final String OVERVIEW =
            """
            (SELECT number, step, shown, memory_text, metadata_json FROM keepsake_made_memory
             WHERE memory_key = ? AND kind = 'CHUNK' AND shown = 1 AND trust <= ? ORDER BY number DESC LIMIT ?)
            UNION ALL
            (SELECT number, step, shown, memory_text, metadata_json FROM keepsake_made_memory
             WHERE memory_key = ? AND kind = 'FACT' AND shown = 1 AND trust <= ? ORDER BY number DESC LIMIT ?)
            UNION ALL
            (SELECT number, step, shown, memory_text, metadata_json FROM keepsake_made_memory
             WHERE memory_key = ? AND pinned = 1 AND shown = 1 AND kind <> 'SUMMARY' AND trust <= ?
             ORDER BY number DESC LIMIT ?)
            UNION ALL
            (SELECT v.number, v.step, v.shown, v.memory_text, v.metadata_json FROM keepsake_made_memory v
             WHERE v.memory_key = ? AND v.kind = 'SUMMARY' AND v.shown = 1
               AND (CAST(v.metadata_json AS jsonb) #>> '{keepsake,up_to}' = '' OR EXISTS (
                 SELECT 1 FROM keepsake_made_step s
                   JOIN keepsake_made_memory c ON c.memory_key = s.memory_key AND c.kind = s.kind AND c.step = s.number
                 WHERE s.memory_key = ? AND s.kind = 'CHUNK' AND c.memory_key = ? AND c.shown = 1
                   AND s.up_to_hash = CAST(v.metadata_json AS jsonb) #>> '{keepsake,up_to}'))
             ORDER BY v.number DESC LIMIT 1)
            """;

    /** Parameters: discussion, its key. */
    static final String NOTE_KEY =
            """
            INSERT INTO keepsake_made_discussion (memory_key, discussion) VALUES (?, ?) ON CONFLICT (memory_key) DO NOTHING
            """;

    /** A page of discussions. Parameters: the last one of the page before, the end, how many. */
    static final String DISCUSSIONS =
            """
            SELECT memory_key, discussion FROM keepsake_made_discussion
            WHERE memory_key > ? AND memory_key <= ? ORDER BY memory_key LIMIT ?
            """;

    /** The statements of an erasure. Parameter of each: discussion. */
    static final List<String> ERASE = List.of(
            "DELETE FROM keepsake_made_discussion WHERE memory_key = ?",
            "DELETE FROM keepsake_made_word WHERE memory_key = ?",
            "DELETE FROM keepsake_made_memory WHERE memory_key = ?",
            "DELETE FROM keepsake_made_step WHERE memory_key = ?",
            "DELETE FROM keepsake_made_lease WHERE memory_key = ?");

    static final String NEW_PLAIN =
            """
            INSERT INTO memories_fts (rowid, title, summary, entities, key_phrases, memory_text) VALUES (?, ?, ?, ?, ?, ?)
            """;

    static final String DELETE_PLAIN = "DELETE FROM memories_fts WHERE rowid = ?";

    /** Rewrites the index without what was removed. */
    static final String OPTIMIZE = "INSERT INTO memories_fts (memories_fts) VALUES ('optimize')";
}

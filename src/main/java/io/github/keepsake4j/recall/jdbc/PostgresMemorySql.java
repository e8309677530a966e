package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.MemoryKey;
import java.util.List;

/** The statements of PostgreSQL. */
final class PostgresMemorySql implements MemorySql {

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
     * What is shown without a question. Parameters: for chunks and again for facts the discussion, the least trust and the number;
     * for pinned ones the same; the discussion for the summary, for the passage that it reaches to, and for that one's chunk.
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

    /** What an erasure removes. Parameter of each: discussion. */
    static final List<String> ERASE = List.of(
            "DELETE FROM keepsake_made_discussion WHERE memory_key = ?",
            "DELETE FROM keepsake_made_word WHERE memory_key = ?",
            "DELETE FROM keepsake_made_memory WHERE memory_key = ?",
            "DELETE FROM keepsake_made_step WHERE memory_key = ?",
            "DELETE FROM keepsake_made_lease WHERE memory_key = ?");

    @Override
    public Object key(MemoryKey discussion) {
        return MemoryRow.hash(discussion);
    }

    @Override
    public boolean hasPlainIndex() {
        return false;
    }

    @Override
    public String newProgress() {
        return """
            INSERT INTO keepsake_made_progress (memory_key, kind, revision, head, fingerprint) VALUES (?, ?, ?, 0, ?)
            ON CONFLICT (memory_key, kind) DO NOTHING
            """;
    }

    @Override
    public String progress() {
        return "SELECT revision, head, fingerprint FROM keepsake_made_progress WHERE memory_key = ? AND kind = ?";
    }

    @Override
    public String lockProgress() {
        return """
            SELECT revision, head, fingerprint FROM keepsake_made_progress WHERE memory_key = ? AND kind = ? FOR UPDATE
            """;
    }

    @Override
    public String putProgress() {
        return """
            UPDATE keepsake_made_progress SET revision = ?, head = ?, fingerprint = ? WHERE memory_key = ? AND kind = ?
            """;
    }

    @Override
    public String steps() {
        return """
            SELECT number, parent, messages, message_hash, after_hash, up_to_hash, message_ids, failures
            FROM keepsake_made_step WHERE memory_key = ? AND kind = ? ORDER BY number
            """;
    }

    @Override
    public String putStep() {
        return """
            INSERT INTO keepsake_made_step
              (memory_key, kind, number, parent, message_hash, after_hash, up_to_hash, messages, message_ids, failures,
               processed_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (memory_key, kind, number)
            DO UPDATE SET failures = excluded.failures, processed_at = excluded.processed_at
            """;
    }

    @Override
    public String touchStep() {
        return """
            UPDATE keepsake_made_step SET processed_at = ? WHERE memory_key = ? AND kind = ? AND number = ?
            """;
    }

    @Override
    public String memories() {
        return """
            SELECT number, step, shown, memory_text, metadata_json
            FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? ORDER BY number
            """;
    }

    @Override
    public String shown() {
        return """
            SELECT number, step, shown, memory_text, metadata_json
            FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? AND shown = 1 ORDER BY number DESC LIMIT ?
            """;
    }

    @Override
    public String byId() {
        return """
            SELECT number, step, shown, memory_text, metadata_json
            FROM keepsake_made_memory WHERE memory_key = ? AND memory_id = ?
            """;
    }

    @Override
    public String byNumber() {
        return """
            SELECT number, step, shown, memory_text, metadata_json
            FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? AND number = ?
            """;
    }

    @Override
    public String countShown() {
        return """
            SELECT COUNT(*) FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? AND shown = 1 AND trust <= ?
            """;
    }

    @Override
    public String nextNumber() {
        return "SELECT COALESCE(MAX(number), 0) + 1 FROM keepsake_made_memory WHERE memory_key = ? AND kind = ?";
    }

    @Override
    public String newMemory() {
        return """
            INSERT INTO keepsake_made_memory
              (memory_key, kind, number, memory_id, memory_text, date_added, metadata_json, step, shown, trust,
               pinned)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """;
    }

    @Override
    public String putMemory() {
        return """
            UPDATE keepsake_made_memory SET memory_text = ?, metadata_json = ?, shown = ?, trust = ?, pinned = ?
            WHERE memory_key = ? AND kind = ? AND number = ?
            """;
    }

    @Override
    public String newWord() {
        return "INSERT INTO keepsake_made_word (memory_key, term, number, weight) VALUES (?, ?, ?, ?)";
    }

    @Override
    public String deleteWords() {
        return "DELETE FROM keepsake_made_word WHERE memory_key = ? AND number = ?";
    }

    @Override
    public String words() {
        return """
            SELECT w.term, w.number, w.weight
            FROM keepsake_made_word w JOIN keepsake_made_memory m ON m.memory_key = w.memory_key AND m.number = w.number
            WHERE w.memory_key = ? AND w.term IN (SELECT jsonb_array_elements_text(CAST(? AS jsonb)))
              AND m.memory_key = ? AND m.kind = 'FACT' AND m.trust <= ?
            """;
    }
}

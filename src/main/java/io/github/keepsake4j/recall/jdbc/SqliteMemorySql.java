package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;

/**
 * The statements of SQLite. A file has the facts of one discussion, so {@code keepsake_word} has no column for it: its statements
 * name the parameter in vain.
 */
final class SqliteMemorySql implements MemorySql {

    static final String NEW_PLAIN =
            """
            INSERT INTO memories_fts (rowid, title, summary, entities, key_phrases, memory_text) VALUES (?, ?, ?, ?, ?, ?)
            """;

    static final String DELETE_PLAIN = "DELETE FROM memories_fts WHERE rowid = ?";

    /** Rewrites the index without what was removed. */
    static final String OPTIMIZE = "INSERT INTO memories_fts (memories_fts) VALUES ('optimize')";

    @Override
    public Object key(MemoryKey discussion) {
        return discussion instanceof ConversationKey conversation
                ? conversation.conversationId()
                : discussion.canonical();
    }

    @Override
    public boolean hasPlainIndex() {
        return true;
    }

    @Override
    public String newProgress() {
        return """
            INSERT INTO keepsake_progress (discussion_id, kind, revision, head, fingerprint) VALUES (?, ?, ?, 0, ?)
            ON CONFLICT (discussion_id, kind) DO NOTHING
            """;
    }

    @Override
    public String progress() {
        return "SELECT revision, head, fingerprint FROM keepsake_progress WHERE discussion_id = ? AND kind = ?";
    }

    @Override
    public String lockProgress() {
        // The transaction has the only right to write.
        return progress();
    }

    @Override
    public String putProgress() {
        return """
            UPDATE keepsake_progress SET revision = ?, head = ?, fingerprint = ? WHERE discussion_id = ? AND kind = ?
            """;
    }

    @Override
    public String steps() {
        return """
            SELECT id, parent, messages, message_hash, after_hash, up_to_hash, message_ids, failures
            FROM vector_memory_tracker WHERE discussion_id = ? AND kind = ? ORDER BY id
            """;
    }

    @Override
    public String putStep() {
        return """
            INSERT INTO vector_memory_tracker
              (discussion_id, kind, id, parent, message_hash, after_hash, up_to_hash, messages, message_ids, failures,
               timestamp)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET failures = excluded.failures, timestamp = excluded.timestamp
            """;
    }

    @Override
    public String touchStep() {
        return "UPDATE vector_memory_tracker SET timestamp = ? WHERE discussion_id = ? AND kind = ? AND id = ?";
    }

    @Override
    public String memories() {
        return """
            SELECT id, step, shown, memory_text, metadata_json
            FROM memories WHERE discussion_id = ? AND kind = ? ORDER BY id
            """;
    }

    @Override
    public String shown() {
        return """
            SELECT id, step, shown, memory_text, metadata_json
            FROM memories WHERE discussion_id = ? AND kind = ? AND shown = 1 ORDER BY id DESC LIMIT ?
            """;
    }

    @Override
    public String byId() {
        return "SELECT id, step, shown, memory_text, metadata_json FROM memories WHERE discussion_id = ? AND memory_id = ?";
    }

    @Override
    public String byNumber() {
        return "SELECT id, step, shown, memory_text, metadata_json FROM memories"
                + " WHERE discussion_id = ? AND kind = ? AND id = ?";
    }

    @Override
    public String countShown() {
        return "SELECT COUNT(*) FROM memories WHERE discussion_id = ? AND kind = ? AND shown = 1 AND trust <= ?";
    }

    @Override
    public String nextNumber() {
        return "SELECT COALESCE(MAX(id), 0) + 1 FROM memories WHERE discussion_id = ? AND kind = ?";
    }

    @Override
    public String newMemory() {
        return """
            INSERT INTO memories
              (discussion_id, kind, id, memory_id, memory_text, date_added, metadata_json, step, shown, trust,
               pinned)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """;
    }

    @Override
    public String putMemory() {
        return """
            UPDATE memories SET memory_text = ?, metadata_json = ?, shown = ?, trust = ?, pinned = ?
            WHERE discussion_id = ? AND kind = ? AND id = ?
            """;
    }

    @Override
    public String newWord() {
        return "INSERT INTO keepsake_word (term, memory, weight) SELECT term, memory, weight"
                + " FROM (SELECT ? AS discussion, ? AS term, ? AS memory, ? AS weight)";
    }

    @Override
    public String deleteWords() {
        return "DELETE FROM keepsake_word WHERE ? IS NOT NULL AND memory = ?";
    }

    @Override
    public String words() {
        return """
            SELECT w.term, w.memory, w.weight
            FROM keepsake_word w JOIN memories m ON m.id = w.memory
            WHERE ? IS NOT NULL AND w.term IN (SELECT value FROM json_each(?)) AND m.discussion_id = ? AND m.trust <= ?
            """;
    }
}

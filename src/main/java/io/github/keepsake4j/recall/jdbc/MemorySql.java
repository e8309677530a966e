package io.github.keepsake4j.recall.jdbc;

import io.github.keepsake4j.message.MemoryKey;

/** The statements on memories that were made. All of them begin with the parameters discussion and kind, if none are named. */
interface MemorySql {

    /** Returns the value by which rows of a discussion are found. */
    Object key(MemoryKey discussion);

    /** Whether {@code memories_fts} is kept. */
    boolean hasPlainIndex();

    /** Further parameters: revision, fingerprint. Changes nothing if the row is there. */
    String newProgress();

    /** Columns: revision, head, fingerprint. */
    String progress();

    /** As {@link #progress}, and keeps other writers waiting. */
    String lockProgress();

    /** Parameters: revision, head, fingerprint, discussion, kind. */
    String putProgress();

    /** Columns: number, parent, messages, message_hash, after_hash, up_to_hash, message_ids, failures. In order. */
    String steps();

    /**
     * Further parameters: number, parent, message_hash, after_hash, up_to_hash, messages, message_ids, failures, time. Of a step
     * that is there the last two are changed.
     */
    String putStep();

    /** Marks a step as the last one. Parameters: time, discussion, kind, number. */
    String touchStep();

    /** Columns: number, step, shown, memory_text, metadata_json. In order. */
    String memories();

    /** Further parameter: limit. As {@link #memories}, but those that are shown, from the newest. */
    String shown();

    /** As {@link #memories}. Parameters: discussion, memory_id. */
    String byId();

    /** As {@link #memories}. Further parameter: number. */
    String byNumber();

    /** Further parameter: the least trust. */
    String countShown();

    /** The next number of a memory. */
    String nextNumber();

    /** Further parameters: number, memory_id, memory_text, date_added, metadata_json, step, shown, trust, pinned. */
    String newMemory();

    /** Parameters: memory_text, metadata_json, shown, trust, pinned, discussion, kind, number. */
    String putMemory();

    /** Further parameters: term, number, weight. Has no kind. */
    String newWord();

    /** Parameters: discussion, number. */
    String deleteWords();

    /** Columns: term, number, weight. Parameters: discussion, the terms as a JSON array,
     * discussion, the least trust. */
    String words();
}

package io.github.keepsake4j.memories;

/** The kinds of long-term memories. */
public enum LongTermMemoryKind {
    /** A text about one stretch of the conversation, in the ledger. WilmerAI calls it a file memory. */
    CHUNK,

    /** A fact with a title, entities and key phrases, which is searched. WilmerAI calls it a vector memory. */
    FACT,

    /** A version of the summary of all chunks so far. */
    SUMMARY
}

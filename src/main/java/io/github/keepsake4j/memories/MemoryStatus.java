package io.github.keepsake4j.memories;

/** The status of a memory. */
public enum MemoryStatus {
    /** It holds. */
    CURRENT,

    /** A newer memory contradicts it and names it. It can be read and is not found. */
    REPLACED,

    /** It was taken back. Its text is gone. */
    FORGOTTEN
}

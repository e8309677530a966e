package io.github.keepsake4j.workflow;

/** What happens if a node with a memory of its own runs without a conversation, so that its memory has no key. */
public enum MissingConversation {
    /** The node runs without memory. This is logged once for each node. */
    NO_MEMORY,
    /** The node's run fails with a configuration error. */
    ERROR
}

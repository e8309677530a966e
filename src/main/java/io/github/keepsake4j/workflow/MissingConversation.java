package io.github.keepsake4j.workflow;

/** What a node with a memory of its own does where there is no conversation, so that there is nothing to keep it by. */
public enum MissingConversation {
    /** The node runs without memory; that is logged once for each node. */
    NO_MEMORY,
    /** The node's run fails with an error of configuration. */
    ERROR
}

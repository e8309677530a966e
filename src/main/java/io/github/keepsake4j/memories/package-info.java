/**
 * Long-term memories, which a model creates from a conversation: chunks in a ledger, facts that are searched, and a
 * rolling summary. Creators make them, and retrievers read them. Start with
 * {@link io.github.keepsake4j.memories.Discussions}.
 */
@NullMarked
package io.github.keepsake4j.memories;

import org.jspecify.annotations.NullMarked;

/**
 * Stores of long-term memories on the heap, for tests. Start with
 * {@link io.github.keepsake4j.memories.inmemory.InMemoryLongTermMemoryStore}.
 */
@NullMarked
package io.github.keepsake4j.memories.inmemory;

import org.jspecify.annotations.NullMarked;

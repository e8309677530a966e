/**
 * An index in this process's memory, for tests and small logs. Start with
 * {@link io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex}.
 */
@NullMarked
package io.github.keepsake4j.recall.inmemory;

import org.jspecify.annotations.NullMarked;

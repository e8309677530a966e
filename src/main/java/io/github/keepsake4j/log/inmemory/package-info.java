/**
 * A log in the heap. Start with {@link io.github.keepsake4j.log.inmemory.InMemoryMessageLog}. It is meant for tests,
 * samples and data that need not outlive the process.
 */
@NullMarked
package io.github.keepsake4j.log.inmemory;

import org.jspecify.annotations.NullMarked;

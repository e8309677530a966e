/**
 * A log in the heap: {@link io.github.keepsake4j.log.inmemory.InMemoryMessageLog}, for tests, samples and what need not
 * outlive the process.
 */
@NullMarked
package io.github.keepsake4j.log.inmemory;

import org.jspecify.annotations.NullMarked;

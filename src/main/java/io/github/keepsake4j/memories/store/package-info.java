/**
 * What the stores of long-term memories share: checks of calls, the tracks of a memory in the heap, and the stored form
 * of a memory.
 *
 * <p>Internal: may change in any version.
 */
@NullMarked
package io.github.keepsake4j.memories.store;

import org.jspecify.annotations.NullMarked;

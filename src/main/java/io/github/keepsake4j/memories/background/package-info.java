/**
 * Creates the long-term memories of a conversation in the background, from the messages of its branch.
 *
 * <p>Internal: may change in any version.
 */
@NullMarked
package io.github.keepsake4j.memories.background;

import org.jspecify.annotations.NullMarked;

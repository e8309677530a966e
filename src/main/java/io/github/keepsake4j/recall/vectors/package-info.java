/**
 * The stored form of vectors of messages, which is the same in every index.
 *
 * <p>Internal: may change in any version.
 */
@NullMarked
package io.github.keepsake4j.recall.vectors;

import org.jspecify.annotations.NullMarked;

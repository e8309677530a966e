/**
 * The stored form of a message: versioned JSON without loss, and a reader that tolerates the additions of newer
 * versions.
 *
 * <p>The golden files of every released format stay readable, and a reader ignores fields and types that it does not
 * know.
 *
 * <p>Internal: may change in any version.
 */
@NullMarked
package io.github.keepsake4j.codec;

import org.jspecify.annotations.NullMarked;

/**
 * What knows no message: checks of input, files that are written whole, lock files, a cache of what was used
 * recently, and waits that an interrupt does not end.
 *
 * <p>Internal: may change in any version.
 */
@NullMarked
package io.github.keepsake4j.base;

import org.jspecify.annotations.NullMarked;

/**
 * Removal of memories that are no longer needed. Start with {@link io.github.keepsake4j.retention.CleanUp}.
 */
@NullMarked
package io.github.keepsake4j.retention;

import org.jspecify.annotations.NullMarked;

/**
 * Search and recall over the whole log.
 */
@NullMarked
package io.github.keepsake4j.recall;

import org.jspecify.annotations.NullMarked;

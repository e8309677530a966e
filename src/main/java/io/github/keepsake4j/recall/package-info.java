/**
 * Search over the whole log. A {@link io.github.keepsake4j.recall.MessageIndex} is a view of the log that is made in the
 * background.
 */
@NullMarked
package io.github.keepsake4j.recall;

import org.jspecify.annotations.NullMarked;

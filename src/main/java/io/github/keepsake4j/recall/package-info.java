/**
 * Search and recall over the whole log. Start with {@code Keepsake.search()} and {@code Keepsake.recall()}. A
 * {@link io.github.keepsake4j.recall.MessageIndex} is built from the log in the background;
 * {@link io.github.keepsake4j.recall.words.Words} splits texts into its terms.
 */
@NullMarked
package io.github.keepsake4j.recall;

import org.jspecify.annotations.NullMarked;

/**
 * Splits text into the words under which messages are found. Depends on no other package. Start with
 * {@link io.github.keepsake4j.recall.words.Words}.
 */
@NullMarked
package io.github.keepsake4j.recall.words;

import org.jspecify.annotations.NullMarked;

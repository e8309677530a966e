/**
 * Pure functions on text that a model reads: excerpts of long texts, transcripts, and the marks around quoted text.
 *
 * <p>Internal: may change in any version.
 */
@NullMarked
package io.github.keepsake4j.text;

import org.jspecify.annotations.NullMarked;

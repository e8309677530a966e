/**
 * The view of a memory: the list that a caller sees and sets. {@link io.github.keepsake4j.view.ViewReader} reads it.
 * It also recognizes the messages that reads returned.
 * {@link io.github.keepsake4j.view.ViewWriter} makes the log show a list that a caller sets.
 *
 * <p>Internal: may change in any version.
 */
@NullMarked
package io.github.keepsake4j.view;

import org.jspecify.annotations.NullMarked;

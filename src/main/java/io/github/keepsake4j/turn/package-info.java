/**
 * Turns of a conversation. A {@link io.github.keepsake4j.turn.Turn} tells where a turn begins, for example behind a question
 * that is asked again. For a turn that begins while another one is in progress, a
 * {@link io.github.keepsake4j.turn.TurnPolicy} determines what it does. Turns exclude each other by a lease in the log. Applications call
 * {@code Keepsake.turn(id, ...)}.
 */
@NullMarked
package io.github.keepsake4j.turn;

import org.jspecify.annotations.NullMarked;

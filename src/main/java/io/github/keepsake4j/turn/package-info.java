/**
 * Turns of a conversation that begin while another turn is in progress. A {@link io.github.keepsake4j.turn.TurnPolicy}
 * determines what the later turn does. Turns exclude each other by a lease in the log. Applications call
 * {@code Keepsake.turn(id, ...)}.
 */
@NullMarked
package io.github.keepsake4j.turn;

import org.jspecify.annotations.NullMarked;

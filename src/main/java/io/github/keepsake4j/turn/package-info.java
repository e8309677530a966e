/**
 * Turns of a conversation. Start with {@code Keepsake.turn(id, ...)}. A {@link io.github.keepsake4j.turn.Turn} names
 * the message that is retried, regenerated or edited. A {@link io.github.keepsake4j.turn.TurnPolicy} determines the
 * behavior of a turn that begins while another one is in progress. Turns exclude each other by a lease in the log.
 */
@NullMarked
package io.github.keepsake4j.turn;

import org.jspecify.annotations.NullMarked;

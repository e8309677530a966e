/**
 * Turns of a conversation that meet: what the second one does ({@link io.github.keepsake4j.turn.TurnPolicy}), by a lease in
 * the log. Users call {@code Keepsake.turn(id, ...)}.
 */
@NullMarked
package io.github.keepsake4j.turn;

import org.jspecify.annotations.NullMarked;

/**
 * Selects the messages that a model sees of a memory. Start with {@link io.github.keepsake4j.context.SlidingWindow}. A
 * {@link io.github.keepsake4j.context.ContextStrategy} is a pure function from the newest part of a branch, divided
 * into turns ({@link io.github.keepsake4j.context.Context}), to the messages that are shown. A window and
 * {@link io.github.keepsake4j.context.TokenLimit} are limits; {@link io.github.keepsake4j.context.ClearToolResults}
 * replaces results. A strategy that leaves out turns calls {@code Context.keepTurns}. Strategies never access a store.
 */
@NullMarked
package io.github.keepsake4j.context;

import org.jspecify.annotations.NullMarked;

/**
 * The log of messages: the interface {@link io.github.keepsake4j.log.MessageLog}, its inputs and results, and its
 * exceptions. {@link io.github.keepsake4j.view.ViewReader} reads the messages that a caller sees.
 * {@link io.github.keepsake4j.log.AppendRules} and {@link io.github.keepsake4j.log.MemoryTree} are for authors of
 * backends.
 */
@NullMarked
package io.github.keepsake4j.log;

import org.jspecify.annotations.NullMarked;

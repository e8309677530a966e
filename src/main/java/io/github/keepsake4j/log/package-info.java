/**
 * The log of messages: the port {@link io.github.keepsake4j.log.MessageLog}, what goes in and out of it, and its errors.
 * {@link io.github.keepsake4j.view.ViewReader} reads what a caller sees; {@link io.github.keepsake4j.log.AppendRules} and
 * {@link io.github.keepsake4j.log.MemoryTree} are for authors of backends.
 */
@NullMarked
package io.github.keepsake4j.log;

import org.jspecify.annotations.NullMarked;

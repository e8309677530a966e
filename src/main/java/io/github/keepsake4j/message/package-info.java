/**
 * What a memory is made of: records without I/O. A {@link io.github.keepsake4j.message.MemoryKey} names a memory, a
 * {@link io.github.keepsake4j.message.LoggedMessage} is one message in it, a {@link io.github.keepsake4j.message.Branch}
 * one line of the conversation; {@link io.github.keepsake4j.message.KeepsakeException} is the root of all errors.
 */
@NullMarked
package io.github.keepsake4j.message;

import org.jspecify.annotations.NullMarked;

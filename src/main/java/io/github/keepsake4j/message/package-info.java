/**
 * The values that make up a memory, without any I/O. Start with {@link io.github.keepsake4j.message.ConversationKey}. A
 * {@link io.github.keepsake4j.message.MemoryKey} names a memory. A {@link io.github.keepsake4j.message.LoggedMessage}
 * is one message in it, and a {@link io.github.keepsake4j.message.Branch} is one branch of the conversation.
 * {@link io.github.keepsake4j.message.KeepsakeException} is the root of all exceptions.
 */
@NullMarked
package io.github.keepsake4j.message;

import org.jspecify.annotations.NullMarked;

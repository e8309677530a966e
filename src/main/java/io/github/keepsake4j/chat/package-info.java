/**
 * LangChain4j's chat memory over the log. Start with {@code Keepsake.chatMemoryProvider()}, which gives
 * {@link io.github.keepsake4j.chat.KeepsakeChatMemory}, and with {@code Keepsake.conversation(id)}, which gives
 * {@link io.github.keepsake4j.chat.Conversation}. {@link io.github.keepsake4j.chat.KeepsakeChatMemoryStore} is the
 * store for other memories. The other classes bind calls of AI services to the turns of these memories ({@code
 * BoundTurn}), decide which message a turn follows ({@code TurnPosition}), record how the turns end, and report metrics
 * ({@code Meter}).
 */
@NullMarked
package io.github.keepsake4j.chat;

import org.jspecify.annotations.NullMarked;

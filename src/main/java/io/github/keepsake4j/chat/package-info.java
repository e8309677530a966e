/**
 * LangChain4j's chat memory over the log. {@link io.github.keepsake4j.chat.KeepsakeChatMemory} is the memory, and
 * {@link io.github.keepsake4j.chat.KeepsakeChatMemoryStore} is the store for other memories. Applications obtain them
 * from {@code Keepsake.chatMemoryProvider()} and {@code Keepsake.chatMemoryStore()}. The other classes bind calls of AI
 * services to the turns of these memories ({@code BoundTurn}), decide which message a turn follows
 * ({@code TurnPosition}), record how the turns end, and report metrics ({@code Meter}).
 */
@NullMarked
package io.github.keepsake4j.chat;

import org.jspecify.annotations.NullMarked;

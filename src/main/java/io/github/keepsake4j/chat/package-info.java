/**
 * LangChain4j's chat memory over the log: {@link io.github.keepsake4j.chat.KeepsakeChatMemory}, and its store for other
 * memories: {@link io.github.keepsake4j.chat.KeepsakeChatMemoryStore}. Users get them from
 * {@code Keepsake.chatMemoryProvider()} and {@code Keepsake.chatMemoryStore()}.
 */
@NullMarked
package io.github.keepsake4j.chat;

import org.jspecify.annotations.NullMarked;

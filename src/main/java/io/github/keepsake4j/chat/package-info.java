/**
 * LangChain4j's chat memory over the log: {@link io.github.keepsake4j.chat.KeepsakeChatMemory}. Users get one from
 * {@code Keepsake.chatMemoryProvider()}.
 */
@NullMarked
package io.github.keepsake4j.chat;

import org.jspecify.annotations.NullMarked;

package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.NewMessage;
import org.jspecify.annotations.Nullable;

/**
 * A message on its way to another memory.
 *
 * @param message the message to append; its sources are named by {@linkplain MemorySource#number numbers}
 * @param parentId the id of the message that it follows, or null
 */
record Moved(NewMessage message, @Nullable String parentId) {}

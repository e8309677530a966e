/** Stores of long-term memories in files. Start with {@link io.github.keepsake4j.memories.file.FileLongTermMemoryStore}. */
@NullMarked
package io.github.keepsake4j.memories.file;

import org.jspecify.annotations.NullMarked;

/**
 * Ways into a log and out of it. Start with {@code Keepsake.Builder.importFrom}.
 * {@link io.github.keepsake4j.transfer.ImportSource} reads the conversations of another store and imports them when they
 * are used;
 * {@link io.github.keepsake4j.transfer.MemoryCopy} copies memories between logs;
 * {@link io.github.keepsake4j.transfer.MemoryFork} makes one memory from another;
 * {@link io.github.keepsake4j.transfer.NdjsonExport} writes and reads memories as lines of JSON;
 * {@link io.github.keepsake4j.transfer.MarkdownExport} writes them for people;
 * {@link io.github.keepsake4j.transfer.LangChain4jExport} writes messages as LangChain4j's own JSON.
 */
@NullMarked
package io.github.keepsake4j.transfer;

import org.jspecify.annotations.NullMarked;

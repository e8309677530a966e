/**
 * What search and memories keep in SQL databases: {@link io.github.keepsake4j.recall.jdbc.JdbcMessageIndex}, the index of a log;
 * {@link io.github.keepsake4j.recall.jdbc.JdbcMemoryStore} and, in files,
 * {@link io.github.keepsake4j.recall.jdbc.FileMemoryStore}, the memories that were made of conversations.
 */
@NullMarked
package io.github.keepsake4j.recall.jdbc;

import org.jspecify.annotations.NullMarked;

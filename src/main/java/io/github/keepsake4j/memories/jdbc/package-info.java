/** Stores of long-term memories in SQL databases. Start with {@link io.github.keepsake4j.memories.jdbc.JdbcLongTermMemoryStore}. */
@NullMarked
package io.github.keepsake4j.memories.jdbc;

import org.jspecify.annotations.NullMarked;

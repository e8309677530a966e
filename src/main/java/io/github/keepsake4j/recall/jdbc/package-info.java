/** Indexes in SQL databases. Start with {@link io.github.keepsake4j.recall.jdbc.JdbcMessageIndex}. */
@NullMarked
package io.github.keepsake4j.recall.jdbc;

import org.jspecify.annotations.NullMarked;

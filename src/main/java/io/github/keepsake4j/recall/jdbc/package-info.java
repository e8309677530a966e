/**
 * Indexes in SQL databases, for search over a log: {@link io.github.keepsake4j.recall.jdbc.JdbcMessageIndex}.
 */
@NullMarked
package io.github.keepsake4j.recall.jdbc;

import org.jspecify.annotations.NullMarked;

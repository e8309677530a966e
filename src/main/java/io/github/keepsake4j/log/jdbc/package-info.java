/**
 * The log in a relational database. Start with {@link io.github.keepsake4j.log.jdbc.JdbcMessageLog}. The tables are in
 * {@code io/github/keepsake4j/schema}. Every statement is a whole text in {@code Sql}, or, if only one database accepts
 * it, in {@code SqliteSql} or {@code PostgresSql}. A {@code Dialect} chooses between these.
 */
@NullMarked
package io.github.keepsake4j.log.jdbc;

import org.jspecify.annotations.NullMarked;

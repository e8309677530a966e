/**
 * The log in a relational database: {@link io.github.keepsake4j.log.jdbc.JdbcMessageLog} is what users
 * open. The tables are in {@code io/github/keepsake4j/schema}. Every statement stands whole in {@code Sql}, or, where only one
 * database takes it, in {@code SqliteSql} or {@code PostgresSql}; a {@code Dialect} chooses.
 */
@NullMarked
package io.github.keepsake4j.log.jdbc;

import org.jspecify.annotations.NullMarked;

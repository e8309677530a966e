/**
 * The log in a relational database: {@link io.github.keepsake4j.log.jdbc.JdbcMessageLog} is the one public class. The
 * tables are in {@code io/github/keepsake4j/schema}; every statement stands whole in {@code Sql}.
 */
@NullMarked
package io.github.keepsake4j.log.jdbc;

import org.jspecify.annotations.NullMarked;

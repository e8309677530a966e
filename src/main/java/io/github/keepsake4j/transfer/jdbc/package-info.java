/**
 * Reads the tables in which other libraries and applications keep conversations. Start with
 * {@link io.github.keepsake4j.transfer.jdbc.JdbcImportSource}.
 */
@NullMarked
package io.github.keepsake4j.transfer.jdbc;

import org.jspecify.annotations.NullMarked;

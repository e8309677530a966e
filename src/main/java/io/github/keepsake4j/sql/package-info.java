/**
 * The common base of all packages with SQL: connections, poolers, timeouts, scripts and versions of tables, errors,
 * retries. The packages above it have only statements and the meaning of their rows. Applications use only
 * {@link io.github.keepsake4j.sql.SchemaMode} and {@link io.github.keepsake4j.sql.PostgresBuilder}. All other classes
 * are internal and may change in any version.
 */
@NullMarked
package io.github.keepsake4j.sql;

import org.jspecify.annotations.NullMarked;

/**
 * The common base of all packages with SQL: connections, poolers, timeouts, scripts and versions of tables, errors,
 * retries. {@code PostgresConnections} repeats transactions that lost a race, as
 * {@link io.github.keepsake4j.sql.SqlStates} classifies errors. The packages above it have only statements and the meaning of their rows.
 *
 * <p>Internal: may change in any version.
 */
@NullMarked
package io.github.keepsake4j.sql;

import org.jspecify.annotations.NullMarked;

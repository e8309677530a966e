/**
 * The floor below all that speaks SQL: connections, poolers, time-outs, scripts and versions of tables, errors, retries. Above
 * it there are only statements and what their rows mean. Of this, {@link io.github.keepsake4j.sql.SchemaMode} and
 * {@link io.github.keepsake4j.sql.PostgresBuilder} are for applications. All else is internal: it may change in any version.
 */
@NullMarked
package io.github.keepsake4j.sql;

import org.jspecify.annotations.NullMarked;

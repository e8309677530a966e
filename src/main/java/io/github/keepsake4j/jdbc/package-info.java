/**
 * The settings of all stores in PostgreSQL. Start with {@link io.github.keepsake4j.jdbc.PostgresBuilder}. Tables are
 * created as {@link io.github.keepsake4j.jdbc.SchemaMode} says.
 */
@NullMarked
package io.github.keepsake4j.jdbc;

import org.jspecify.annotations.NullMarked;

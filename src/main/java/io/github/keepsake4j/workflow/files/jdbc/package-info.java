/**
 * Looks up a workflow's files in the tables of its database. Start with
 * {@link io.github.keepsake4j.workflow.files.jdbc.JdbcFileResolver}.
 */
@NullMarked
package io.github.keepsake4j.workflow.files.jdbc;

import org.jspecify.annotations.NullMarked;

/**
 * Converts the file references of a history to contents that a model accepts. Start with
 * {@link io.github.keepsake4j.workflow.files.FileRebuilder}. {@link io.github.keepsake4j.workflow.files.FileResolver}
 * looks the files up, {@link io.github.keepsake4j.workflow.files.FileContentSource} loads their contents, and
 * {@link io.github.keepsake4j.workflow.files.FileRebuilder} puts both together.
 */
@NullMarked
package io.github.keepsake4j.workflow.files;

import org.jspecify.annotations.NullMarked;

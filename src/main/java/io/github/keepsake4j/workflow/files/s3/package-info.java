/**
 * Loads the contents of a workflow's files from S3. Start with
 * {@link io.github.keepsake4j.workflow.files.s3.S3FileContentSource}. Requires {@code software.amazon.awssdk:s3}.
 */
@NullMarked
package io.github.keepsake4j.workflow.files.s3;

import org.jspecify.annotations.NullMarked;

/**
 * The log in a bucket: {@link io.github.keepsake4j.log.s3.S3MessageLog}. Each memory is one JSON document that anybody can
 * read; what role, content and files cannot say stands in fields that a plain reader ignores. {@code ObjectNames} says
 * where a memory lies, {@code DocumentReader} and {@code Change} know the format, {@code DocumentStore} writes on
 * conditions, {@code Bucket} speaks S3.
 */
@NullMarked
package io.github.keepsake4j.log.s3;

import org.jspecify.annotations.NullMarked;

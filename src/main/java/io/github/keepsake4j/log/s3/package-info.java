/**
 * A log in a bucket: {@link io.github.keepsake4j.log.s3.S3MessageLog}. Each memory is one JSON document that any program can
 * read; what role, content and files cannot say is in fields that a plain reader ignores.
 *
 * <p>From the bucket upward: {@code Bucket} speaks S3, and {@code ObjectNames} names the objects. {@code DocumentParser},
 * {@code Element} and {@code KeepsakeField} know the format; {@code DocumentReader} and {@code DocumentWriter} turn documents
 * into memories and back. {@code DocumentStore} changes memories by conditional writes. {@code TurnMode} is a layer over the
 * store, and {@code MovedContents} a layer between messages and elements.
 */
@NullMarked
package io.github.keepsake4j.log.s3;

import org.jspecify.annotations.NullMarked;

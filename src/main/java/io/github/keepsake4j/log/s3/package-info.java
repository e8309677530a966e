/**
 * A log in a bucket. Start with {@link io.github.keepsake4j.log.s3.S3MessageLog}. Each memory is one JSON document that
 * any program can read; role, content and files are public, and all other data is in fields that a plain reader
 * ignores.
 *
 * <p>From the bucket upward: {@code Bucket} sends requests, and {@code ObjectNames} names the objects.
 * {@code DocumentParser}, {@code Element} and {@code KeepsakeField} know the format; {@code DocumentReader} and
 * {@code DocumentWriter} convert documents to memories and back. {@code DocumentStore} changes memories by conditional
 * writes. {@code TurnMode} is a layer over the store, and {@code MovedContents} a layer between messages and elements.
 */
@NullMarked
package io.github.keepsake4j.log.s3;

import org.jspecify.annotations.NullMarked;

/**
 * The log of messages. Start with {@link io.github.keepsake4j.MessageLogs}, which opens one, and
 * {@link io.github.keepsake4j.log.MessageLog}, the interface with its roles {@link io.github.keepsake4j.log.Leases} and
 * {@link io.github.keepsake4j.log.Care}, its inputs and results, and its exceptions.
 * {@link io.github.keepsake4j.log.Reads} has short forms of common reads. {@link io.github.keepsake4j.view.ViewReader}
 * reads the messages that a caller sees. {@link io.github.keepsake4j.log.ForwardingMessageLog} is for decorators. The
 * package {@code backend} helps authors of stores.
 */
@NullMarked
package io.github.keepsake4j.log;

import org.jspecify.annotations.NullMarked;

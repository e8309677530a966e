package io.github.keepsake4j.log;

import java.time.Instant;

/**
 * The right to do one kind of work on a memory.
 *
 * @param name the kind of work
 * @param owner the owner of the lease
 * @param expiresAt when the lease ends if it is not renewed, by the clock by which the log measures leases
 */
public record Lease(String name, String owner, Instant expiresAt) {}

package io.github.keepsake4j.log;

import java.time.Instant;

/**
 * The right to do one kind of work on a memory.
 *
 * @param name the kind of work
 * @param owner who holds it
 * @param expiresAt when it ends unless it is renewed, by the store's clock
 */
public record Lease(String name, String owner, Instant expiresAt) {}

/**
 * A log in Redis: {@link io.github.keepsake4j.log.redis.RedisMessageLog}.
 *
 * <p>A memory is one hash and two sorted sets in one slot. Each call is one script that the server runs as a whole. A
 * tenant's list lies in another slot, so a memory is registered there before its first append.
 */
@NullMarked
package io.github.keepsake4j.log.redis;

import org.jspecify.annotations.NullMarked;

/**
 * A log in Redis: {@link io.github.keepsake4j.log.redis.RedisMessageLog}.
 *
 * <p>A memory is one hash and two sorted sets in one slot. Each call is one script that the server runs as a whole. A
 * tenant's list lies in another slot, so a memory is registered there before its first append.
 *
 * <p>{@code Commands} runs a script through Jedis and tells what a failure means. {@code MemoryScript} is the script of a
 * memory, which {@code Writer}, {@code Reader}, {@code Leases} and {@code Checker} ask; {@code TenantList} is that of a
 * tenant's list, and {@code Listing} brings both together. {@code ServerSettings} knows what may be lost.
 */
@NullMarked
package io.github.keepsake4j.log.redis;

import org.jspecify.annotations.NullMarked;

/**
 * A log in Redis. Start with {@link io.github.keepsake4j.log.redis.RedisMessageLog}.
 *
 * <p>A memory is one hash and two sorted sets in one slot. Each call is one script that the server runs as a whole. A
 * tenant's list is in another slot, so a memory is registered there before its first append.
 *
 * <p>{@code Commands} runs a script through Jedis and translates failures. {@code MemoryScript} is the script of a
 * memory; {@code Writer}, {@code Reader}, {@code Leases} and {@code Checker} use it. {@code TenantList} is the script
 * of a tenant's list. {@code Listing} uses both. {@code ServerSettings} checks for settings that may lose messages.
 */
@NullMarked
package io.github.keepsake4j.log.redis;

import org.jspecify.annotations.NullMarked;

/**
 * A log in plain files, for one machine without a database. Start with
 * {@link io.github.keepsake4j.log.file.FileMessageLog}.
 *
 * <p>Each memory is one append-only file of JSON lines. The first line names the memory. Each further line is one
 * change. Everything else that is stored can be rebuilt from these lines, except leases and the tombstones of erased
 * memories. The guide's page {@code sqlite-files-redis.md} describes the format.
 */
@NullMarked
package io.github.keepsake4j.log.file;

import org.jspecify.annotations.NullMarked;

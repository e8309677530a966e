/**
 * A log in plain files, for one machine without a database: {@link io.github.keepsake4j.log.file.FileMessageLog}.
 *
 * <p>Each memory is one file of JSON lines, to which only is appended. The first line names the memory. Each further line
 * is one change. Everything else that is stored can be made again from these lines, except leases and the tombstones of
 * erased memories. The guide's page {@code files.md} describes the format.
 */
@NullMarked
package io.github.keepsake4j.log.file;

import org.jspecify.annotations.NullMarked;

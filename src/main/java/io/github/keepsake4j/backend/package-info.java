/**
 * What the stores of logs share: the tree of a memory's messages in the heap, the rules of an append and of a lease,
 * the stored form of records, and leases in files. A store that reads and writes a memory in one piece extends
 * {@link io.github.keepsake4j.backend.TreeMessageLog}. One that has the tree in the heap and appends changes extends
 * {@link io.github.keepsake4j.backend.PlannedTreeLog}. Others, such as those of SQL and Redis, implement
 * {@link io.github.keepsake4j.log.MessageLog}.
 *
 * <p>Internal: may change in any version.
 */
@NullMarked
package io.github.keepsake4j.backend;

import org.jspecify.annotations.NullMarked;

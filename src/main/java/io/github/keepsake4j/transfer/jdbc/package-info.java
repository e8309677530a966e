/** Reads the tables in which other libraries and applications keep conversations. */
@NullMarked
package io.github.keepsake4j.transfer.jdbc;

import org.jspecify.annotations.NullMarked;

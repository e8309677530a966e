/** What all share that sends statements to a database. Internal: it may change in any version. */
@NullMarked
package io.github.keepsake4j.sql;

import org.jspecify.annotations.NullMarked;

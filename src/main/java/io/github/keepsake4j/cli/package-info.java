/**
 * The command line: {@link io.github.keepsake4j.cli.Main}. Each command is a class that calls the same methods as an
 * application. No other package uses this one.
 *
 * <p>Internal: may change in any version.
 */
@NullMarked
package io.github.keepsake4j.cli;

import org.jspecify.annotations.NullMarked;

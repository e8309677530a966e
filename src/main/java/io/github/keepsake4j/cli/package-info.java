/**
 * The command line: {@link io.github.keepsake4j.cli.Main}. Each command is a class of its own that calls what an application
 * would call. No other package knows of it.
 */
@NullMarked
package io.github.keepsake4j.cli;

import org.jspecify.annotations.NullMarked;

package io.github.keepsake4j.cli;

import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;

/**
 * The environment of a command.
 *
 * @param in the standard input
 * @param out the standard output, for data only
 * @param err the standard error stream, for errors, notes and progress
 * @param rewrites whether a line of the standard error stream may be rewritten, because it is a terminal
 * @param ansi whether the output has colours
 * @param environment returns a variable of the environment, or null
 * @param nanoTime the clock for progress
 */
record Host(
        InputStream in,
        Output out,
        PrintWriter err,
        boolean rewrites,
        Ansi ansi,
        Environment environment,
        LongSupplier nanoTime) {

    /** Returns a variable of the environment, or null. */
    @FunctionalInterface
    interface Environment {
        @Nullable
        String get(String name);
    }

    /** The root of the tree of commands, which has the environment of all of them. */
    interface Root {
        Host host();
    }

    static Host ofProcess(OutputStream data, PrintStream err) {
        boolean rewrites = Terminal.isStandardError() && !"dumb".equals(System.getenv("TERM"));
        return new Host(
                System.in,
                new Output(data, Terminal.isStandardOutput()),
                new PrintWriter(err, true, StandardCharsets.UTF_8),
                rewrites,
                Terminal.isStandardOutput() ? Ansi.AUTO : Ansi.OFF,
                System::getenv,
                System::nanoTime);
    }

    /** Prints a note for the user, which is not data. */
    void note(String text) {
        err.println("keepsake: " + text);
        err.flush();
    }

    ProgressLine progress() {
        return new ProgressLine(err, rewrites, nanoTime);
    }
}

package io.github.keepsake4j.cli;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Checks whether a stream of this process is a terminal. Java reports this only for input and output together. */
final class Terminal {

    private Terminal() {}

    static boolean isStandardOutput() {
        return is(1);
    }

    static boolean isStandardError() {
        return is(2);
    }

    private static boolean is(int descriptor) {
        Path link = Path.of("/proc/self/fd/" + descriptor);
        if (!Files.exists(link)) {
            return isConsole();
        }
        try {
            String target = Files.readSymbolicLink(link).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException e) {
            return false;
        }
    }

    /** Since JDK 22 there may be a console without a terminal. */
    @SuppressWarnings("SystemConsoleNull")
    private static boolean isConsole() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException e) {
            return true;
        }
    }
}

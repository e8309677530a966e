package io.github.keepsake4j.cli;

import io.github.keepsake4j.base.Library;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;

/**
 * The command line, for logs in any store. It requires picocli on the class path. {@code --help} lists the commands and the
 * exit codes.
 *
 * <pre>{@code
 * java -cp … io.github.keepsake4j.cli.Main history --log sqlite:chat.db --session alice
 * }</pre>
 */
public final class Main {

    private Main() {}

    /**
     * Runs one command, and ends the process with its exit code.
     *
     * @param arguments the command and its options
     */
    public static void main(String[] arguments) {
        // Unlike System.out, this stream fails when its reader has gone.
        OutputStream data = new FileOutputStream(FileDescriptor.out);
        // Only data goes to the standard output. A logger of the class path may print there.
        System.setOut(System.err);
        // A class path without a logger is normal here.
        if (System.getProperty("slf4j.internal.verbosity") == null) {
            System.setProperty("slf4j.internal.verbosity", "ERROR");
        }
        System.exit(run(arguments, data, System.err));
    }

    /** Uses no class of picocli before checking that it is present. */
    static int run(String[] arguments, OutputStream data, PrintStream err) {
        if (!Library.PICOCLI.isThere()) {
            err.println("keepsake: " + Library.PICOCLI.missing());
            return ExitCodes.FAILED;
        }
        return CommandTree.run(Host.ofProcess(data, err), arguments);
    }
}

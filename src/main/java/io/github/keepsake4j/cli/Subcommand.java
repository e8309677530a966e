package io.github.keepsake4j.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What all commands have in common. */
@Command(
        sortOptions = false,
        optionListHeading = "%nOptions:%n",
        abbreviateSynopsis = true,
        headerHeading = "",
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        footerHeading = "%n",
        footer = "keepsake --help lists the commands and the exit codes.")
abstract class Subcommand implements Callable<Integer> {

    private final Host host;

    @Option(names = "--json", description = "Prints JSON instead of text.", order = 90)
    private boolean json;

    @Option(names = "--verbose", description = "Shows the stack trace of an error.", order = 91)
    private boolean verbose;

    /** picocli reads it. */
    @SuppressWarnings("UnusedVariable")
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this help.",
            order = 92)
    private boolean help;

    Subcommand(Host host) {
        this.host = host;
    }

    /** Runs the command and returns its exit code. */
    abstract int run();

    /** Returns the text of an error with the options in place of the library's names of inputs. */
    String withOptionNames(String problem) {
        return OptionNames.in(problem);
    }

    @Override
    public final Integer call() {
        return run();
    }

    Host host() {
        return host;
    }

    Output out() {
        return host.out();
    }

    boolean json() {
        return json;
    }

    boolean verbose() {
        return verbose;
    }
}

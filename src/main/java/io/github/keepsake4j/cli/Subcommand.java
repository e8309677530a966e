package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The common base of all commands. */
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

    @Spec
    private CommandSpec spec = CommandSpec.create();

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

    /** Prints data: as a line of JSON, or as text for people. */
    void print(Map<String, @Nullable Object> fields, String forPeople) {
        out().line(json ? PlainJson.write(fields) : forPeople);
    }

    /**
     * Prints a note if a memory is not in the log, because the id may be wrong.
     *
     * @param key the memory, or null if none is named
     * @return whether the named memory is in the log
     */
    boolean noteIfEmpty(MessageLog log, @Nullable MemoryKey key) {
        if (key == null || Reads.isThere(log, key)) {
            return true;
        }
        host().note("memory " + key + " is not in the log");
        return false;
    }

    /** Returns whether an option was given, rather than taken by default. */
    boolean isGiven(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    /** Returns the name of the command. */
    String name() {
        return spec.name();
    }

    Host host() {
        return ((Host.Root) spec.root().userObject()).host();
    }

    Output out() {
        return host().out();
    }

    TerminalText text() {
        return new TerminalText(host().ansi());
    }

    boolean json() {
        return json;
    }

    boolean verbose() {
        return verbose;
    }
}

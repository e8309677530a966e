package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Prints an error in one line, and chooses the exit code. Never quotes text that may belong to a message. */
record Failures(Host host) implements IParameterExceptionHandler, IExecutionExceptionHandler {

    private static final Pattern OPTION = Pattern.compile("(--?[a-z][a-z-]*)(=.*)?");
    private static final String NO_NUMBER = "^Invalid value for option '(.*)': '(.*)' is not an? (?:int|long)$";
    private static final Pattern COMMAND = Pattern.compile("[a-z-]{1,30}");

    @Override
    public int handleParseException(ParameterException e, String[] arguments) {
        CommandLine command = e.getCommandLine();
        // A misspelt option is also a missing one. The error about the misspelling is more helpful.
        List<String> unmatched = command.getUnmatchedArguments();
        String problem = unmatched.isEmpty()
                ? String.valueOf(e.getMessage()).replaceFirst(NO_NUMBER, "$1: must be a whole number, is $2")
                : unmatched(command, unmatched);
        say(command, problem + "; see " + command.getCommandSpec().qualifiedName() + " --help");
        return ExitCodes.USAGE;
    }

    int lacksValue(String option) {
        host.note("the option " + option + " lacks its value; if the value is the name of an option, write " + option
                + "=<value>");
        return ExitCodes.USAGE;
    }

    private static String unmatched(CommandLine command, List<String> unmatched) {
        String first = unmatched.get(0);
        List<String> guesses = new UnmatchedArgumentException(command, unmatched).getSuggestions();
        String guess = guesses.isEmpty() ? "" : "; did you mean " + String.join(" or ", guesses) + "?";
        var option = OPTION.matcher(first);
        if (option.matches()) {
            return "the option " + option.group(1) + " is not known" + guess;
        }
        if (command.getParent() == null && COMMAND.matcher(first).matches()) {
            return "the command " + first + " is not known" + guess;
        }
        return "an argument belongs to no option; quote a text that has spaces";
    }

    @Override
    public int handleExecutionException(Exception e, CommandLine command, ParseResult result) {
        if (e instanceof Output.FailedException failed) {
            return outputFailed(failed);
        }
        try {
            // Prints earlier results before the error.
            host.out().flush();
        } catch (Output.FailedException failed) {
            return outputFailed(failed);
        }
        // The tree itself throws only errors of usage.
        Subcommand subcommand = command.getCommand();
        boolean verbose = subcommand.verbose();
        if (e instanceof KeepsakeException) {
            say(command, subcommand.withOptionNames(String.valueOf(e.getMessage())));
        } else {
            // Its text may belong to a message.
            say(command, "unexpected " + e.getClass().getName() + (verbose ? "" : "; --verbose shows where"));
        }
        if (verbose) {
            e.printStackTrace(host.err());
            host.err().flush();
        }
        return code(e);
    }

    private static int code(Exception e) {
        if (e instanceof InvalidInputException) {
            return ExitCodes.USAGE;
        }
        if (e instanceof UnreadableDataException) {
            return ExitCodes.DAMAGED;
        }
        boolean isRetryable = e instanceof KeepsakeException known && known.isRetryable();
        return isRetryable ? ExitCodes.RETRY : ExitCodes.FAILED;
    }

    int outputFailed(Output.FailedException e) {
        if (e.readerIsGone()) {
            return ExitCodes.OUTPUT_CLOSED;
        }
        host.note(String.valueOf(e.getMessage()));
        return ExitCodes.FAILED;
    }

    private void say(CommandLine command, String problem) {
        String name = command.getCommandSpec().root().name();
        String line = name + ": " + Printable.line(problem);
        // The colours are for the standard output; the error stream may be a file.
        host.err().println(host.rewrites() ? command.getColorScheme().errorText(line) : line);
        host.err().flush();
    }
}

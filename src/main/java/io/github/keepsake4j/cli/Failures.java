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

/** Says in one line what went wrong, and chooses the exit code. Quotes nothing that may be the text of a message. */
final class Failures implements IParameterExceptionHandler, IExecutionExceptionHandler {

    private static final Pattern OPTION = Pattern.compile("(--?[a-z][a-z-]*)(=.*)?");
    private static final Pattern COMMAND = Pattern.compile("[a-z-]{1,30}");

    private final Host host;

    Failures(Host host) {
        this.host = host;
    }

    @Override
    public int handleParseException(ParameterException e, String[] arguments) {
        CommandLine command = e.getCommandLine();
        // An option that is misspelt is also one that is missing; the misspelling is what helps.
        List<String> unmatched = command.getUnmatchedArguments();
        String problem = e instanceof UnmatchedArgumentException known
                ? unmatched(known)
                : unmatched.isEmpty()
                        ? String.valueOf(e.getMessage())
                        : unmatched(new UnmatchedArgumentException(command, unmatched));
        say(command, problem + "; see " + command.getCommandSpec().qualifiedName() + " --help");
        return ExitCodes.USAGE;
    }

    int lacksValue(String option) {
        host.note("the option " + option + " lacks its value; a value that is the name of an option is written "
                + option + "=<value>");
        return ExitCodes.USAGE;
    }

    private static String unmatched(UnmatchedArgumentException e) {
        List<String> unmatched = e.getUnmatched();
        String first = unmatched.isEmpty() ? "" : unmatched.get(0);
        boolean isTopLevel = e.getCommandLine().getParent() == null;
        var option = OPTION.matcher(first);
        if (option.matches()) {
            return "the option " + option.group(1) + " is not known" + guess(e);
        }
        if (isTopLevel && COMMAND.matcher(first).matches()) {
            return "the command " + first + " is not known" + guess(e);
        }
        return "an argument belongs to no option; quote a text that has spaces";
    }

    private static String guess(UnmatchedArgumentException e) {
        List<String> suggestions = e.getSuggestions();
        return suggestions.isEmpty() ? "" : "; did you mean " + String.join(" or ", suggestions) + "?";
    }

    @Override
    public int handleExecutionException(Exception e, CommandLine command, ParseResult result) {
        if (e instanceof Output.FailedException failed) {
            return outputFailed(failed);
        }
        try {
            // What was found before the failure comes before its message.
            host.out().flush();
        } catch (Output.FailedException failed) {
            return outputFailed(failed);
        }
        Subcommand subcommand = command.getCommand() instanceof Subcommand known ? known : null;
        boolean verbose = subcommand != null && subcommand.verbose();
        if (e instanceof KeepsakeException) {
            String problem = String.valueOf(e.getMessage());
            say(command, subcommand == null ? problem : subcommand.withOptionNames(problem));
        } else {
            // Its text may be that of a message.
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
        // The colours are those of the standard output, and the error stream may be a file.
        host.err().println(host.rewrites() ? command.getColorScheme().errorText(line) : line);
        host.err().flush();
    }
}

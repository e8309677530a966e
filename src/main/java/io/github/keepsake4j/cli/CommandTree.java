package io.github.keepsake4j.cli;

import java.io.PrintWriter;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** All commands. */
@Command(
        name = "keepsake",
        description = "Reads and changes the memories in a Keepsake4j log.",
        synopsisSubcommandLabel = "<command>",
        optionListHeading = "%nOptions:%n",
        commandListHeading = "%nCommands:%n",
        footerHeading = "%n",
        footer = {
            "keepsake <command> --help describes a command and its options.",
            "An id that begins with - is written with an equals sign: --session=-1."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:failed",
            "2:wrong usage or input; nothing was changed",
            "3:stored data is damaged: check or another command found it",
            "4:the store is not available; the same command may succeed later",
            "141:the reader of the output has gone"
        })
final class CommandTree implements Runnable, Host.Root {

    private static final int WIDTH = 100;
    private static final int OPTION_WIDTH = 24;

    /** The commands, in the order of the help. Only the one that is called is made, because each costs time at the start. */
    private static final Map<String, Supplier<Subcommand>> COMMANDS = commands();

    private final Host host;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    /** picocli reads it. */
    @SuppressWarnings("UnusedVariable")
    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Shows this help.")
    private boolean help;

    /** picocli reads it. */
    @SuppressWarnings("UnusedVariable")
    @Option(names = "--version", versionHelp = true, description = "Shows the version.")
    private boolean version;

    CommandTree(Host host) {
        this.host = host;
    }

    @Override
    public Host host() {
        return host;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing");
    }

    static int run(Host host, String... arguments) {
        CommandLine line =
                arguments.length > 0 && COMMANDS.containsKey(arguments[0]) ? of(host, List.of(arguments[0])) : of(host);
        if (arguments.length == 0) {
            line.usage(host.err(), CommandLine.Help.Ansi.OFF);
            return ExitCodes.USAGE;
        }
        Failures failures = new Failures(host);
        line.setParameterExceptionHandler(failures).setExecutionExceptionHandler(failures);
        // Java replaces each byte that it cannot read with this character, so different ids could become the same.
        if (String.join("", arguments).contains("\ufffd")) {
            host.note("an argument has characters that the locale does not know; set LC_ALL to C.UTF-8 or the like");
            return ExitCodes.USAGE;
        }
        String lacking = lacking(line, arguments);
        if (lacking != null) {
            return failures.lacksValue(lacking);
        }
        int code = line.execute(arguments);
        try {
            host.out().flush();
        } catch (Output.FailedException e) {
            code = failures.outputFailed(e);
        }
        return code;
    }

    /**
     * Returns the first option whose value was forgotten, or null. In {@code get --session --json} the name of an option is
     * behind one that needs a value. It would be taken for an id.
     */
    private static @Nullable String lacking(CommandLine all, String... arguments) {
        CommandLine command = all.getSubcommands().get(arguments[0]);
        if (command == null) {
            return null;
        }
        CommandSpec spec = command.getCommandSpec();
        for (int i = 1; i < arguments.length; i++) {
            OptionSpec option = spec.findOption(arguments[i]);
            if (option != null && option.arity().min() > 0) {
                i++;
                if (i < arguments.length && isOption(spec, arguments[i])) {
                    return arguments[i - 1];
                }
            }
        }
        return null;
    }

    private static boolean isOption(CommandSpec spec, String argument) {
        int equals = argument.indexOf('=');
        return argument.startsWith("-")
                && spec.findOption(equals < 0 ? argument : argument.substring(0, equals)) != null;
    }

    /** Only the jar has a version. */
    private static String version() {
        String version = CommandTree.class.getPackage().getImplementationVersion();
        return version == null ? "of a build without a version" : version;
    }

    private static Map<String, Supplier<Subcommand>> commands() {
        Map<String, Supplier<Subcommand>> commands = new LinkedHashMap<>();
        commands.put("add", AddCommand::new);
        commands.put("get", GetCommand::new);
        commands.put("clear", ClearCommand::new);
        commands.put("list", ListCommand::new);
        commands.put("history", HistoryCommand::new);
        commands.put("branches", BranchesCommand::new);
        commands.put("search", SearchCommand::new);
        commands.put("recall", RecallCommand::new);
        commands.put("index", IndexCommand::new);
        commands.put("check", CheckCommand::new);
        commands.put("repair", RepairCommand::new);
        commands.put("copy", CopyCommand::new);
        commands.put("export", ExportCommand::new);
        commands.put("import", ImportCommand::new);
        commands.put("clean-up", CleanUpCommand::new);
        commands.put("erase", EraseCommand::new);
        return commands;
    }

    /** Returns the tree of all commands. */
    static CommandLine of(Host host) {
        return of(host, COMMANDS.keySet());
    }

    /** Returns the tree of some commands. */
    private static CommandLine of(Host host, Collection<String> commands) {
        CommandLine line = new CommandLine(new CommandTree(host));
        for (String command : commands) {
            line.addSubcommand(
                    command, Objects.requireNonNull(COMMANDS.get(command)).get());
        }
        line.getCommandSpec().version("keepsake " + version());
        return line.setOut(new PrintWriter(host.out().writer()))
                .setErr(host.err())
                .setColorScheme(CommandLine.Help.defaultColorScheme(host.ansi()))
                .setUsageHelpWidth(WIDTH)
                .setUsageHelpLongOptionsMaxWidth(OPTION_WIDTH)
                // An id may begin with @, and a text may be quoted.
                .setExpandAtFiles(false)
                .setTrimQuotes(false)
                // The name of an option may also follow an equals sign. lacking() checks the other cases.
                .setAllowOptionsAsOptionParameters(true);
    }
}

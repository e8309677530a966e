package io.github.keepsake4j.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Finds options whose values were forgotten. In {@code get --session --json}, an option follows one that needs a value.
 * It would otherwise be taken for an id.
 */
final class OptionValues {

    private OptionValues() {}

    /** Returns the first option that lacks its value, or null. */
    static @Nullable String lacking(CommandLine all, String... arguments) {
        CommandLine command =
                arguments.length == 0 ? null : all.getSubcommands().get(arguments[0]);
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
}

package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command that uses one log. */
abstract class LogCommand extends Subcommand {

    static final String VARIABLE = "KEEPSAKE_LOG";

    @Option(
            names = "--log",
            paramLabel = "<uri>",
            description = {
                "Where the log is: sqlite:chat.db, file:directory, redis://host:6379,",
                "s3://bucket/prefix, postgresql://host/db. Default: $" + VARIABLE + "."
            })
    private @Nullable String uri;

    /** Opens the log, which must be there. The caller closes it. */
    MessageLog open() {
        return open(false, false);
    }

    /**
     * Opens the log, which the caller closes.
     *
     * @param creates whether a log that does not exist is created
     * @param makesTables whether missing tables of a database are created
     */
    final MessageLog open(boolean creates, boolean makesTables) {
        String given = uri == null ? host().environment().get(VARIABLE) : uri;
        if (given == null || given.isEmpty()) {
            throw new InvalidInputException(
                    "--log", "is required, such as sqlite:chat.db; the variable " + VARIABLE + " sets it too");
        }
        String field = uri == null ? VARIABLE : "--log";
        return new LogUri(field, given, creates, makesTables, host().environment()).open();
    }
}

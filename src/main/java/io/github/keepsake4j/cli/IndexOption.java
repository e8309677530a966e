package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.recall.MessageIndex;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that names a search index. */
final class IndexOption {

    static final String VARIABLE = "KEEPSAKE_INDEX";

    @Option(
            names = "--index",
            paramLabel = "<uri>",
            description = {
                "Where the index is: sqlite:index.db, which is not the log's file, or",
                "postgresql://host/db. Default: $" + VARIABLE + "."
            })
    private @Nullable String uri;

    /** Opens the index, which the caller closes. */
    MessageIndex open(Host.Environment environment, boolean creates, boolean makesTables) {
        String given = uri == null ? environment.get(VARIABLE) : uri;
        if (given == null || given.isEmpty()) {
            throw new InvalidInputException(
                    "--index", "is required, such as sqlite:index.db; the variable " + VARIABLE + " sets it too");
        }
        return new IndexUri(uri == null ? VARIABLE : "--index", given, creates, makesTables, environment).open();
    }
}

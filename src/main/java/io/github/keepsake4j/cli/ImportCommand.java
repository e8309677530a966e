package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.transfer.MemoryCopy;
import io.github.keepsake4j.transfer.Ndjson;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "import",
        header = "Reads the memories that export --format ndjson wrote.",
        description = {
            "Each comes into the tenant that it is from, and is compared with what was written. What is there already is not"
                    + " added again, so an import that broke off goes on when it is called again."
        })
final class ImportCommand extends LogCommand {

    @Option(names = "--make-tables", description = "Makes the tables that a PostgreSQL database lacks.")
    private boolean makeTables;

    @Option(
            names = "--input",
            paramLabel = "<file>",
            description = "The file with the export. Default: the standard input.")
    private @Nullable String input;

    @Override
    boolean creates() {
        return true;
    }

    @Override
    boolean makesTables() {
        return makeTables;
    }

    @Override
    int run() {
        try (InputStream in = input == null ? host().in() : file(input);
                MessageLog log = open();
                Progress progress = host().progress()) {
            MovedReport report = new MovedReport(progress);
            return report.print(this, read(in, log, report), "imported and compared");
        } catch (IOException e) {
            throw new KeepsakeException("the export cannot be read: " + e.getMessage(), e);
        }
    }

    /**
     * A wrong line is found when the lines before it are in the log already. So it is a failure and not a wrong usage.
     */
    private static MemoryCopy.Report read(InputStream in, MessageLog log, MovedReport report) throws IOException {
        try {
            return Ndjson.of(log).onProgress(report::tell).read(in);
        } catch (InvalidInputException e) {
            throw new KeepsakeException(String.valueOf(e.getMessage()), e);
        }
    }

    private static InputStream file(String name) throws IOException {
        try {
            Path path = Path.of(name);
            if (Files.isRegularFile(path)) {
                return Files.newInputStream(path);
            }
        } catch (InvalidPathException e) {
            throw new InvalidInputException("--input", "is not a path: " + e.getReason());
        }
        throw new InvalidInputException("--input", "names a file that does not exist: " + name);
    }
}

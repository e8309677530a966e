package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.transfer.MemoryCopy;
import io.github.keepsake4j.transfer.NdjsonExport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Objects;
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
    int run() {
        try (MeasuredInput in = input == null ? new MeasuredInput(host().in(), 0) : file(input);
                MessageLog log = open(true, makeTables);
                ProgressLine progress = host().progress()) {
            return new MovedReport(progress, () -> MemoryTotals.UNKNOWN, 1)
                    .print(this, read(in, log, progress), "imported and compared");
        } catch (IOException e) {
            throw new KeepsakeException("the export cannot be read: " + e.getMessage(), e);
        }
    }

    /**
     * A wrong line is found when the lines before it are in the log already. So it is a failure and not a wrong usage.
     */
    private static MemoryCopy.Report read(MeasuredInput in, MessageLog log, ProgressLine progress) throws IOException {
        ReadSoFar soFar = new ReadSoFar();
        try {
            return NdjsonExport.of(log)
                    .onProgress(now -> {
                        soFar.add(now);
                        progress.tell(() -> soFar.step(in));
                    })
                    .read(in);
        } catch (InvalidInputException e) {
            throw new KeepsakeException(String.valueOf(e.getMessage()), e);
        }
    }

    /** What was read of an export, which does not tell how much it has. */
    private static final class ReadSoFar {

        private MemoryCopy.@Nullable Progress now;
        private long memories;
        private long before;

        void add(MemoryCopy.Progress next) {
            if (now == null || !now.memory().equals(next.memory())) {
                memories++;
                before += now == null ? 0 : now.messages();
            }
            now = next;
        }

        Step step(MeasuredInput in) {
            MemoryCopy.Progress last = Objects.requireNonNull(now, "now");
            String share = in.size() == 0 ? "" : ", " + 100 * in.position() / in.size() + " % of the file";
            String text = "memory " + Printable.number(memories) + ": " + Printable.memory(last.memory()) + ", "
                    + Printable.count(before + last.messages(), "message") + " in all" + share;
            return new Step(text, in.size() == 0 ? 0 : in.position(), in.size());
        }
    }

    private static MeasuredInput file(String name) throws IOException {
        try {
            Path path = Path.of(name);
            if (Files.isDirectory(path)) {
                throw new InvalidInputException("--input", "is a directory: " + name + "; name a file");
            }
            // A pipe has no size.
            if (Files.exists(path)) {
                return new MeasuredInput(Files.newInputStream(path), Files.size(path));
            }
        } catch (InvalidPathException e) {
            throw new InvalidInputException("--input", "is not a path: " + e.getReason());
        }
        throw new InvalidInputException("--input", "names a file that does not exist: " + name);
    }
}

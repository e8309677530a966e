package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.transfer.MemoryCopy;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The progress of memories that are written to a log. */
final class MovedReport {

    private final Progress progress;
    private @Nullable Object current;
    private long begun;

    MovedReport(Progress progress) {
        this.progress = progress;
    }

    void tell(MemoryCopy.Progress now) {
        if (!now.memory().equals(current)) {
            current = now.memory();
            begun++;
        }
        String all = Printable.count(now.of(), "message");
        String done = now.messages() < now.of() ? now.messages() + " of " + all : all;
        progress.tell(() -> "memory " + begun + ": " + Printable.memory(now.memory()) + ", " + done);
    }

    /** Prints a report, and returns the exit code. */
    int print(Subcommand command, MemoryCopy.Report report, String done) {
        progress.clear();
        command.print(
                new JsonObject()
                        .with("memories", report.memories())
                        .with("messages", report.messages())
                        .with("erased", report.erased().stream().map(Fields::of).toList())
                        .with("damaged", report.damaged()),
                Printable.count(report.memories(), "memory") + " with "
                        + Printable.count(report.messages(), "message") + " " + done
                        + report.erased().stream()
                                .map(key -> "\nleft out, because it was erased in this log  " + Printable.memory(key))
                                .collect(Collectors.joining()));
        return damaged(command.host(), report);
    }

    /** Reports memories that could not be read, and returns the exit code. */
    static int damaged(Host host, MemoryCopy.Report report) {
        if (report.damaged() == 0) {
            return ExitCodes.OK;
        }
        host.note(Printable.count(report.damaged(), "memory") + " could not be read; the command check lists them");
        return ExitCodes.DAMAGED;
    }
}

package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.transfer.MemoryCopy;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The progress of memories that are written to a log or a stream. */
final class MovedReport {

    /** The number of messages from which the comparison of a memory is worth a line. */
    private static final int LARGE = 5_000;

    private final ProgressLine progress;
    private final Supplier<MemoryTotals> totals;

    /** How often each message is read: twice if a memory must be known to be sound before its first line is written. */
    private final int passes;

    private @Nullable MemoryKey current;
    private long begun;

    /** The messages of the memories before the current one. */
    private long before;

    private long ofCurrent;
    private long inPass;
    private boolean again;

    MovedReport(ProgressLine progress, Supplier<MemoryTotals> totals, int passes) {
        this.progress = progress;
        this.totals = totals;
        this.passes = passes;
    }

    void tell(MemoryCopy.Progress now) {
        if (!now.memory().equals(current)) {
            before += ofCurrent;
            current = now.memory();
            begun++;
            again = false;
        } else if (now.messages() < inPass) {
            again = true;
        }
        inPass = now.messages();
        ofCurrent = Math.max(now.of(), now.messages());
        boolean isCompared = passes == 1 && now.of() >= LARGE && inPass >= now.of();
        if (isCompared) {
            progress.tellLong(() -> step(now, ", comparing"));
        } else {
            progress.tell(() -> step(now, ""));
        }
    }

    private Step step(MemoryCopy.Progress now, String then) {
        MemoryTotals all = totals.get();
        String memory = begun <= all.memories() ? begun + " of " + Printable.number(all.memories()) : "" + begun;
        String count = Printable.count(now.of(), "message");
        String done = now.messages() < now.of() ? Printable.number(now.messages()) + " of " + count : count;
        String phase = again ? " written" : "";
        String text = "memory " + memory + ": " + Printable.memory(now.memory()) + ", " + done + phase + then;
        if (all.memories() > 1) {
            text += ", " + Printable.number(before + inPass) + " of " + Printable.count(all.messages(), "message");
        }
        long units = passes * before + (again ? ofCurrent : 0) + inPass;
        return new Step(text, units, passes * all.messages());
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
        return damaged(command.host(), report.damaged());
    }

    /** Reports memories that could not be read, and returns the exit code. */
    static int damaged(Host host, long memories) {
        if (memories == 0) {
            return ExitCodes.OK;
        }
        host.note(Printable.count(memories, "memory") + " could not be read; the command check lists them");
        return ExitCodes.DAMAGED;
    }
}

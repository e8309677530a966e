package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryPage.Damaged;
import io.github.keepsake4j.log.MessageLog;
import java.time.Instant;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "list",
        header = "Lists the conversations of a tenant, and the memories of their nodes.",
        description = {
            "The newest is first, each with the time of its last message. With --json, each is an object on a line of its own."
        })
final class ListCommand extends TenantCommand {

    /** The length of a printed time. */
    private static final int TIME = 20;

    @Option(
            names = "--by-activity",
            description = "Lists those first to which something was added last, instead of those made last.")
    private boolean byActivity;

    private long damaged;
    private boolean hasHeading;

    @Override
    int run() {
        try (MessageLog log = open()) {
            pages(log, byActivity, this::print);
        }
        if (!hasHeading && damaged == 0) {
            host().note("tenant " + Printable.line(tenant()) + " has no memories in this log");
        }
        return damaged == 0 ? ExitCodes.OK : ExitCodes.DAMAGED;
    }

    private void print(MemoryPage page) {
        page.memories().forEach(this::print);
        page.damaged().forEach(this::print);
    }

    private void print(MemoryInfo info) {
        Instant lastMessageAt = info.lastMessageAt();
        String heading = hasHeading ? "" : text().quiet("last message          memory") + "\n";
        hasHeading = true;
        String last = lastMessageAt == null ? " ".repeat(TIME - 4) + "none" : Printable.time(lastMessageAt);
        String title = info.title() == null ? "" : "  " + Printable.line(info.title());
        String size = Printable.count(info.messages(), "message") + ", " + Printable.count(info.tokens(), "token");
        print(
                Fields.of(info.key())
                        .with("title", info.title())
                        .with("metadata", info.metadata())
                        .with("messages", info.messages())
                        .with("tokens", info.tokens())
                        .with("created_at", info.createdAt().toString())
                        .with("last_message_at", lastMessageAt == null ? null : lastMessageAt.toString()),
                heading + text().quiet(last) + "  " + Printable.memory(info.key()) + title + "  " + text().quiet(size));
    }

    private void print(Damaged memory) {
        damaged++;
        print(
                Fields.of(memory.key()).with("name", memory.name()).with("problem", memory.problem()),
                text().warning("damaged") + "  " + Printable.line(memory.name() + ": " + memory.problem()));
    }
}

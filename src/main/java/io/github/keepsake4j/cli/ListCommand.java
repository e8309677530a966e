package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.DamagedMemory;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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
            order = 10,
            description = "Lists those first to which something was added last, instead of those made last.")
    private boolean byActivity;

    private long damaged;
    private boolean hasHeading;

    ListCommand(Host host) {
        super(host, false);
    }

    @Override
    int run() {
        try (MessageLog log = open()) {
            Memories.pages(log, tenant(), byActivity, this::print);
        }
        return damaged == 0 ? ExitCodes.OK : ExitCodes.DAMAGED;
    }

    private void print(MemoryPage page) {
        page.memories().forEach(this::print);
        page.damaged().forEach(this::print);
    }

    private void print(MemoryInfo info) {
        if (json()) {
            Map<String, @Nullable Object> fields = KeyFields.of(info.key());
            fields.put("title", info.title());
            fields.put("metadata", info.metadata());
            fields.put("messages", info.messages());
            fields.put("tokens", info.tokens());
            fields.put("created_at", info.createdAt().toString());
            fields.put(
                    "last_message_at",
                    info.lastMessageAt() == null ? null : info.lastMessageAt().toString());
            out().json(fields);
            return;
        }
        MessageText text = new MessageText(host().ansi());
        String size = Printable.count(info.messages(), "message") + ", " + Printable.count(info.tokens(), "token");
        String title = info.title() == null ? "" : "  " + Printable.line(info.title());
        if (!hasHeading) {
            hasHeading = true;
            out().line(text.quiet("last message          memory"));
        }
        String last =
                info.lastMessageAt() == null ? " ".repeat(TIME - 4) + "none" : Printable.time(info.lastMessageAt());
        out().line("%s  %s%s  %s".formatted(text.quiet(last), Printable.memory(info.key()), title, text.quiet(size)));
    }

    private void print(DamagedMemory memory) {
        damaged++;
        if (json()) {
            Map<String, @Nullable Object> fields =
                    memory.key() == null ? new LinkedHashMap<>() : KeyFields.of(memory.key());
            fields.put("name", memory.name());
            fields.put("problem", memory.problem());
            out().json(fields);
            return;
        }
        MessageText text = new MessageText(host().ansi());
        out().line(text.warning("damaged") + "  " + Printable.line(memory.name() + ": " + memory.problem()));
    }
}

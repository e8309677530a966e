package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryPage.Damaged;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;

@Command(
        name = "check",
        header = "Looks for damage in a conversation, or in all memories of a tenant.",
        description = {
            "Changes nothing. The exit code is 3 if there is damage. With --json, each memory is an object on a line of its own."
        })
final class CheckCommand extends MemoryCommand {

    private long checked;
    private long damaged;
    private long messages;

    @Override
    int run() {
        MemoryKey key = givenKey();
        try (MessageLog log = open();
                ProgressLine progress = host().progress()) {
            if (key == null) {
                Supplier<MemoryTotals> totals = MemoryTotals.later(log, tenant(), null);
                pages(log, false, page -> check(log, page, progress, totals));
            } else {
                noteIfEmpty(log, key);
                print(key, Printable.memory(key), log.check(key), progress);
            }
        }
        if (!json()) {
            out().line(Printable.count(checked, "memory") + " checked, " + damaged + " damaged");
        }
        return damaged == 0 ? ExitCodes.OK : ExitCodes.DAMAGED;
    }

    private void check(MessageLog log, MemoryPage page, ProgressLine progress, Supplier<MemoryTotals> totals) {
        for (MemoryInfo info : page.memories()) {
            print(info.key(), Printable.memory(info.key()), log.check(info.key()), progress);
            messages += info.messages();
            progress.tell(() -> step(totals.get()));
        }
        for (Damaged memory : page.damaged()) {
            Damage damage = new Damage(Damage.Kind.MEMORY, null, null, memory.problem());
            print(memory.key(), memory.name(), List.of(damage), progress);
        }
    }

    private Step step(MemoryTotals all) {
        String text = Printable.number(checked) + " of " + Printable.count(all.memories(), "memory") + " checked, "
                + Printable.number(messages) + " of " + Printable.count(all.messages(), "message");
        return new Step(text, messages, all.messages());
    }

    private void print(@Nullable MemoryKey key, String name, List<Damage> damage, ProgressLine progress) {
        checked++;
        damaged += damage.isEmpty() ? 0 : 1;
        if (json() || !damage.isEmpty()) {
            progress.clear();
            print(
                    Fields.of(key)
                            .withPresent("name", key == null ? name : null)
                            .with("damage", Fields.of(damage)),
                    text().warning("damaged") + "  " + name + Printable.damage(damage));
        }
    }
}

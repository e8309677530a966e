package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageRecall;
import io.github.keepsake4j.recall.MessageSearch;
import io.github.keepsake4j.recall.RecallOptions;
import io.github.keepsake4j.recall.Recalled;
import io.github.keepsake4j.recall.Scope;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "recall",
        header = "Prints what a model would be reminded of for a question.",
        description = {
            "The best is first, each with its neighbours. An application leaves out what its window shows anyway, which is not"
                    + " known here. Needs an index, which the command index makes. With --json, each passage is an object on a"
                    + " line of its own."
        })
final class RecallCommand extends FindingCommand {

    @Option(
            names = "--max-passages",
            paramLabel = "<n>",
            description = "The most passages that are printed, 1 to " + RecallOptions.MAX_PASSAGES + ". Default: 10.")
    private @Nullable Integer maxPassages;

    @Option(
            names = "--max-tokens",
            paramLabel = "<n>",
            description = "The most tokens of all passages together. Default: 2000.")
    private @Nullable Integer maxTokens;

    @Option(names = "--hidden", description = "Recalls also what clear hid.")
    private boolean hidden;

    private RecallOptions options = RecallOptions.standard();

    @Override
    void prepare() {
        options = maxPassages == null ? options : options.withMaxPassages(maxPassages);
        options = maxTokens == null ? options : options.withMaxTokens(maxTokens);
        options = hidden ? options.alsoHidden() : options;
        key();
    }

    @Override
    boolean find(MessageLog log, MessageIndex opened, MessageSearch search, String text) {
        MemoryKey key = key();
        noteIfEmpty(log, key);
        MessageRecall recall = new MessageRecall(
                search, shown -> new MessageRecall.Seen(log.read(shown, ReadQuery.newest(0)), Set.of(), Parent.head()));
        Recalled recalled = recall.recall(Scope.memory(key), text, options);
        recalled.passages().forEach(this::print);
        return recalled.lagging();
    }

    private void print(Recalled.Passage passage) {
        Recalled.Features why = passage.features();
        JsonObject fields = Fields.of(passage.key())
                .with("id", passage.message().id())
                .with("score", passage.score())
                .with(
                        "features",
                        new JsonObject()
                                .with("words", why.words())
                                .with("answer", why.answer())
                                .with("meaning", why.meaning())
                                .with("speaker", why.speaker())
                                .with("date", why.date()))
                .with("session_time", passage.sessionTime().toString())
                .with(
                        "messages",
                        passage.messages().stream().map(FindingCommand::fields).toList());
        String heading = heading(passage.key(), passage.message()) + "  score "
                + String.format(Locale.ROOT, "%.1f", passage.score());
        print(
                fields,
                text().quiet(heading) + "\n"
                        + passage.messages().stream().map(this::text).collect(Collectors.joining("\n")));
    }
}

package io.github.keepsake4j.cli;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageSearch;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.SearchOptions;
import io.github.keepsake4j.recall.SearchResult;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "search",
        header = "Finds messages by their words, in a conversation or in all memories of a tenant.",
        description = {
            "The best is first. Needs an index, which the command index makes. With --json, each message is an object on a line of"
                    + " its own."
        })
final class SearchCommand extends FindingCommand {

    @Option(
            names = "--max-hits",
            paramLabel = "<n>",
            description = "The most messages that are printed, 1 to " + SearchOptions.MAX_PAGE_SIZE + ". Default: 10.")
    private @Nullable Integer maxHits;

    @Option(names = "--visible", description = "Leaves out what clear hid, failed questions and rejected answers.")
    private boolean visible;

    private SearchOptions options = SearchOptions.standard();

    @Override
    void prepare() {
        options = options.withNeighbours(0);
        options = maxHits == null ? options : options.withPageSize(maxHits);
        options = visible ? options.onlyVisible() : options;
        givenKey();
    }

    @Override
    boolean find(MessageLog log, MessageIndex opened, MessageSearch search, String text) {
        MemoryKey key = givenKey();
        noteIfEmpty(log, key);
        SearchResult result = search.search(key == null ? Scope.tenant(tenant()) : Scope.memory(key), text, options);
        result.hits().forEach(this::print);
        // A search in a tenant always counts as lagging in a process that has just begun.
        return key == null ? IndexState.isBehindTheNewest(log, opened, tenant()) : result.lagging();
    }

    private void print(SearchResult.Hit hit) {
        JsonObject fields = Fields.of(hit.key())
                .with("score", hit.score())
                .with("text", hit.text())
                .with(
                        "highlights",
                        hit.highlights().stream()
                                .map(each -> new JsonObject()
                                        .with("start", each.start())
                                        .with("end", each.end()))
                                .toList());
        fields.putAll(fields(hit.message()));
        print(fields, text().quiet(heading(hit.key(), hit.message())) + "\n" + text(hit.message()));
    }
}

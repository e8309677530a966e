package io.github.keepsake4j.memories;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.text.MessageText;
import io.github.keepsake4j.text.TranscriptText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The retrievers of WilmerAI. Pure functions of their inputs. */
final class Retrievers {

    private static final int RECENT = 3;
    private static final int MAX_TOOL_RESULT_CHARS = 1_000;

    private Retrievers() {}

    static Map<String, LongTermMemoryRetriever> byName() {
        return Map.of(
                "RecentMemory", Retrievers::recent,
                "RecentMemorySummarizerTool", Retrievers::recent,
                "VectorMemorySearch", Retrievers::search,
                "FullChatSummary", Retrievers::summary);
    }

    /** The last chunks; without a discussion the last turns. */
    private static String recent(LongTermMemoriesOfDiscussion memories, NodeConfig config) {
        String delimiter = config.text("customDelimiter", LongTermMemoriesOfDiscussion.CHUNK_BREAK);
        List<String> texts = memories.isStateless()
                ? lastTurns(memories.messages(), count(config.number("maxTurnsToPull", RECENT, -1)))
                : memories.chunks(count(config.number("maxSummaryChunksFromFile", RECENT, -1))).stream()
                        .map(MadeMemory::text)
                        .toList();
        return texts.isEmpty()
                ? LongTermMemoriesOfDiscussion.NO_MEMORIES
                : LongTermMemoriesOfDiscussion.joinTexts(texts, delimiter);
    }

    private static int count(int configured) {
        return configured == 0 ? RECENT : configured < 0 ? Integer.MAX_VALUE : configured;
    }

    private static String search(LongTermMemoriesOfDiscussion memories, NodeConfig config) {
        FactQuery query = new FactQuery(
                Arrays.asList(config.text("input", "").split(";", -1)),
                config.number("limit", FactQuery.DEFAULT_LIMIT, 1),
                Trust.RETRIEVED);
        List<MadeMemory> found = memories.isStateless()
                ? inMessages(memories.messages(), query)
                : memories.search(query).stream()
                        .map(FoundLongTermMemory::memory)
                        .toList();
        return found.isEmpty() ? LongTermMemoriesOfDiscussion.NO_MATCH : LongTermMemoriesOfDiscussion.join(found);
    }

    private static String summary(LongTermMemoriesOfDiscussion memories, NodeConfig config) {
        if (memories.isStateless()) {
            return recent(memories, config);
        }
        MadeMemory summary = memories.summary();
        return summary == null ? LongTermMemoriesOfDiscussion.NO_MEMORIES : summary.text();
    }

    /** A turn begins with a user message. */
    private static List<String> lastTurns(List<SourceMessage> messages, int turns) {
        List<ChatMessage> all = messages.stream().map(SourceMessage::message).toList();
        List<Integer> begins = new ArrayList<>(IntStream.range(0, all.size())
                .filter(i -> i == 0 || all.get(i) instanceof UserMessage)
                .boxed()
                .toList());
        begins.add(all.size());
        int first = Math.max(0, begins.size() - 1 - turns);
        return IntStream.range(first, begins.size() - 1)
                .mapToObj(turn -> text(all.subList(begins.get(turn), begins.get(turn + 1))))
                .toList();
    }

    private static String text(List<ChatMessage> messages) {
        return String.join("\n", TranscriptText.of(messages, MAX_TOOL_RESULT_CHARS));
    }

    /** Finds messages by treating each of them as a fact. */
    private static List<MadeMemory> inMessages(List<SourceMessage> messages, FactQuery query) {
        List<MadeMemory> texts = messages.stream()
                .map(source -> MadeMemory.ofText(
                        MadeMemory.Kind.FACT,
                        TranscriptText.clean(MessageText.of(source.message())),
                        Passage.NONE,
                        source.trust()))
                .toList();
        return new FactWords(Words.standard())
                .search(query, texts).stream().map(FoundLongTermMemory::memory).toList();
    }
}

package io.github.keepsake4j.memories;

import dev.langchain4j.service.MemoryId;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Script;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A chat whose memories are made of a log's branch, with any store. */
abstract class MadeMemoriesFixture {

    /** Returns a new, empty log. */
    abstract MessageLog newLog();

    /** Opens the store of memories, which all logs of a test share. */
    abstract LongTermMemoryStore newStore();

    /** Returns all that the store holds, as text. */
    abstract String stored() throws Exception;

    interface Chat {
        String chat(@MemoryId String id, @dev.langchain4j.service.UserMessage String text);
    }

    static final String FACTS = "{\"useVectorForQualityMemory\":true,\"vectorMemoryWorkflowName\":\"w\","
            + "\"vectorMemoryMaxMessagesBetweenChunks\":2,\"lookbackStartTurn\":0,\"minMemoriesPerSummary\":1}";
    static final String CHUNKS = "{\"fileMemoryWorkflowName\":\"w\",\"chatSummaryWorkflowName\":\"s\","
            + "\"maxMessagesBetweenChunks\":2,\"lookbackStartTurn\":0,\"minMemoriesPerSummary\":1}";

    @TempDir
    Path directory;

    final Script model = new Script("Fine.");
    final List<AutoCloseable> open = new ArrayList<>();
    LongTermMemoryStore store;

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    final Keepsake.Builder keepsake(MessageLog log, String config, Function<String, String> workflow) {
        open.add(log);
        store = newStore();
        open.add(store);
        Discussions discussions = Discussions.builder(store)
                .config(DiscussionConfig.ofJson(config))
                .workflow("w", inputs -> workflow.apply(inputs.get(0)))
                .workflow("s", inputs -> "Summary of " + inputs.get(0))
                .build();
        return Keepsake.builder().messageLog(log).longTermMemories(discussions, Duration.ofDays(1));
    }

    final Chat chat(Keepsake keepsake) {
        return keepsake.aiServices(Chat.class).chatModel(model).build();
    }

    static String fact(String title, String summary) {
        return "{\"title\":\"" + title + "\",\"summary\":\"" + summary + "\",\"entities\":[],\"key_phrases\":[]}";
    }

    /** Makes one fact of a passage: what its last line says. */
    static String lastLine(String passage) {
        String line = passage.substring(passage.lastIndexOf('\n') + 1);
        return fact(line.replaceAll("\\W+", " ").strip(), line.replace("\"", ""));
    }

    static List<String> texts(List<MadeMemory> memories) {
        return memories.stream().map(MadeMemory::text).toList();
    }

    static String newest(Keepsake keepsake, String id) {
        return keepsake.conversation(id)
                .history(HistoryQuery.newest(1))
                .messages()
                .get(0)
                .id();
    }
}

package io.github.keepsake4j.memories;

import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.WordCounter;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A conversation in which each message is as long as a passage, and a workflow that cannot process the second one. */
final class FailingPassages {

    /** Each is known by its first word. */
    static final List<SourceMessage> CHAT = Stream.of("one", "poison", "three", "four")
            .map(text -> new SourceMessage("id-" + text, UserMessage.from(text + " word".repeat(38)), Trust.USER))
            .toList();

    /** The sentences of a message that is as long as five parts. */
    static final List<String> SENTENCES = IntStream.rangeClosed(1, 17)
            .mapToObj(i -> "Sentence " + i + " is one of a great many here.")
            .toList();

    /** A conversation that begins with the long message. */
    static final List<SourceMessage> LONG_CHAT = Stream.of(String.join(" ", SENTENCES), "yes", "yes")
            .map(text -> new SourceMessage(null, UserMessage.from(text), Trust.USER))
            .toList();

    private FailingPassages() {}

    /** Answers with what was said. */
    static String repeat(MadeMemory.Kind kind, List<String> inputs) {
        return answer(
                kind, inputs.get(0).replace("User: ", "").replace("\n", " ").strip());
    }

    /** Returns a discussion whose memories a workflow makes, with a lease that keeps none waiting when a process dies. */
    static Discussion discussion(
            LongTermMemoryStore store, MemoryKey key, MadeMemory.Kind kind, LongTermMemoryWorkflow workflow) {
        return Discussions.builder(store)
                .tokenCountEstimator(new WordCounter())
                .config(DiscussionConfig.ofJson(
                        """
                        {"lookbackStartTurn": 0, "maxMessagesBetweenChunks": 1, "chunkEstimatedTokenSize": 50,
                         "vectorMemoryMaxMessagesBetweenChunks": 1, "vectorMemoryChunkEstimatedTokenSize": 50,
                         "useVectorForQualityMemory": %s, "fileMemoryWorkflowName": "w", "vectorMemoryWorkflowName": "w",
                         "chatSummaryWorkflowName": "s"}
                        """
                                .formatted(kind == MadeMemory.Kind.FACT)))
                .leaseDuration(Duration.ofNanos(1_000))
                .workflow("w", workflow)
                .workflow("s", inputs -> inputs.get(0))
                .build()
                .discussion(key);
    }

    /** Returns the first word of the message in a workflow's inputs. */
    static String word(List<String> inputs) {
        return inputs.get(0).split(" ")[1];
    }

    /** Answers with the first word of a message, or fails. */
    static String answerOrFail(MadeMemory.Kind kind, List<String> inputs) {
        if (word(inputs).equals("poison")) {
            throw new IllegalStateException("secret");
        }
        return answer(kind, word(inputs));
    }

    static String answer(MadeMemory.Kind kind, String text) {
        return kind == MadeMemory.Kind.CHUNK
                ? text
                : "[{\"title\":\"t\",\"summary\":\"%s\",\"entities\":[],\"key_phrases\":[]}]".formatted(text);
    }

    static List<String> shown(LongTermMemoryStore store, MemoryKey key, MadeMemory.Kind kind) {
        return (kind == MadeMemory.Kind.CHUNK ? store.chunks(key, 99) : store.facts(key, 99))
                .stream().map(MadeMemory::text).toList();
    }
}

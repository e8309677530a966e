package io.github.keepsake4j.benchmark;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.memories.DiscussionConfig;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.LongTermMemoryBlock;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.LongTermMemoryWorkflow;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A kind of chat, with a log and perhaps memories, and the duration of each of its turns. */
final class RememberedChat implements AutoCloseable {

    private static final int MEMORIES = 20;
    private static final String ANSWER = "The first offer is cheaper, the second one lasts longer. ".repeat(4);

    final Measured turns;
    private final String name;
    private final MessageLog log;
    private final Keepsake keepsake;
    private final @Nullable LongTermMemoryStore shown;
    private @Nullable KeepsakeChatMemory memory;

    /**
     * Creates a chat.
     *
     * @param store keeps the memories, or null for a chat without memories
     * @param creator makes them
     * @param isShown whether they are shown in the view
     */
    RememberedChat(
            String name,
            MessageLog log,
            @Nullable LongTermMemoryStore store,
            LongTermMemoryWorkflow creator,
            boolean isShown) {
        this.name = name;
        this.log = log;
        this.shown = isShown ? store : null;
        this.turns = new Measured(name);
        ContextStrategy window = SlidingWindow.withMaxMessages(50);
        Keepsake.Builder builder = Keepsake.builder()
                .messageLog(log)
                .strategy(isShown ? window.and(LongTermMemoryBlock.withMaxTokens(800)) : window);
        this.keepsake = (store == null
                        ? builder
                        : builder.longTermMemories(
                                Discussions.builder(store)
                                        .config(DiscussionConfig.ofJson(
                                                "{\"fileMemoryWorkflowName\":\"w\",\"chatSummaryWorkflowName\":\"w\"}"))
                                        .workflow("w", creator)
                                        .build(),
                                Duration.ZERO))
                .build();
    }

    String name() {
        return name;
    }

    /** Begins a new conversation. */
    void begin(String id) {
        memory = keepsake.chatMemory(id);
        if (shown != null) {
            for (int i = 0; i < MEMORIES; i++) {
                MadeMemory fact = MadeMemory.fact(
                        "Offer " + i, "The user compares offers.", List.of(), List.of(), Passage.NONE, Trust.USER);
                MemoryKey key = ConversationKey.of("default", id);
                shown.add(key, MadeMemory.Kind.FACT, i, Passage.NONE, List.of(fact));
            }
        }
    }

    /** Runs one turn, as an AI service does. */
    void turn(boolean counts) {
        KeepsakeChatMemory chat = java.util.Objects.requireNonNull(memory);
        UserMessage question = UserMessage.from(Payload.MESSAGE.singleText());
        AiMessage answer = AiMessage.from(ANSWER);
        long begin = System.nanoTime();
        chat.messages();
        chat.add(question);
        chat.add(answer);
        long end = System.nanoTime();
        if (counts) {
            turns.add(end - begin);
        }
    }

    @Override
    public void close() {
        log.close();
    }
}

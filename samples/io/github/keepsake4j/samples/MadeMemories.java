package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import io.github.keepsake4j.memories.Discussion;
import io.github.keepsake4j.memories.DiscussionConfig;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.FactQuery;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.NodeConfig;
import io.github.keepsake4j.memories.SourceMessage;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Memories that a model makes from a short chat: a chunk, which is a text about a part of it, facts, and a summary of the
 * whole. The model is scripted and needs no key.
 */
public final class MadeMemories {

    private static final String FACTS =
            """
            [{"title": "Bees", "summary": "Ada keeps bees; the left hive weighs 31 kilograms.", "entities": ["Ada"],
              "key_phrases": ["honey", "hives"]},
             {"title": "Allergy", "summary": "Ada must not eat nuts.", "entities": ["Ada"], "key_phrases": ["food"]}]
            """;

    private MadeMemories() {}

    /**
     * Makes memories in a new temporary directory.
     *
     * @param arguments none
     * @throws IOException if there is no such directory
     */
    public static void main(String[] arguments) throws IOException {
        run(System.out, Files.createTempDirectory("memories"));
    }

    static void run(PrintStream out, Path directory) {
        List<SourceMessage> chat = chat();
        try (LongTermMemoryStore store = FileLongTermMemoryStore.of(directory)) {
            Discussion chunks = discussion(store, "{\"minMemoriesPerSummary\": 1}");
            int made = chunks.qualityMemory(chat).made().size();
            chunks.updateSummary();
            Discussion facts = discussion(store, "{\"useVectorForQualityMemory\": true}");
            int found = facts.qualityMemory(chat).made().size();
            out.println("The conversation:");
            chat.forEach(each -> out.println("  " + each.id() + " " + Transcript.text(each.message())));
            out.printf(
                    "%d messages, of which the newest 3 are left alone: %d chunk, %d facts%n",
                    chat.size(), made, found);
            out.println("A chunk is a text about a part of the conversation. RecentMemory shows the newest chunks.");
            out.println("FullChatSummary shows the summary that was made of all chunks.");

            out.println("RecentMemory:    " + chunks.retrieve("RecentMemory", NodeConfig.EMPTY, chat));
            out.println("FullChatSummary: " + chunks.retrieve("FullChatSummary", NodeConfig.EMPTY, chat));
            MadeMemory fact = facts.memories(chat)
                    .search(FactQuery.of("How much honey is in the hive?"))
                    .get(0)
                    .memory();
            out.println("Search:          " + fact.text());
            out.println("  made from " + fact.source().messageIds() + ", trusted as " + fact.trust());
        }
    }

    private static Discussion discussion(LongTermMemoryStore store, String config) {
        return Discussions.builder(store)
                .chatModel(new Scripted())
                .config(DiscussionConfig.ofJson(config))
                .build()
                .discussion("ada", "42");
    }

    private static List<SourceMessage> chat() {
        String[] said = {
            "My name is Ada. I keep bees.",
            "Nice to meet you, Ada.",
            "The hive on the left weighs 31 kilograms.",
            "Written down.",
            "I must not eat nuts.",
            "I will remember that.",
            "What can I bake?",
            "A honey cake."
        };
        List<SourceMessage> messages = new ArrayList<>();
        for (int i = 0; i < said.length; i++) {
            boolean user = i % 2 == 0;
            messages.add(new SourceMessage(
                    "m" + (i + 1),
                    user ? UserMessage.from(said[i]) : AiMessage.from(said[i]),
                    user ? Trust.USER : Trust.ASSISTANT));
        }
        return messages;
    }

    /** Answers what a small model would, by what it is asked for. */
    private static final class Scripted implements ChatModel {

        @Override
        public ChatResponse doChat(ChatRequest request) {
            String prompt = ((UserMessage) request.messages().get(1)).singleText();
            String answer = prompt.contains("JSON")
                    ? FACTS
                    : prompt.contains("summary")
                            ? "Ada keeps bees and must not eat nuts."
                            : "Ada keeps bees. Her left hive weighs 31 kilograms. She must not eat nuts.";
            return ChatResponse.builder().aiMessage(AiMessage.from(answer)).build();
        }
    }
}

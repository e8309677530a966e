package com.example.meaning;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.embedding.onnx.allminilml6v2q.AllMiniLmL6V2QuantizedEmbeddingModel;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.Recalled;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import java.util.List;

/** A question that has no word of the message that answers it: words alone do not find it, an embedding model does. */
public final class FindByMeaning {

    private static final List<String> SAID = List.of(
            "We walked our puppy along the river before breakfast.",
            "The boiler was repaired on Tuesday.",
            "I paint the kitchen yellow this weekend.",
            "My sister plays the cello in an orchestra.",
            "The train to Vienna was late again.",
            "I bake bread with rye flour.");

    private static final String QUESTION = "Which animal lives at home?";

    private FindByMeaning() {}

    public static void main(String[] args) throws InterruptedException {
        System.out.println("Words alone: " + answer(null));
        System.out.println("With MiniLM: " + answer(new AllMiniLmL6V2QuantizedEmbeddingModel()));
    }

    private static String answer(EmbeddingModel model) throws InterruptedException {
        try (MessageLog log = MessageLogs.inMemory();
                MessageIndex index = new InMemoryMessageIndex()) {
            Keepsake.Builder builder =
                    Keepsake.builder().messageLog(log).index(index).maxMessages(2);
            if (model != null) {
                builder.embeddingModel(
                        model, "all-minilm-l6-v2-q"); // the name is yours; a new one makes all vectors again
            }
            Keepsake keepsake = builder.build();
            ChatMemory memory = keepsake.chatMemory("alice");
            for (String text : SAID) {
                memory.add(UserMessage.from(text));
                memory.add(AiMessage.from("Noted."));
            }
            // Vectors are made in the background, some seconds after a message.
            for (int i = 0; i < (model == null ? 1 : 60); i++) {
                Recalled recalled = keepsake.recall().find("alice", QUESTION);
                if (!recalled.passages().isEmpty()) {
                    return recalled.passages().get(0).message().userText();
                }
                Thread.sleep(500);
            }
            return "nothing";
        }
    }
}

package io.github.keepsake4j.chat.keepsake;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.FactQuery;
import io.github.keepsake4j.memories.LongTermMemoriesOfConversation;
import io.github.keepsake4j.memories.LongTermMemoryTools;
import io.github.keepsake4j.memories.MadeMemory;
import io.github.keepsake4j.memories.Passage;
import io.github.keepsake4j.memories.ScriptedModel;
import io.github.keepsake4j.memories.Trust;
import io.github.keepsake4j.memories.inmemory.InMemoryLongTermMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.MessageIndex.Watermark;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import io.github.keepsake4j.testing.ConceptModel;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SearchOfKeepsakeTest {

    private final MessageLog log = new InMemoryMessageLog();
    private final MessageLog nodeLog = new InMemoryMessageLog();
    private final MessageIndex index = new InMemoryMessageIndex();

    private Keepsake keepsake() {
        return Keepsake.builder()
                .messageLog(log)
                .nodeLog(nodeLog)
                .tenant("acme")
                .index(index)
                .build();
    }

    private void awaitIndexed(MemoryKey key, Watermark watermark) {
        await().until(() -> watermark.equals(index.watermarks(List.of(key)).get(key)));
    }

    @Test
    void what_is_said_is_found_at_once_and_indexed_in_the_background() {
        Keepsake keepsake = keepsake();
        ConversationKey chat = ConversationKey.of("acme", "42");
        keepsake.chatMemory("42").add(UserMessage.from("Book a table at the Italian restaurant"));
        keepsake.chatMemory("42").add(AiMessage.from("For how many?"));
        assertThat(keepsake.search().find(Scope.memory(chat), "restaurants").hits())
                .hasSize(1);

        awaitIndexed(chat, new Watermark(1, 2));
        assertThat(keepsake.search().find("restaurants").hits()).hasSize(1);
        NodeKey node = NodeKey.of("acme", "app", "42", "writer");
        keepsake.chatMemory(node).add(UserMessage.from("The restaurant is closed"));
        awaitIndexed(node, new Watermark(1, 1));
        assertThat(keepsake.search().find(Scope.tenant("acme"), "restaurants").hits())
                .hasSize(2);

        keepsake.conversation("42").erase();
        assertThat(keepsake.search().find(Scope.memory(chat), "restaurant").hits())
                .isEmpty();
        await().until(() -> index.watermarks(List.of(chat)).isEmpty());
    }

    @Test
    void what_a_log_has_already_is_indexed_when_a_keepsake_is_built() {
        Keepsake.builder()
                .messageLog(log)
                .tenant("acme")
                .build()
                .chatMemory("42")
                .add(UserMessage.from("an old story"));
        Keepsake keepsake = keepsake();
        awaitIndexed(ConversationKey.of("acme", "42"), new Watermark(1, 1));
        await().until(() ->
                !keepsake.search().find(Scope.tenant("acme"), "story").lagging());
        assertThat(keepsake.search().find(Scope.tenant("acme"), "story").hits()).hasSize(1);
    }

    @Test
    void a_paraphrase_is_recalled_with_an_embedding_model() {
        ConceptModel model = new ConceptModel();
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .tenant("acme")
                .maxMessages(1)
                .index(index)
                .embeddingModel(model, "concepts")
                .build();
        keepsake.chatMemory("42").add(UserMessage.from("We brought home a puppy called Luna."));
        keepsake.chatMemory("42").add(AiMessage.from("What a sweet name!"));
        keepsake.chatMemory("42").add(UserMessage.from("Thanks"));

        await().atMost(Duration.ofMinutes(1))
                .until(() -> keepsake.recall().find("42", "Describe Emma's hound").passages().stream()
                        .anyMatch(passage -> passage.message()
                                .message()
                                .equals(UserMessage.from("We brought home a puppy called Luna."))));
    }

    @Test
    void a_fact_is_found_by_the_same_embedding_model() {
        InMemoryLongTermMemoryStore store = new InMemoryLongTermMemoryStore();
        Keepsake keepsake = Keepsake.builder()
                .messageLog(log)
                .tenant("acme")
                .index(index)
                .embeddingModel(new ConceptModel(), "concepts")
                .longTermMemories(
                        Discussions.builder(store)
                                .chatModel(new ScriptedModel(prompt -> ""))
                                .build(),
                        Duration.ofMinutes(5))
                .build();
        MadeMemory pet = MadeMemory.fact("Pet", "A bird", List.of(), List.of(), Passage.NONE, Trust.USER);
        store.add(ConversationKey.of("acme", "42"), MadeMemory.Kind.FACT, 0, Passage.NONE, List.of(pet));
        keepsake.chatMemory("42").add(UserMessage.from("Hello"));
        LongTermMemoriesOfConversation memories = keepsake.longTermMemories().of("42");

        memories.correct(pet.id(), "A puppy called Luna", Trust.USER);

        assertThat(memories.search(FactQuery.of("hound")))
                .extracting(MadeMemory::text)
                .containsExactly("A puppy called Luna");
        assertThat(keepsake.longTermMemories()
                        .tools(LongTermMemoryTools.Options.standard())
                        .searchMemory("hound", "42"))
                .contains("A puppy called Luna");
    }

    @Test
    void an_embedding_model_needs_an_index_and_a_short_name() {
        Keepsake.Builder builder = Keepsake.builder().messageLog(log);
        for (String name : List.of("", "a".repeat(101), "a\0b")) {
            assertThrown(
                    InvalidInputException.class,
                    () -> builder.embeddingModel(new ConceptModel(), name),
                    "name of the embedding model");
        }
        builder.embeddingModel(new ConceptModel(), "a".repeat(100));
        assertThrown(InvalidInputException.class, builder::build, "embeddingModel", "JdbcMessageIndex");
    }

    @Test
    void without_an_index_a_search_says_what_is_missing() {
        Keepsake keepsake = Keepsake.builder().messageLog(log).build();
        assertThrown(
                InvalidInputException.class,
                () -> keepsake.search().find(Scope.tenant("acme"), "word"),
                "JdbcMessageIndex");
    }
}

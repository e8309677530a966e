package io.github.keepsake4j.spring;

import dev.langchain4j.model.chat.ChatModel;
import io.github.keepsake4j.memories.DiscussionConfig;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.LongTermMemoryRetriever;
import io.github.keepsake4j.memories.LongTermMemoryRetrieverFactory;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.memories.LongTermMemoryWorkflow;
import io.github.keepsake4j.message.InvalidInputException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/**
 * Configures the creation and the retrieval of long-term memories, by the properties and the application's beans. The
 * JSON of a discussion names beans of {@link LongTermMemoryWorkflow}. The name of a bean of {@link LongTermMemoryRetriever} is a node
 * type.
 */
final class Creators {

    private Creators() {}

    static Discussions discussions(
            KeepsakeProperties properties,
            LongTermMemoryStore store,
            ConfigurableListableBeanFactory beans,
            ResourceLoader resources) {
        KeepsakeProperties.Memories memories = properties.memories();
        DiscussionConfig config = config(memories, resources);
        Discussions.Builder builder = Discussions.builder(store)
                .config(config)
                .tokenCountEstimator(Settings.estimator(properties.strategy().model()))
                .leastTrust(memories.leastTrust());
        if (memories.userTextOnly()) {
            builder.userTextOnly();
        }
        Optional.ofNullable(memories.workflowDirectory()).ifPresent(builder::workflowDirectory);
        ChatModel model = Settings.model(memories.chatModel(), "memories.chat-model", beans);
        if (model != null) {
            builder.chatModel(model);
        } else if (config.callsTheModel()) {
            throw Settings.noModel(
                    "Memories need",
                    "memories.chat-model",
                    "beans of LongTermMemoryWorkflow that keepsake4j.memories.discussion names for all that is made",
                    beans);
        }
        beans.getBeansOfType(LongTermMemoryRetrieverFactory.class).values().forEach(factory -> factory.retrievers()
                .forEach(builder::retriever));
        beans.getBeansOfType(LongTermMemoryRetriever.class).forEach(builder::retriever);
        beans.getBeansOfType(LongTermMemoryWorkflow.class).forEach(builder::workflow);
        try {
            return builder.build();
        } catch (InvalidInputException e) {
            throw new ConfigurationException(
                    "The configuration in keepsake4j.memories is refused: " + e.getMessage() + ".",
                    "Add a bean of LongTermMemoryWorkflow of this name, or put the file into keepsake4j.memories.workflow-directory.",
                    e);
        }
    }

    private static DiscussionConfig config(KeepsakeProperties.Memories memories, ResourceLoader resources) {
        String file = memories.discussionFile();
        String property = "keepsake4j.memories.discussion" + (file == null ? "" : "-file");
        String json = file == null ? memories.discussion() : read(file, property, resources);
        try {
            return json == null ? DiscussionConfig.DEFAULT : DiscussionConfig.ofJson(json);
        } catch (InvalidInputException e) {
            throw new ConfigurationException(
                    property + " is refused: " + e.getMessage() + ".",
                    "Correct the JSON. The guide about long-term memories lists the fields.",
                    e);
        }
    }

    private static String read(String location, String property, ResourceLoader resources) {
        Resource file = resources.getResource(location);
        if (!file.exists()) {
            throw new ConfigurationException(
                    property + " names " + location + ", which does not exist.",
                    "Set it to a file, such as file:discussion.json, or to classpath:discussion.json.");
        }
        try {
            return file.getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new ConfigurationException(
                    property + " names " + location + ", which cannot be read.", "Check its permissions.", e);
        }
    }
}

package io.github.keepsake4j.spring;

import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.context.ClearToolResults;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.memories.LongTermMemoryBlock;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.summary.ModelSummarizer;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.transfer.ImportSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Converts the properties to settings of {@link Keepsake}. */
final class Settings {

    private Settings() {}

    static Keepsake.Builder builder(KeepsakeProperties properties) {
        KeepsakeProperties.Turns turns = properties.turns();
        Keepsake.Builder builder = Keepsake.builder()
                .tenant(properties.tenant())
                .showRetrieved(properties.showRetrieved())
                .turnPolicy(turns.policy())
                .turnLease(turns.lease())
                .turnLimit(turns.limit())
                .turnWait(turns.maxWait())
                .summarizerTimeout(properties.summary().timeout());
        if (properties.acceptDefaultMemoryId()) {
            builder.acceptDefaultMemoryId();
        }
        if (properties.keepRequests()) {
            builder.keepRequests();
        }
        return builder;
    }

    /** Returns a strategy of all limits that are set. */
    static ContextStrategy strategy(KeepsakeProperties properties) {
        ContextStrategy limits = parts(properties).stream()
                .map(Part::strategy)
                .reduce(ContextStrategy::and)
                .orElseThrow();
        Double step = properties.strategy().step();
        return step == null ? limits : limits.steps(step);
    }

    /** Returns the limits of {@link #strategy} by the names of their properties, for the log of the start. */
    static String window(KeepsakeProperties properties) {
        Double step = properties.strategy().step();
        return parts(properties).stream().map(Part::name).collect(Collectors.joining(" "))
                + (step == null ? "" : " step=" + step);
    }

    /** A strategy by the name of its property. */
    private record Part(String name, ContextStrategy strategy) {}

    static TokenCountEstimator estimator(@Nullable String model) {
        if (model == null) {
            return TokenCounter.standard();
        }
        try {
            return JtokkitTokenCountEstimator.forModel(model);
        } catch (InvalidInputException e) {
            throw new ConfigurationException(
                    "keepsake4j.strategy.model is " + model + ", and its way of counting tokens is not known.",
                    "Set it to a similar model of OpenAI's, such as gpt-4o, or add a ContextStrategy bean.",
                    e);
        }
    }

    private static List<Part> parts(KeepsakeProperties properties) {
        KeepsakeProperties.Strategy limits = properties.strategy();
        TokenCountEstimator estimator = estimator(limits.model());
        List<Part> parts = new ArrayList<>();
        if (properties.summary().enabled()) {
            parts.add(new Part(
                    "summary",
                    Summarization.triggerTokens(properties.summary().triggerTokens())
                            .keepTokens(properties.summary().keepTokens())
                            .countedBy(estimator)));
        }
        if (limits.maxTokens() != null) {
            parts.add(new Part(
                    "max-tokens=" + limits.maxTokens(), TokenLimit.withMaxTokens(limits.maxTokens(), estimator)));
        }
        if (limits.maxTurns() != null) {
            parts.add(new Part("max-turns=" + limits.maxTurns(), SlidingWindow.withMaxTurns(limits.maxTurns())));
        }
        boolean namesNone = limits.maxMessages() == null && limits.maxTurns() == null && limits.maxTokens() == null;
        if (namesNone && limits.step() == null) {
            SlidingWindow standard = SlidingWindow.standard();
            parts.add(new Part("standard (" + standard + ")", standard));
        } else if (namesNone || limits.maxMessages() != null) {
            int most = limits.maxMessages() == null ? SlidingWindow.STANDARD_MESSAGES : limits.maxMessages();
            parts.add(new Part("max-messages=" + most, SlidingWindow.withMaxMessages(most)));
        }
        if (limits.keepToolResults() != null) {
            parts.add(new Part(
                    "keep-tool-results=" + limits.keepToolResults(),
                    ClearToolResults.keepNewest(limits.keepToolResults())));
        }
        KeepsakeProperties.Memories made = properties.memories();
        if (made.blockTokens() != null) {
            parts.add(new Part(
                    "block-tokens=" + made.blockTokens(),
                    LongTermMemoryBlock.withMaxTokens(made.blockTokens()).withMinTrust(made.leastTrust())));
        }
        return parts;
    }

    /** Returns a summarizer of the application's model. */
    static Summarizer summarizer(KeepsakeProperties properties, ConfigurableListableBeanFactory beans) {
        KeepsakeProperties.Summary summary = properties.summary();
        ChatModel model = model(summary.chatModel(), "summary.chat-model", beans);
        if (model == null) {
            throw noModel("Summaries need", "summary.chat-model", "a Summarizer bean", beans);
        }
        ModelSummarizer.Builder builder = ModelSummarizer.builder(model);
        Optional.ofNullable(summary.instructions()).ifPresent(builder::instructions);
        return builder.build();
    }

    /** Returns the model that a property names, else the only or primary one, or null. */
    static @Nullable ChatModel model(@Nullable String name, String property, ConfigurableListableBeanFactory beans) {
        if (name == null) {
            return beans.getBeanProvider(ChatModel.class).getIfUnique();
        }
        if (!beans.containsBean(name) || !beans.isTypeMatch(name, ChatModel.class)) {
            throw new ConfigurationException(
                    "keepsake4j." + property + " names the bean " + name + ", and there is no ChatModel of this name.",
                    "Set it to one of: " + String.join(", ", beans.getBeanNamesForType(ChatModel.class)) + ".");
        }
        return beans.getBean(name, ChatModel.class);
    }

    static ConfigurationException noModel(
            String what, String property, String instead, ConfigurableListableBeanFactory beans) {
        return new ConfigurationException(
                what + " a ChatModel bean, and there "
                        + (beans.getBeanNamesForType(ChatModel.class).length == 0 ? "is none." : "are several."),
                "Add a ChatModel bean, name one in keepsake4j." + property + ", or add " + instead + ".");
    }

    /** Sets the only or primary embedding model, of this name. */
    static void embeddingModel(String name, ConfigurableListableBeanFactory beans, Keepsake.Builder builder) {
        EmbeddingModel model = beans.getBeanProvider(EmbeddingModel.class).getIfUnique();
        if (model == null) {
            throw new ConfigurationException(
                    "keepsake4j.index.embedding-model-name needs an EmbeddingModel bean, and there "
                            + (beans.getBeanNamesForType(EmbeddingModel.class).length == 0
                                    ? "is none."
                                    : "are several."),
                    "Add an EmbeddingModel bean, mark one as @Primary, or remove the property.");
        }
        if (beans.getBeanProvider(MessageIndex.class).getIfUnique() == null) {
            throw new ConfigurationException(
                    "keepsake4j.index.embedding-model-name needs an index.", "Set keepsake4j.index.enabled=true.");
        }
        builder.embeddingModel(model, name);
    }

    /** Sets the bean whose conversations are imported. */
    static void importFrom(String name, ConfigurableListableBeanFactory beans, Keepsake.Builder builder) {
        Object old = beans.containsBean(name) && !isOurs(name, beans) ? beans.getBean(name) : null;
        if (old instanceof ImportSource source) {
            builder.importFrom(source);
            return;
        }
        if (old instanceof ChatMemoryStore store) {
            builder.importFrom(store);
            return;
        }
        List<String> others = Stream.of(ChatMemoryStore.class, ImportSource.class)
                .flatMap(type -> Stream.of(beans.getBeanNamesForType(type, true, false)))
                .filter(bean -> !isOurs(bean, beans))
                .toList();
        throw new ConfigurationException(
                "keepsake4j.import-from names the bean " + name
                        + ", and there is no other ChatMemoryStore or ImportSource of this name.",
                others.isEmpty()
                        ? "Add a bean of the old ChatMemoryStore, or remove the property."
                        : "Set it to one of: " + String.join(", ", others) + ".");
    }

    /** Returns whether a bean is a store of this library, from which nothing can be imported. */
    private static boolean isOurs(String bean, ConfigurableListableBeanFactory beans) {
        return bean.equals(KeepsakeAutoConfiguration.CHAT_MEMORY_STORE)
                || beans.isTypeMatch(bean, KeepsakeChatMemoryStore.class);
    }
}

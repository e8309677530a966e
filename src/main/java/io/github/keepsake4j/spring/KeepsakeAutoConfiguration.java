package io.github.keepsake4j.spring;

import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.ContextStrategy;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.LongTermMemoryStore;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.retention.CleanUp;
import io.github.keepsake4j.summary.Summarizer;
import java.util.Objects;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.core.io.ResourceLoader;

/**
 * Configures the memories of an application. All beans are lazy: an application that has the jar but uses neither a
 * property nor a memory opens no store and needs none. If a property is set, {@link #keepsakeEagerStart} creates the
 * beans at the start, so that mistakes are found then.
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
        })
@ConditionalOnProperty(name = "keepsake4j.enabled", matchIfMissing = true)
@EnableConfigurationProperties(KeepsakeProperties.class)
@ImportRuntimeHints(KeepsakeRuntimeHints.class)
class KeepsakeAutoConfiguration {

    private static final Logger LOG = LoggerFactory.getLogger(KeepsakeAutoConfiguration.class);

    static final String NODE_LOG = "keepsakeNodeLog";
    static final String CHAT_MEMORY_STORE = "keepsakeChatMemoryStore";

    private static final String MEMORIES = "keepsake4j.memories.enabled";

    @Bean
    static MemoriesInUse keepsakeMemoriesInUse(BeanFactory beans) {
        return new MemoriesInUse(beans);
    }

    /**
     * Creates the memories at the start, so that errors of the configuration are reported then and not in the first
     * chat.
     */
    @Bean
    @Conditional(Conditions.OnAnyProperty.class)
    SmartInitializingSingleton keepsakeEagerStart(ObjectProvider<Keepsake> keepsakes) {
        return () -> keepsakes.stream().forEach(keepsake -> {});
    }

    @Bean
    @Lazy
    BackgroundWork keepsakeBackgroundWork(KeepsakeProperties properties) {
        return new BackgroundWork(properties.shutdownMaxWait());
    }

    @Bean
    @Lazy
    Stores keepsakeStores(
            KeepsakeProperties properties,
            ConfigurableListableBeanFactory beans,
            @KeepsakeDataSource ObjectProvider<DataSource> marked,
            ObjectProvider<DataSource> all,
            ResourceLoader resources) {
        return new Stores(properties, beans, new DataSources(properties, marked, all, resources));
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean(MessageLog.class)
    @DependsOnDatabaseInitialization
    MessageLog keepsakeMessageLog(Stores stores) {
        return stores.messageLog();
    }

    @Bean(name = NODE_LOG, defaultCandidate = false)
    @Lazy
    @ConditionalOnMissingBean(name = NODE_LOG)
    @ConditionalOnProperty("keepsake4j.node-log.store")
    @DependsOnDatabaseInitialization
    MessageLog keepsakeNodeLog(Stores stores, KeepsakeProperties properties) {
        return stores.nodeLog(Objects.requireNonNull(properties.nodeLog().store()));
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean(MessageIndex.class)
    @ConditionalOnProperty("keepsake4j.index.enabled")
    @DependsOnDatabaseInitialization
    MessageIndex keepsakeMessageIndex(Stores stores) {
        return stores.index();
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean({LongTermMemoryStore.class, Discussions.class})
    @ConditionalOnProperty(MEMORIES)
    @DependsOnDatabaseInitialization
    LongTermMemoryStore keepsakeMemoryStore(Stores stores, ObjectProvider<Words> words) {
        return stores.memoryStore(words.getIfUnique(Words::standard));
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    @ConditionalOnProperty(MEMORIES)
    Discussions keepsakeDiscussions(
            KeepsakeProperties properties,
            LongTermMemoryStore store,
            ConfigurableListableBeanFactory beans,
            ResourceLoader resources) {
        return Creators.discussions(properties, store, beans, resources);
    }

    @Bean
    @Lazy
    @ConditionalOnMissingBean
    Keepsake keepsake(
            KeepsakeProperties properties,
            MessageLog messageLog,
            @Qualifier(NODE_LOG) ObjectProvider<MessageLog> nodeLog,
            ObjectProvider<LogDecorator> decorators,
            ObjectProvider<ContextStrategy> strategies,
            ObjectProvider<Summarizer> summarizers,
            ObjectProvider<Metrics> metrics,
            ObjectProvider<MessageIndex> indexes,
            ObjectProvider<Words> words,
            ObjectProvider<Discussions> discussions,
            ObjectProvider<Keepsake.MetadataAtCreation> metadataAtCreation,
            BackgroundWork work,
            ObjectProvider<KeepsakeCustomizer> customizers,
            ConfigurableListableBeanFactory beans) {
        LogDecorator decorator = decorators.getIfUnique(() -> log -> log);
        Keepsake.Builder builder = Settings.builder(properties)
                .messageLog(decorator.around(messageLog))
                .executor(work);
        nodeLog.ifUnique(log -> builder.nodeLog(decorator.around(log)));
        ContextStrategy strategy = strategies.getIfUnique(() -> Settings.strategy(properties));
        builder.strategy(strategy);
        Summarizer summarizer = summarizers.getIfUnique();
        if (summarizer == null && strategy.summarizes()) {
            summarizer = Settings.summarizer(properties, beans);
        }
        if (summarizer != null) {
            builder.summarizer(summarizer);
        }
        metrics.ifUnique(builder::metrics);
        metadataAtCreation.ifUnique(builder::metadataAtCreation);
        indexes.ifUnique(builder::index);
        words.ifUnique(builder::words);
        if (properties.index().embeddingModelName() != null) {
            Settings.embeddingModel(properties.index().embeddingModelName(), beans, builder);
        }
        Discussions made = properties.memories().enabled() ? discussions.getIfUnique() : null;
        if (made != null) {
            builder.longTermMemories(made, properties.memories().freshness());
        }
        if (properties.importFrom() != null) {
            Settings.importFrom(properties.importFrom(), beans, builder);
        }
        customizers.orderedStream().forEach(customizer -> customizer.customize(builder));
        Keepsake keepsake = builder.build();
        MessageIndex index = indexes.getIfUnique();
        LOG.info(
                "Keepsake4j: store {}, window {}, index {}, long-term memories {}",
                messageLog.backend(),
                strategies.getIfUnique() == null
                        ? Settings.window(properties)
                        : strategy.getClass().getSimpleName(),
                index == null ? "off" : index.backend(),
                made == null ? "off" : made.store().backend());
        return keepsake;
    }

    /** Declared as LangChain4j's interface, because its starter looks at the declared types. */
    @Bean
    @Lazy
    @ConditionalOnMissingBean({ChatMemoryProvider.class, ChatMemory.class})
    ChatMemoryProvider keepsakeChatMemoryProvider(Keepsake keepsake) {
        return keepsake.chatMemoryProvider();
    }

    /** Primary, because the store that is imported from may be a bean too. */
    @Bean(CHAT_MEMORY_STORE)
    @Lazy
    @Primary
    @Conditional(Conditions.OnNoOtherChatMemoryStore.class)
    ChatMemoryStore keepsakeChatMemoryStore(Keepsake keepsake) {
        return keepsake.chatMemoryStore();
    }

    @Bean
    @Conditional(Conditions.OnRetention.class)
    RetentionJob keepsakeRetentionJob(
            KeepsakeProperties properties,
            ObjectProvider<Keepsake> keepsake,
            ObjectProvider<MessageLog> messageLog,
            @Qualifier(NODE_LOG) ObjectProvider<MessageLog> nodeLog,
            ObjectProvider<Metrics> metrics) {
        return new RetentionJob(properties, () -> {
            Keepsake whole = keepsake.getIfUnique();
            // Long-term memories are removed with their conversation. The logs do not know them.
            CleanUp cleanUp = whole == null
                    ? CleanUp.of(messageLog.getObject(), nodeLog.getIfUnique(messageLog::getObject))
                    : whole.cleanUp();
            return cleanUp.metrics(metrics.getIfUnique(() -> Metrics.NONE));
        });
    }
}

package io.github.keepsake4j.spring;

import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import java.util.Arrays;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/** When beans are there. */
final class Conditions {

    private Conditions() {}

    /** Matches if the application sets any property of this library: it then intends to use memories. */
    static final class OnAnyProperty implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return Binder.get(context.getEnvironment())
                    .bind(KeepsakeProperties.PREFIX, Bindable.mapOf(String.class, Object.class))
                    .isBound();
        }
    }

    /**
     * Matches if the application has no {@link ChatMemoryStore} bean except the one from which conversations are
     * imported.
     */
    static final class OnNoOtherChatMemoryStore implements ConfigurationCondition {

        @Override
        public ConfigurationPhase getConfigurationPhase() {
            return ConfigurationPhase.REGISTER_BEAN;
        }

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            String old = context.getEnvironment().getProperty("keepsake4j.import-from");
            ConfigurableListableBeanFactory beans = context.getBeanFactory();
            return beans == null
                    || Arrays.stream(beans.getBeanNamesForType(ChatMemoryStore.class, true, false))
                            .allMatch(name -> name.equals(old));
        }
    }

    /** Matches if there is a cron expression other than the one that means "off". */
    static final class OnRetention implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            String cron = context.getEnvironment().getProperty("keepsake4j.retention.cron");
            return StringUtils.hasText(cron) && !cron.equals(KeepsakeProperties.Retention.OFF);
        }
    }
}

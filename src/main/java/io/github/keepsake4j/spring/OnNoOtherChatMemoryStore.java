package io.github.keepsake4j.spring;

import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import java.util.Arrays;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches if the application has no {@link ChatMemoryStore} bean but the one that conversations are imported from. */
final class OnNoOtherChatMemoryStore implements ConfigurationCondition {

    @Override
    public ConfigurationPhase getConfigurationPhase() {
        return ConfigurationPhase.REGISTER_BEAN;
    }

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        String old = context.getEnvironment().getProperty(KeepsakeProperties.PREFIX + ".import-from");
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
        return beans == null
                || Arrays.stream(beans.getBeanNamesForType(ChatMemoryStore.class, true, false))
                        .allMatch(name -> name.equals(old));
    }
}

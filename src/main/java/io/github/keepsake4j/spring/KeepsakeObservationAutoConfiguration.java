package io.github.keepsake4j.spring;

import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Observes each call of a log, for timers and traces. */
@AutoConfiguration(
        after = KeepsakeAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
        })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean({MemoriesInUse.class, ObservationRegistry.class})
class KeepsakeObservationAutoConfiguration {

    @Bean
    LogDecorator keepsakeObservedLogs(ObjectProvider<ObservationRegistry> registries) {
        return log -> {
            ObservationRegistry registry = registries.getIfUnique();
            return registry == null || registry.isNoop() ? log : TracedLog.of(log, registry);
        };
    }
}

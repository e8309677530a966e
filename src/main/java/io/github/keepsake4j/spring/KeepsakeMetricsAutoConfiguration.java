package io.github.keepsake4j.spring;

import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.metrics.MicrometerMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Counts in the application's registry. */
@AutoConfiguration(
        after = KeepsakeAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({MemoriesInUse.class, MeterRegistry.class})
class KeepsakeMetricsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    Metrics keepsakeMetrics(MeterRegistry registry) {
        return new MicrometerMetrics(registry);
    }
}

package io.github.keepsake4j.spring;

import java.util.Map;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** Reports the health of the memories to Spring Boot 4. */
@AutoConfiguration(after = KeepsakeAutoConfiguration.class)
@ConditionalOnClass(name = "org.springframework.boot.health.contributor.AbstractHealthIndicator")
@ConditionalOnBean(MemoriesInUse.class)
@ConditionalOnEnabledHealthIndicator("keepsake")
class KeepsakeHealthContributorAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(name = "keepsakeHealthIndicator")
    HealthIndicator keepsakeHealthIndicator(KeepsakeProperties properties, MemoriesInUse inUse) {
        return new AbstractHealthIndicator("The memories cannot be read") {
            @Override
            protected void doHealthCheck(Health.Builder builder) {
                Map<String, String> backends = inUse.probe(properties.tenant());
                if (backends.isEmpty()) {
                    builder.unknown().withDetail("memories", "not in use");
                } else {
                    builder.up().withDetails(backends);
                }
            }
        };
    }
}

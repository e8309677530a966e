package io.github.keepsake4j.spring;

import java.util.Map;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.AbstractHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Reports the health of the memories to Spring Boot 3. */
@AutoConfiguration(after = KeepsakeAutoConfiguration.class)
@ConditionalOnClass(name = "org.springframework.boot.actuate.health.AbstractHealthIndicator")
@ConditionalOnBean(MemoriesInUse.class)
@ConditionalOnEnabledHealthIndicator("keepsake")
class KeepsakeHealthAutoConfiguration {

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

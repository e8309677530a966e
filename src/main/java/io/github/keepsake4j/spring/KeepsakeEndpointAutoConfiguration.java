package io.github.keepsake4j.spring;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The actuator's endpoint {@code keepsake}. */
@AutoConfiguration(after = KeepsakeAutoConfiguration.class)
@ConditionalOnClass({Endpoint.class, ConditionalOnAvailableEndpoint.class})
@ConditionalOnBean(MemoriesInUse.class)
@ConditionalOnAvailableEndpoint(endpoint = KeepsakeEndpoint.class)
class KeepsakeEndpointAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    KeepsakeEndpoint keepsakeEndpoint(KeepsakeProperties properties, MemoriesInUse inUse) {
        return new KeepsakeEndpoint(properties.tenant(), inUse);
    }
}

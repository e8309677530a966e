package io.github.keepsake4j.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Names a property that does not exist, before Spring Boot shows how it binds properties. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable root, UnboundConfigurationPropertiesException cause) {
        ConfigurationPropertyName name =
                cause.getUnboundProperties().iterator().next().getName();
        return ConfigurationPropertyName.of(KeepsakeProperties.PREFIX).isAncestorOf(name)
                ? new FailureAnalysis(
                        name + " is not a property of Keepsake4j.",
                        "Correct its name, or remove it. The file META-INF/spring-configuration-metadata.json of the jar lists"
                                + " the properties.",
                        root)
                : null;
    }
}

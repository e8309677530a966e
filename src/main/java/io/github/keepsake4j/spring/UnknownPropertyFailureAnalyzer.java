package io.github.keepsake4j.spring;

import java.lang.reflect.RecordComponent;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Names a property that does not exist and those beside it, before Spring Boot shows how it binds properties. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable root, UnboundConfigurationPropertiesException cause) {
        ConfigurationPropertyName name =
                cause.getUnboundProperties().iterator().next().getName();
        if (!ConfigurationPropertyName.of(KeepsakeProperties.PREFIX).isAncestorOf(name)) {
            return null;
        }
        Class<?> group = Stream.of(KeepsakeProperties.class.getRecordComponents())
                .filter(part -> part.getType().isRecord()
                        && name(part).equals(name.getElement(1, ConfigurationPropertyName.Form.DASHED)))
                .<Class<?>>map(RecordComponent::getType)
                .findFirst()
                .orElse(KeepsakeProperties.class);
        return new FailureAnalysis(
                name + " is not a property of Keepsake4j.",
                "Correct its last part to one of "
                        + Stream.of(group.getRecordComponents())
                                .map(UnknownPropertyFailureAnalyzer::name)
                                .toList(),
                root);
    }

    private static String name(RecordComponent part) {
        return DataObjectPropertyName.toDashedForm(part.getName());
    }
}

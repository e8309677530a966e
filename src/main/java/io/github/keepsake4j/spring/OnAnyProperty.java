package io.github.keepsake4j.spring;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Matches if the application sets any property of ours: it then means to use memories. */
final class OnAnyProperty implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        return Binder.get(context.getEnvironment())
                .bind(KeepsakeProperties.PREFIX, Bindable.mapOf(String.class, Object.class))
                .isBound();
    }
}

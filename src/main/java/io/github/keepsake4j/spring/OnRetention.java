package io.github.keepsake4j.spring;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/** Matches if there is a cron expression, and it is not the one that means "off". */
final class OnRetention implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        String cron = context.getEnvironment().getProperty(KeepsakeProperties.PREFIX + ".retention.cron");
        return StringUtils.hasText(cron) && !cron.equals(KeepsakeProperties.Retention.OFF);
    }
}

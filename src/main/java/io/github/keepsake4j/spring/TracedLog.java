package io.github.keepsake4j.spring;

import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.MessageLog;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A log whose calls are observations. An observation has the method or the kind of change, and the store, and never a
 * memory.
 */
final class TracedLog {

    /** Do no I/O, or end the log. */
    private static final Set<String> NOT_OBSERVED = Set.of("backend", "close", "toString", "hashCode", "equals");

    private TracedLog() {}

    static MessageLog of(MessageLog log, ObservationRegistry registry) {
        return (MessageLog) Proxy.newProxyInstance(
                MessageLog.class.getClassLoader(), new Class<?>[] {MessageLog.class}, (proxy, method, arguments) -> {
                    if (NOT_OBSERVED.contains(method.getName())) {
                        return invoke(log, method, arguments);
                    }
                    String operation = operation(method, arguments);
                    Observation observation = Observation.createNotStarted("keepsake.log", registry)
                            .contextualName("keepsake " + operation)
                            .lowCardinalityKeyValue("operation", operation)
                            .lowCardinalityKeyValue("backend", log.backend());
                    @Nullable Object[] result = new @Nullable Object[1];
                    observation.observeChecked(() -> {
                        result[0] = invoke(log, method, arguments);
                    });
                    return result[0];
                });
    }

    private static String operation(Method method, @Nullable Object @Nullable [] arguments) {
        return arguments != null && arguments[arguments.length - 1] instanceof Change<?> change
                ? change.kind()
                : method.getName();
    }

    private static @Nullable Object invoke(MessageLog log, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(log, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }
}

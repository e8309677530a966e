package io.github.keepsake4j.chat;

import dev.langchain4j.service.Result;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The methods of an AI service that have one name.
 *
 * @param methods the methods; none if the service's class is not visible
 */
record ServiceMethods(List<Method> methods) {

    /** The methods of each service by name, looked up once. They live as long as the service's class. */
    private static final ClassValue<Map<String, ServiceMethods>> KNOWN = new ClassValue<>() {
        @Override
        protected Map<String, ServiceMethods> computeValue(Class<?> service) {
            return new ConcurrentHashMap<>();
        }
    };

    /** Returns the methods of a service by name, as the current thread sees its class. */
    static ServiceMethods of(String type, String name) {
        try {
            Class<?> service = Class.forName(type, false, Thread.currentThread().getContextClassLoader());
            return KNOWN.get(service)
                    .computeIfAbsent(
                            name,
                            called -> new ServiceMethods(Stream.of(service.getMethods())
                                    .filter(method -> method.getName().equals(called))
                                    .toList()));
        } catch (ReflectiveOperationException | LinkageError e) {
            return new ServiceMethods(List.of());
        }
    }

    /** Returns whether a call may return a stream. It does not only if all methods return plain values. */
    boolean mayStream() {
        return methods.isEmpty() || methods.stream().map(Method::getReturnType).anyMatch(type -> !isPlain(type));
    }

    private static boolean isPlain(Class<?> type) {
        return type == String.class
                || type == Result.class
                || type.isPrimitive()
                || type.isEnum()
                || type.isRecord()
                || Number.class.isAssignableFrom(type)
                || type == Boolean.class;
    }
}

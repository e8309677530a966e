package io.github.keepsake4j.log;

import dev.langchain4j.model.output.TokenUsage;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the number of input tokens that a provider took from its cache. LangChain4j has no common method for it, and
 * the providers' classes are optional dependencies. OpenAI's usage has it in the details of the input; other usages
 * have a method of their own.
 */
final class CachedTokens {

    private static final String DETAILS = "inputTokensDetails";
    private static final List<String> NAMES =
            List.of("cachedTokens", "cacheReadInputTokens", "cachedContentTokenCount");

    private static final ClassValue<List<Method>> GETTERS = new ClassValue<>() {
        @Override
        protected List<Method> computeValue(Class<?> type) {
            return Stream.concat(Stream.of(DETAILS), NAMES.stream())
                    .map(name -> getter(type, name))
                    .filter(Objects::nonNull)
                    .toList();
        }
    };

    private CachedTokens() {}

    /** Returns the number of tokens, 0 if it is not known. */
    static long of(TokenUsage usage) {
        return usage.getClass() == TokenUsage.class ? 0 : of((Object) usage);
    }

    private static long of(Object source) {
        for (Method getter : GETTERS.get(source.getClass())) {
            Object value = get(getter, source);
            if (value instanceof Integer count) {
                return Math.max(0, count);
            }
            if (value != null && getter.getName().equals(DETAILS)) {
                return of(value);
            }
        }
        return 0;
    }

    private static @Nullable Method getter(Class<?> type, String name) {
        return Stream.of(type.getMethods())
                .filter(method -> method.getName().equals(name) && method.getParameterCount() == 0)
                .findFirst()
                .orElse(null);
    }

    private static @Nullable Object get(Method getter, Object source) {
        try {
            return getter.invoke(source);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException(getter + " cannot be called", e);
        }
    }
}

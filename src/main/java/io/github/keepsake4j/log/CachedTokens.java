package io.github.keepsake4j.log;

import dev.langchain4j.model.output.TokenUsage;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
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

    private CachedTokens() {}

    /** Returns the number of tokens, 0 if it is not known. */
    static long of(TokenUsage usage) {
        return usage.getClass() == TokenUsage.class ? 0 : of((Object) usage);
    }

    private static long of(Object source) {
        Object details = get(source, DETAILS);
        if (details != null) {
            return of(details);
        }
        return NAMES.stream()
                .flatMap(name -> Stream.ofNullable(get(source, name)))
                .filter(Integer.class::isInstance)
                .mapToLong(count -> Math.max(0, (Integer) count))
                .findFirst()
                .orElse(0);
    }

    private static @Nullable Object get(Object source, String getter) {
        try {
            return source.getClass().getMethod(getter).invoke(source);
        } catch (NoSuchMethodException e) {
            return null;
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException(getter + " cannot be called", e);
        }
    }
}

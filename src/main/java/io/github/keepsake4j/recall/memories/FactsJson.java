package io.github.keepsake4j.recall.memories;

import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.summary.TranscriptText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The facts in a model's answer. Only four fields are read. All else that a model writes, such as a trust or an id, is ignored.
 *
 * @param facts the valid ones
 * @param problems why each of the others was skipped
 */
record FactsJson(List<MadeMemory> facts, List<String> problems) {

    private static final Pattern FENCE = Pattern.compile("\\s*```\\w*\\R(.*?)\\R?```\\s*", Pattern.DOTALL);

    /**
     * Reads an answer.
     *
     * @throws MemoryFailedException if there is no JSON object or array in it, or no object in the array is valid
     */
    static FactsJson read(String answer, Passage source, Trust trust) {
        Matcher fence = FENCE.matcher(answer);
        Object json = parse(fence.matches() ? fence.group(1) : answer);
        if (!(json instanceof List<?>) && !(json instanceof Map<?, ?>)) {
            throw new MemoryFailedException("The answer is neither a JSON object nor an array", null);
        }
        List<?> objects = json instanceof List<?> list ? list : List.of(json);
        List<MadeMemory> facts = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        for (int i = 0; i < objects.size(); i++) {
            try {
                facts.add(fact(objects.get(i), source, trust));
            } catch (InvalidInputException e) {
                problems.add("fact " + (i + 1) + " of " + objects.size() + ": " + e.getMessage());
            }
        }
        if (facts.isEmpty() && !objects.isEmpty()) {
            throw new MemoryFailedException("The answer has no valid fact; " + problems.get(0), null);
        }
        return new FactsJson(List.copyOf(facts), List.copyOf(problems));
    }

    private static @Nullable Object parse(String text) {
        try {
            return PlainJson.read("answer", text);
        } catch (InvalidInputException e) {
            throw new MemoryFailedException("The answer is not JSON; " + e.getMessage(), null);
        }
    }

    private static MadeMemory fact(@Nullable Object value, Passage source, Trust trust) {
        if (!(value instanceof Map<?, ?> fact)) {
            throw new InvalidInputException("fact", "must be an object");
        }
        return MadeMemory.fact(
                text(fact, "title"),
                text(fact, "summary"),
                texts(fact, "entities"),
                texts(fact, "key_phrases"),
                source,
                trust);
    }

    private static String text(Map<?, ?> fact, String name) {
        if (fact.get(name) instanceof String text && !text.isBlank()) {
            return TranscriptText.clean(text).strip();
        }
        throw new InvalidInputException(name, "must be a text that is not blank");
    }

    private static List<String> texts(Map<?, ?> fact, String name) {
        Object value = fact.get(name);
        if (value == null) {
            return List.of();
        }
        if (value instanceof List<?> list && list.stream().allMatch(String.class::isInstance)) {
            return list.stream()
                    .map(String.class::cast)
                    .filter(text -> !text.isBlank())
                    .map(text -> TranscriptText.clean(text).strip())
                    .toList();
        }
        throw new InvalidInputException(name, "must be a list of texts");
    }
}

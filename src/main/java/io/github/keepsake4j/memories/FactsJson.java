package io.github.keepsake4j.memories;

import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.text.TranscriptText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the facts in a model's answer. Reads only four fields and the title of an older fact that a fact contradicts.
 * Ignores all other fields, such as a trust or an id.
 *
 * @param facts the valid ones
 * @param problems the reasons why other objects were skipped
 */
record FactsJson(List<MadeMemory> facts, List<String> problems) {

    /** The beginning of an object or an array of objects. Brackets in prose rarely begin like this. */
    private static final Pattern BEGIN = Pattern.compile("\\{\\s*[\"}]|\\[\\s*[{\\]]");

    /**
     * Reads an answer. Text around the JSON, such as prose or a fence, is ignored. All values are read.
     *
     * @param replaced returns the id of the fact of a title that the new fact may replace, or null
     * @throws LongTermMemoryFailedException if there is no JSON object or array in it, or no object in the array is valid
     */
    static FactsJson read(String answer, Passage source, Trust trust, Function<String, @Nullable String> replaced) {
        List<?> objects = objects(answer);
        List<MadeMemory> facts = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        for (int i = 0; i < objects.size(); i++) {
            try {
                facts.add(fact(objects.get(i), source, trust, replaced));
            } catch (InvalidInputException e) {
                problems.add("fact " + (i + 1) + " of " + objects.size() + ": " + e.getMessage());
            }
        }
        if (facts.isEmpty() && !objects.isEmpty()) {
            throw new LongTermMemoryFailedException("The answer has no valid fact; " + problems.get(0), null);
        }
        return new FactsJson(List.copyOf(facts), List.copyOf(problems));
    }

    private static List<?> objects(String answer) {
        try {
            return objectsOf(PlainJson.read("answer", answer));
        } catch (InvalidInputException e) {
            return objectsInside(answer, e);
        }
    }

    private static List<?> objectsOf(@Nullable Object json) {
        if (json instanceof List<?> list) {
            return list;
        }
        if (json instanceof Map<?, ?>) {
            return List.of(json);
        }
        throw new LongTermMemoryFailedException("The answer is neither a JSON object nor an array", null);
    }

    /**
     * Returns the objects among other text. An object that begins and is not valid JSON means that the answer was cut
     * off and facts are missing.
     */
    private static List<?> objectsInside(String answer, InvalidInputException whole) {
        List<@Nullable Object> objects = new ArrayList<>();
        Matcher begin = BEGIN.matcher(answer);
        int end = 0;
        while (begin.find(end)) {
            end = end(answer, begin.start());
            try {
                objects.addAll(objectsOf(PlainJson.read("answer", answer.substring(begin.start(), end))));
            } catch (InvalidInputException e) {
                throw notJson(e);
            }
        }
        if (end == 0) {
            throw notJson(whole);
        }
        return objects;
    }

    /** Returns the place behind the closing bracket of the bracket at a place, or the end of the text. */
    private static int end(String text, int from) {
        int open = 0;
        boolean inString = false;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (inString) {
                if (c == '\\') {
                    i++;
                } else if (c == '"') {
                    inString = false;
                }
            } else if (c == '"') {
                inString = true;
            } else if (c == '{' || c == '[') {
                open++;
            } else if ((c == '}' || c == ']') && --open == 0) {
                return i + 1;
            }
        }
        return text.length();
    }

    private static LongTermMemoryFailedException notJson(InvalidInputException e) {
        return new LongTermMemoryFailedException("The answer is not JSON; " + e.getMessage(), null);
    }

    private static MadeMemory fact(
            @Nullable Object value, Passage source, Trust trust, Function<String, @Nullable String> replaced) {
        if (!(value instanceof Map<?, ?> fact)) {
            throw new InvalidInputException("fact", "must be an object");
        }
        MadeMemory made = MadeMemory.fact(
                text(fact, "title"),
                text(fact, "summary"),
                texts(fact, "entities"),
                texts(fact, "key_phrases"),
                source,
                trust);
        return fact.get("replaces") instanceof String title ? made.replacing(replaced.apply(title.strip())) : made;
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
            throw new InvalidInputException(name, "is required; it may be an empty list");
        }
        List<?> values = value instanceof List<?> list ? list : List.of(value);
        if (!values.stream().allMatch(FactsJson::isSingle)) {
            throw new InvalidInputException(name, "must be a text, a number, a truth value, or a list of these");
        }
        return values.stream()
                .map(each -> TranscriptText.clean(String.valueOf(each)).strip())
                .filter(text -> !text.isEmpty())
                .toList();
    }

    private static boolean isSingle(@Nullable Object value) {
        return value instanceof String || value instanceof Number || value instanceof Boolean;
    }
}

package io.github.keepsake4j.tokens;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Collects the text of attributes within bounds, so that a map that contains itself cannot keep a counter busy forever.
 */
final class AttributeText {

    private static final int MAX_DEPTH = 500;
    private static final int MAX_VALUES = 100_000;

    private final StringBuilder text = new StringBuilder();
    private int values;

    private AttributeText() {}

    static String of(Map<String, Object> attributes) {
        AttributeText collected = new AttributeText();
        collected.add(attributes, 0);
        return collected.text.toString();
    }

    private void add(@Nullable Object value, int depth) {
        if (value == null || depth > MAX_DEPTH || ++values > MAX_VALUES) {
            return;
        }
        if (value instanceof Map<?, ?> map) {
            map.forEach((key, element) -> {
                add(key, depth + 1);
                add(element, depth + 1);
            });
        } else if (value instanceof Iterable<?> elements) {
            elements.forEach(element -> add(element, depth + 1));
        } else {
            text.append(text.isEmpty() ? "" : " ").append(value);
        }
    }
}

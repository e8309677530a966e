package io.github.keepsake4j.recall.memories;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Fills placeholders in one pass, so that a placeholder in a filled text stays what it is: text. Pure functions. */
final class Placeholders {

    private Placeholders() {}

    /** Returns a template with values in the place of placeholders. Unknown placeholders stay. */
    static String fill(String template, Map<String, String> values) {
        if (values.isEmpty()) {
            return template;
        }
        String any = values.keySet().stream().map(Pattern::quote).collect(Collectors.joining("|"));
        return Pattern.compile(any)
                .matcher(template)
                .replaceAll(found -> Matcher.quoteReplacement(values.getOrDefault(found.group(), "")));
    }
}

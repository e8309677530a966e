package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.InvalidInputException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The settings in the query of a URI.
 *
 * @param rest the URI without its query
 * @param values the settings by name
 */
record UriSettings(URI rest, Map<String, String> values) {

    static UriSettings of(String field, String text, Set<String> known) {
        URI uri = uri(field, text);
        Map<String, String> values = new LinkedHashMap<>();
        String query = uri.getRawQuery();
        if (query == null) {
            return new UriSettings(uri, values);
        }
        for (String setting : query.split("&", -1)) {
            int equals = setting.indexOf('=');
            String name = equals < 0 ? setting : setting.substring(0, equals);
            if (equals < 0 || !known.contains(name)) {
                throw new InvalidInputException(
                        field,
                        "may have only these settings, written as ?name=value: "
                                + String.join(", ", known.stream().sorted().toList()));
            }
            values.put(name, decoded(setting.substring(equals + 1)));
        }
        return new UriSettings(uri(field, text.substring(0, text.indexOf('?'))), values);
    }

    /** Returns a part of a URI, in which a plus is a plus. */
    static String decoded(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /** Reads a URI. The JDK's exception quotes it, so it is not passed on. */
    static URI uri(String field, String text) {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new InvalidInputException(
                    field, "is not a URI at character " + (e.getIndex() + 1) + "; write a space as %20 and @ as %40");
        }
    }

    void ifSet(String name, Consumer<String> use) {
        String value = values.get(name);
        if (value != null) {
            use.accept(value);
        }
    }
}

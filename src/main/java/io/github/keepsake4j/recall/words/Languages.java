package io.github.keepsake4j.recall.words;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/** The languages whose stems are known where Lucene's analysis module is present. */
final class Languages {

    /** English names by ISO 639-1 codes. */
    static final Map<String, String> NAMES = Map.ofEntries(
            Map.entry("da", "danish"),
            Map.entry("de", "german"),
            Map.entry("en", "english"),
            Map.entry("es", "spanish"),
            Map.entry("fi", "finnish"),
            Map.entry("fr", "french"),
            Map.entry("hu", "hungarian"),
            Map.entry("id", "indonesian"),
            Map.entry("it", "italian"),
            Map.entry("nl", "dutch"),
            Map.entry("no", "norwegian"),
            Map.entry("pt", "portuguese"),
            Map.entry("ru", "russian"),
            Map.entry("sv", "swedish"));

    private static final boolean LUCENE = isPresent("org.tartarus.snowball.SnowballStemmer")
            && isPresent("org.apache.lucene.analysis.WordlistLoader");

    private Languages() {}

    static String check(String code) {
        if (!NAMES.containsKey(code)) {
            throw new InvalidInputException(
                    "language", "must be one of " + new TreeMap<>(NAMES).keySet() + ", is \"" + code + "\"");
        }
        return code;
    }

    /** Loads a language. Returns an empty result if Lucene's analysis module is absent. */
    static Optional<Language> load(String code) {
        return LUCENE
                ? Optional.of(SnowballLanguage.named(Objects.requireNonNull(NAMES.get(code), code)))
                : Optional.empty();
    }

    private static boolean isPresent(String type) {
        try {
            Class.forName(type, false, Languages.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}

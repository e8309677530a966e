package io.github.keepsake4j.recall.words;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The languages whose stems are known if Lucene's analysis module is present. */
final class Languages {

    /** ISO 639-1 codes. */
    static final Set<String> CODES =
            Set.of("da", "de", "en", "es", "fi", "fr", "hu", "id", "it", "nl", "no", "pt", "ru", "sv");

    private static final boolean LUCENE = isPresent("org.tartarus.snowball.SnowballStemmer")
            && isPresent("org.apache.lucene.analysis.WordlistLoader");

    private Languages() {}

    /** Checks a language that was asked for. The standard ones are left out if their library is absent. */
    static String check(String code) {
        if (LUCENE && CODES.contains(code)) {
            return code;
        }
        throw new InvalidInputException(
                "language",
                LUCENE
                        ? "must be one of " + new TreeSet<>(CODES) + ", is \"" + code + "\""
                        : "needs org.apache.lucene:lucene-analysis-common, which is not on the class path");
    }

    /** Loads a language. Returns an empty result if Lucene's analysis module is absent. */
    static Optional<Language> load(String code) {
        return LUCENE ? Optional.of(SnowballLanguage.of(code)) : Optional.empty();
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

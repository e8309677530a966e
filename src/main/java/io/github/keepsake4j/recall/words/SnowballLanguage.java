package io.github.keepsake4j.recall.words;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.lucene.analysis.WordlistLoader;
import org.apache.lucene.analysis.snowball.SnowballFilter;
import org.tartarus.snowball.SnowballStemmer;
import org.tartarus.snowball.ext.DanishStemmer;
import org.tartarus.snowball.ext.DutchStemmer;
import org.tartarus.snowball.ext.EnglishStemmer;
import org.tartarus.snowball.ext.FinnishStemmer;
import org.tartarus.snowball.ext.FrenchStemmer;
import org.tartarus.snowball.ext.GermanStemmer;
import org.tartarus.snowball.ext.HungarianStemmer;
import org.tartarus.snowball.ext.IndonesianStemmer;
import org.tartarus.snowball.ext.ItalianStemmer;
import org.tartarus.snowball.ext.NorwegianStemmer;
import org.tartarus.snowball.ext.PortugueseStemmer;
import org.tartarus.snowball.ext.RussianStemmer;
import org.tartarus.snowball.ext.SpanishStemmer;
import org.tartarus.snowball.ext.SwedishStemmer;

/** A language as Lucene's analysis module knows it. The only class that needs Lucene. */
final class SnowballLanguage {

    private static final Map<String, Supplier<SnowballStemmer>> STEMMERS = Map.ofEntries(
            Map.entry("da", DanishStemmer::new),
            Map.entry("nl", DutchStemmer::new),
            Map.entry("en", EnglishStemmer::new),
            Map.entry("fi", FinnishStemmer::new),
            Map.entry("fr", FrenchStemmer::new),
            Map.entry("de", GermanStemmer::new),
            Map.entry("hu", HungarianStemmer::new),
            Map.entry("id", IndonesianStemmer::new),
            Map.entry("it", ItalianStemmer::new),
            Map.entry("no", NorwegianStemmer::new),
            Map.entry("pt", PortugueseStemmer::new),
            Map.entry("ru", RussianStemmer::new),
            Map.entry("es", SpanishStemmer::new),
            Map.entry("sv", SwedishStemmer::new));

    private SnowballLanguage() {}

    /**
     * Loads a language.
     *
     * @param code one of {@link Languages#CODES}
     * @return the language
     */
    static Language of(String code) {
        Supplier<SnowballStemmer> stemmers = Objects.requireNonNull(STEMMERS.get(code), code);
        // Both are named after the language: DanishStemmer and danish_stop.txt.
        String stemmer = stemmers.get().getClass().getSimpleName();
        String resource = stemmer.replace("Stemmer", "_stop.txt").toLowerCase(Locale.ROOT);
        try (InputStream bytes = Objects.requireNonNull(SnowballFilter.class.getResourceAsStream(resource), resource)) {
            Set<String> stopWords = new LinkedHashSet<>();
            for (Object word :
                    WordlistLoader.getSnowballWordSet(new InputStreamReader(bytes, StandardCharsets.UTF_8))) {
                stopWords.add(new String((char[]) word));
            }
            return new Language(Set.copyOf(stopWords), () -> stemmer(stemmers.get()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static UnaryOperator<String> stemmer(SnowballStemmer stemmer) {
        return word -> {
            stemmer.setCurrent(word);
            stemmer.stem();
            return stemmer.getCurrent();
        };
    }
}

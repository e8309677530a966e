package io.github.keepsake4j.recall.words;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
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

/** A language as Lucene's analysis module knows it. The one class that needs Lucene. */
record SnowballLanguage(Set<String> stopWords, Supplier<SnowballStemmer> stemmers) implements Language {

    private static final Map<String, Supplier<SnowballStemmer>> STEMMERS = Map.ofEntries(
            Map.entry("danish", DanishStemmer::new),
            Map.entry("dutch", DutchStemmer::new),
            Map.entry("english", EnglishStemmer::new),
            Map.entry("finnish", FinnishStemmer::new),
            Map.entry("french", FrenchStemmer::new),
            Map.entry("german", GermanStemmer::new),
            Map.entry("hungarian", HungarianStemmer::new),
            Map.entry("indonesian", IndonesianStemmer::new),
            Map.entry("italian", ItalianStemmer::new),
            Map.entry("norwegian", NorwegianStemmer::new),
            Map.entry("portuguese", PortugueseStemmer::new),
            Map.entry("russian", RussianStemmer::new),
            Map.entry("spanish", SpanishStemmer::new),
            Map.entry("swedish", SwedishStemmer::new));

    /**
     * Loads a language.
     *
     * @param name its English name in lower case, one of {@link Languages#NAMES}
     * @return the language
     */
    static Language named(String name) {
        String resource = name + "_stop.txt";
        try (InputStream bytes = Objects.requireNonNull(SnowballFilter.class.getResourceAsStream(resource), resource)) {
            Set<String> stopWords = new LinkedHashSet<>();
            for (Object word :
                    WordlistLoader.getSnowballWordSet(new InputStreamReader(bytes, StandardCharsets.UTF_8))) {
                stopWords.add(new String((char[]) word));
            }
            return new SnowballLanguage(Set.copyOf(stopWords), Objects.requireNonNull(STEMMERS.get(name), name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public UnaryOperator<String> stemmer() {
        SnowballStemmer stemmer = stemmers.get();
        return word -> {
            stemmer.setCurrent(word);
            stemmer.stem();
            return stemmer.getCurrent();
        };
    }
}

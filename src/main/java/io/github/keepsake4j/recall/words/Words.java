package io.github.keepsake4j.recall.words;

import io.github.keepsake4j.message.InvalidInputException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Splits a text into the terms by which it is found. A text and a question about it are split in the same way, so that
 * they share terms.
 *
 * <ul>
 *   <li>Text is compared in NFKC and lower case.
 *   <li>A word becomes its stem in each of the languages, without diacritics ({@link Token.Kind#WORD}), and each four
 *       consecutive letters of it ({@link Token.Kind#PART}). The parts find inflected words of unknown languages and the parts of
 *       compounds. An apostrophe and up to two letters after it belong to no term.
 *   <li>A stop word has no parts ({@link Token.Kind#STOP_WORD}). If there are several languages, the language with the most
 * stop words in the text decides.
 *   <li>Chinese, Japanese and Korean become single ideographs and pairs of adjacent characters that are not both hiragana
 *       ({@link Token.Kind#CHARACTERS}).
 *   <li>An emoji becomes one term ({@link Token.Kind#CHARACTERS}), whatever it is composed of, without its skin and its
 *       variation selector. Other symbols become none.
 * </ul>
 *
 * <p>Stems and stop words need Lucene's analysis module ({@code org.apache.lucene:lucene-analysis-common}). If it is
 * absent, a word's own letters are its stem, and no word is a stop word unless it was {@linkplain Builder#stopWords
 * given}.
 *
 * <p><b>Bounds.</b> Only the first {@value #MAX_LENGTH} UTF-16 code units of a text are split (in its original and its
 * normalized form). The stem of a word is made from its first {@value #MAX_WORD} characters, its parts from its first
 * {@value #MAX_RUN} code units. So a text has at most two terms for each code unit, and the time for it is bounded too:
 * about 0.2 seconds for the worst one on one core.
 *
 * <p>Immutable and thread-safe, if the mapping is.
 */
public final class Words {

    /** The number of UTF-16 code units of a text from which terms are made. */
    public static final int MAX_LENGTH = 200_000;

    /** The number of characters from which a stem is made. */
    public static final int MAX_WORD = 64;

    /** The number of UTF-16 code units of a word from which parts are made. */
    public static final int MAX_RUN = 256;

    /** The number of UTF-16 code units of an emoji after which another one begins. The longest in use have 15. */
    private static final int MAX_EMOJI = 32;

    private static final int ZERO_WIDTH_JOINER = 0x200D;

    /** In place of a language's number. */
    private static final int OWN_STOP_WORDS = 31;

    /** Changes when the terms of a text change, so that an index is rebuilt. */
    private static final int VERSION = 3;

    private static final Words STANDARD = new Builder("en", "de").build();

    private final List<String> codes;
    private final List<Language> languages;
    private final Set<String> stopWords;
    private final UnaryOperator<String> mapping;

    /** The caches take some megabytes for the terms of 8,192 words, and as much for the hash codes of 32,768 words. */
    private final WordCache<SplitWord> splitWords = new WordCache<>(13);

    private final WordCache<TermHashes> hashes = new WordCache<>(15);

    private Words(Builder builder) {
        codes = List.copyOf(builder.languages);
        languages =
                codes.stream().map(Languages::load).flatMap(Optional::stream).toList();
        stopWords = Set.copyOf(builder.stopWords);
        mapping = builder.mapping;
    }

    /**
     * Returns words for English and German. The words of other languages are found by their parts.
     *
     * @return the words
     */
    public static Words standard() {
        return STANDARD;
    }

    /**
     * Returns a builder.
     *
     * @return a builder without languages, stop words and mapping
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns a text that identifies how these words make terms. Terms that were stored with another fingerprint cannot
     * be found with these words.
     *
     * @return a short text
     */
    public String fingerprint() {
        return "v" + VERSION + " " + String.join("+", codes)
                + (languages.size() == codes.size() ? "" : " without stems")
                + (stopWords.isEmpty() ? "" : " stop " + Integer.toHexString(stopWords.hashCode()))
                + " " + Integer.toHexString(map("keepsake").hashCode());
    }

    /**
     * Splits a text.
     *
     * @param text any text, even if it is not valid Unicode
     * @return the terms in the order in which they begin in the text; the parts of a word come after its stems
     */
    public List<Token> tokens(String text) {
        return new Splitter(text, null, false).split();
    }

    /**
     * Splits a text and keeps only some terms, which is faster.
     *
     * @param text any text, even if it is not valid Unicode
     * @param wanted the terms to keep
     * @return the wanted terms of {@link #tokens(String)}, and the number of all terms
     */
    public SomeTokens tokens(String text, WantedTerms wanted) {
        Splitter splitter = new Splitter(text, wanted, false);
        return new SomeTokens(splitter.split(), splitter.total);
    }

    /**
     * Returns the beginnings of the words of a text. With them, a word is found when only two or three letters were
     * typed. With more letters, the parts of a word find it.
     *
     * @param text any text, even if it is not valid Unicode
     * @return terms of the kind {@link Token.Kind#BEGINNING} in the order in which they begin in the text, one of two and one of three
     *     letters for each word that is long enough
     */
    public List<Token> beginnings(String text) {
        return new Splitter(text, null, true).split();
    }

    /**
     * Returns the beginnings of the words of a text that are wanted, which is faster.
     *
     * @param text any text, even if it is not valid Unicode
     * @param wanted the terms to keep
     * @return the wanted terms of {@link #beginnings(String)}
     */
    public List<Token> beginnings(String text, WantedTerms wanted) {
        return new Splitter(text, wanted, true).split();
    }

    /**
     * Returns the term of a day, which no text has.
     *
     * @param day the day
     * @return the term as it is stored and searched
     */
    public String dayTerm(LocalDate day) {
        return map("@" + day);
    }

    private String map(String term) {
        return Objects.requireNonNull(mapping.apply(term), "the mapping returned null");
    }

    /**
     * Returns a bit for each language in which a word is a stop word, and another bit for the stop words that were
     * given.
     */
    private int stopWordOf(String word) {
        int found = stopWords.contains(word) ? 1 << OWN_STOP_WORDS : 0;
        for (int i = 0; i < languages.size(); i++) {
            found |= languages.get(i).stopWords().contains(word) ? 1 << i : 0;
        }
        return found;
    }

    /** Splits one text. */
    private final class Splitter {

        private final NormalizedText text;
        private final @Nullable WantedTerms wanted;
        private final boolean beginnings;
        private final List<Token> tokens = new ArrayList<>();
        private final List<Run> runs = new ArrayList<>();

        /** The word of each run, or null if the run is not of an alphabet. */
        private final List<@Nullable TermHashes> words = new ArrayList<>();

        private final List<UnaryOperator<String>> stemmers =
                languages.stream().map(language -> language.stemmers().get()).toList();

        /** The number of terms, including those that were not wanted. */
        private int total;

        Splitter(String text, @Nullable WantedTerms wanted, boolean beginnings) {
            this.text = NormalizedText.of(text, MAX_LENGTH);
            this.wanted = wanted;
            this.beginnings = beginnings;
        }

        List<Token> split() {
            int[] counts = new int[languages.size()];
            for (int at = 0; at < text.length(); ) {
                Run run = Run.at(text, at);
                at = run.end();
                if (run.script() != Script.NONE) {
                    TermHashes word = run.script() == Script.ALPHABET ? hashes(run) : null;
                    for (int i = 0; word != null && i < counts.length; i++) {
                        counts[i] += word.isStopWordOf(i) ? 1 : 0;
                    }
                    runs.add(run);
                    words.add(word);
                }
            }
            int language = mostOf(counts);
            for (int i = 0; i < runs.size(); i++) {
                TermHashes word = words.get(i);
                if (runs.get(i).script() == Script.EMOJI) {
                    addEmoji(runs.get(i));
                } else if (word == null) {
                    addCharacters(runs.get(i));
                } else {
                    addWord(runs.get(i), word, word.isStopWordOf(language) || word.isStopWordOf(OWN_STOP_WORDS));
                }
            }
            return List.copyOf(tokens);
        }

        /** Returns the language with the most stop words in the text; the first one if there are several. */
        private int mostOf(int[] counts) {
            int most = 0;
            for (int i = 1; i < counts.length; i++) {
                most = counts[i] > counts[most] ? i : most;
            }
            return most;
        }

        private void addWord(Run run, TermHashes word, boolean stop) {
            boolean isCut = run.length() > MAX_RUN;
            SplitWord split = null;
            for (int i = word.first(beginnings); i < word.end(beginnings, stop); i++) {
                if (wanted == null || wanted.mayHave(word.hash(i))) {
                    split = split == null ? split(text(run)) : split;
                    SplitWord.Term term = split.terms().get(i);
                    int end = isCut && term.kind() == Token.Kind.WORD ? run.end() : run.start() + term.end();
                    add(term.text(), run.start() + term.start(), end, stop ? Token.Kind.STOP_WORD : term.kind());
                } else {
                    total++;
                }
            }
        }

        private TermHashes hashes(Run run) {
            return wanted == null
                    ? split(text(run)).hashes()
                    : hashes.get(text(run), word -> split(word).hashes());
        }

        private SplitWord split(String word) {
            return splitWords.get(
                    word, unknown -> SplitWord.of(unknown, stemmers, Words.this::stopWordOf, Words.this::map));
        }

        private String text(Run run) {
            return text.substring(run.start(), run.start() + usedLength(run));
        }

        private int usedLength(Run run) {
            if (run.length() <= MAX_RUN) {
                return run.length();
            }
            boolean splitsAPair = Character.isSurrogatePair(
                    text.chars().charAt(run.start() + MAX_RUN - 1), text.chars().charAt(run.start() + MAX_RUN));
            return splitsAPair ? MAX_RUN - 1 : MAX_RUN;
        }

        private void addCharacters(Run run) {
            if (beginnings) {
                return;
            }
            int previous = -1;
            int before = 0;
            for (int at = run.start(), next; at < run.end(); at = next) {
                int c = text.codePointAt(at);
                next = at + Character.charCount(c);
                if (Script.of(c) != Script.CHARACTERS) {
                    continue;
                }
                if (previous >= 0 && !(Script.isHiragana(previous) && Script.isHiragana(c))) {
                    add(map(Character.toString(previous) + Character.toString(c)), before, next, Token.Kind.CHARACTERS);
                }
                boolean alone = at == run.start() && next == run.end();
                if (Character.isIdeographic(c) || (alone && !Script.isHiragana(c))) {
                    add(map(Character.toString(c)), at, next, Token.Kind.CHARACTERS);
                }
                previous = c;
                before = at;
            }
        }

        private void addEmoji(Run run) {
            for (int at = run.start(), next; !beginnings && at < run.end(); at = next) {
                next = endOfEmoji(at, run.end());
                StringBuilder term = new StringBuilder();
                for (int i = at, c; i < next; i += Character.charCount(c)) {
                    c = text.codePointAt(i);
                    if (i == at || !(Script.isMark(c) || Script.isSkin(c))) {
                        term.appendCodePoint(c);
                    }
                }
                add(map(term.toString()), at, next, Token.Kind.CHARACTERS);
            }
        }

        /** Finds the end of what is shown as one picture: a flag, or an emoji with what changes it or is joined to it. */
        private int endOfEmoji(int start, int end) {
            int previous = text.codePointAt(start);
            int at = start + Character.charCount(previous);
            boolean flag = Script.isFlagLetter(previous);
            while (at < end && at - start < MAX_EMOJI) {
                int c = text.codePointAt(at);
                boolean continues = Script.belongsToWord(c)
                        || Script.isSkin(c)
                        || previous == ZERO_WIDTH_JOINER
                        || (flag && Script.isFlagLetter(c));
                if (!continues) {
                    break;
                }
                flag = false;
                previous = c;
                at += Character.charCount(c);
            }
            return at;
        }

        private void add(String term, int from, int to, Token.Kind kind) {
            total++;
            if (wanted == null || wanted.has(term)) {
                tokens.add(new Token(term, text.start(from), text.end(to - 1), kind));
            }
        }
    }

    /** Says which words there are. */
    public static final class Builder {

        private final Set<String> languages = new LinkedHashSet<>();
        private final Set<String> stopWords = new LinkedHashSet<>();
        private UnaryOperator<String> mapping = UnaryOperator.identity();

        private Builder(String... languages) {
            this.languages.addAll(List.of(languages));
        }

        /**
         * Adds languages. Each language adds its stems of the words. If a text has no stop words of any language, those
         * of the first language are used.
         *
         * @param codes ISO 639-1 codes: da, de, en, es, fi, fr, hu, id, it, nl, no, pt, ru, sv
         * @return this builder
         * @throws InvalidInputException if the stems of a language are not known, or Lucene's analysis module is not on the
         * class path
         */
        public Builder language(String... codes) {
            for (String code : codes) {
                languages.add(Languages.check(code));
            }
            return this;
        }

        /**
         * Adds words that say little, in any language.
         *
         * @param words the words; upper and lower case are the same
         * @return this builder
         */
        public Builder stopWords(Collection<String> words) {
            words.forEach(word -> stopWords.add(word.toLowerCase(Locale.ROOT)));
            return this;
        }

        /**
         * Sets a function that is applied to each term before it is stored or searched, for example a keyed hash.
         * Default: leaves the terms unchanged.
         *
         * @param mapping a thread-safe function that returns the same term for the same term, and never null
         * @return this builder
         */
        public Builder mapping(UnaryOperator<String> mapping) {
            this.mapping = InvalidInputException.given("mapping", mapping);
            return this;
        }

        /**
         * Builds the words.
         *
         * @return the words
         */
        public Words build() {
            return new Words(this);
        }
    }

    /**
     * A term and its place in the text from which it was taken.
     *
     * @param term the term as it is stored and searched
     * @param start the index of its first UTF-16 code unit in the text
     * @param end the index after its last UTF-16 code unit in the text
     * @param kind the kind of term
     */
    public record Token(String term, int start, int end, Kind kind) {

        /** The kinds of terms. Terms of two kinds are never equal, except that a word of one text may be a stop word of another. */
        public enum Kind {
            /** The stem of a word. */
            WORD,

            /** The stem of a word that is frequent in its language and has little meaning. It has no parts. */
            STOP_WORD,

            /** Four consecutive letters of a word. */
            PART,

            /** An ideograph, two adjacent characters of a script without spaces between words, or an emoji. */
            CHARACTERS,

            /** The first two or three letters of a word that is not a stop word; see {@link Words#beginnings}. */
            BEGINNING
        }
    }

    /**
     * Some of the terms of a text.
     *
     * @param tokens the terms that were wanted, in the order in which they begin in the text
     * @param total the number of all terms of the text
     */
    public record SomeTokens(List<Token> tokens, int total) {}

    /** The terms to find in texts. Immutable. */
    public static final class WantedTerms {

        private static final int BITS = 12;

        private final Set<String> terms;
        private final long[] filter = new long[1 << (BITS - 6)];

        private WantedTerms(Collection<String> terms) {
            this.terms = Set.copyOf(terms);
            for (String term : terms) {
                int place = place(term.hashCode());
                filter[place >>> 6] |= 1L << place;
            }
        }

        /**
         * Returns terms to look for.
         *
         * @param terms the terms as {@link Words} make them
         * @return the terms
         */
        public static WantedTerms of(Collection<String> terms) {
            return new WantedTerms(terms);
        }

        /** Returns false if no term has this hash code. May rarely return true although no term has it. */
        boolean mayHave(int hash) {
            int place = place(hash);
            return ((filter[place >>> 6] >>> place) & 1) == 1;
        }

        boolean has(String term) {
            return mayHave(term.hashCode()) && terms.contains(term);
        }

        private static int place(int hash) {
            return (hash * 0x9E3779B9) >>> (32 - BITS);
        }
    }
}

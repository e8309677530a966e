package io.github.keepsake4j.recall.words;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.recall.words.Words.Token;
import io.github.keepsake4j.recall.words.Words.Token.Kind;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Messages;
import java.text.Normalizer;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WordsTest {

    private static final Words PLAIN = Words.builder().build();

    /** Pieces of text whose normalized forms are longer or shorter, and what separates words. */
    private static final Arbitrary<String> TRICKY = Arbitraries.of(
                    "walks",
                    "Straße",
                    "e\u0301",
                    "\u0301",
                    "ﬃ",
                    "①",
                    "㍿",
                    "ﷺ",
                    "ｱﾞ",
                    "ｶﾞ",
                    "한국",
                    "\u1112\u1161\u11ab",
                    "食べた",
                    "りんご",
                    "カレー",
                    "々",
                    "𠮷",
                    "𝔘𝔫𝔦",
                    "Ⅷ",
                    "İ",
                    "ẞ",
                    "’s",
                    "'",
                    " ",
                    "-",
                    "_",
                    "\u00ad",
                    "\u200d",
                    "\ud800",
                    "\udc00",
                    "\u0000",
                    "न\u093e",
                    "😀",
                    "👩‍👩‍👧",
                    "👍🏽",
                    "❤️",
                    "🇩🇪",
                    "🏴\udb40\udc67\udb40\udc62\udb40\udc7f",
                    "½",
                    "Ω",
                    "don't",
                    "ｆｕｌｌ",
                    "\ufb01")
            .list()
            .ofMaxSize(12)
            .map(pieces -> String.join("", pieces));

    @Test
    void a_word_is_its_stem_and_its_parts() {
        assertThat(terms(Words.builder().language("en").build(), "He walked"))
                .containsExactly("he", "walk", "_walk", "_alke", "_lked");
        assertThat(terms(Words.builder().language("de").build(), "Häuser")).contains("haus", "_haus", "_ause", "_user");
        assertThat(terms(PLAIN, "Cafés")).containsExactly("cafes", "_cafe", "_afes");
        assertThat(terms(PLAIN, "ǽß")).containsExactly("aess", "_aess");
    }

    @Test
    void several_languages_give_several_stems() {
        assertThat(terms(Words.standard(), "walking")).startsWith("walk", "walking");
        assertThat(terms(Words.standard(), "Wanderungen")).contains("wander");
        assertThat(terms(Words.standard(), "house")).containsExactly("hous", "_hous", "_ouse");
    }

    @Test
    void stop_words_are_those_of_the_texts_language() {
        assertThat(ofKind(Words.standard(), "Did the dog die of what was in the war", Kind.STOP_WORD))
                .contains("the", "of", "was")
                .doesNotContain("die", "war");
        assertThat(ofKind(Words.standard(), "Die Katze war auf dem Dach", Kind.STOP_WORD))
                .contains("die", "war", "auf", "dem");
        assertThat(ofKind(Words.builder().stopWords(List.of("Please")).build(), "please come", Kind.STOP_WORD))
                .containsExactly("please");
    }

    @Test
    void no_text_has_the_term_of_a_day() {
        LocalDate day = LocalDate.parse("2026-05-13");
        String term = Words.standard().dayTerm(day);

        assertThat(Words.standard().tokens(term + " ＠2026-05-13 x" + term))
                .extracting(Token::term)
                .doesNotContain(term);
        assertThat(Words.builder().mapping(text -> "#" + text).build().dayTerm(day))
                .isEqualTo("#" + term);
    }

    @Test
    void apostrophes_end_a_word() {
        assertThat(terms(PLAIN, "Anna's, Anna’s and ANNA"))
                .filteredOn("anna"::equals)
                .hasSize(3);
        assertThat(terms(Words.builder().language("en").build(), "we'll")).containsExactly("we");
        assertThat(terms(PLAIN, "l'avion")).startsWith("l", "avion");
        assertThat(terms(PLAIN, "'")).isEmpty();
    }

    @Test
    void scripts_without_spaces_become_ideographs_and_pairs() {
        assertThat(terms(PLAIN, "北京大学")).containsExactly("北", "北京", "京", "京大", "大", "大学", "学");
        assertThat(terms(PLAIN, "カレーを食べた")).containsExactly("カレ", "レー", "ーを", "を食", "食", "食べ");
        assertThat(terms(PLAIN, "ありがとう")).isEmpty();
        assertThat(terms(PLAIN, "서울에서")).containsExactly("서울", "울에", "에서");
        assertThat(terms(PLAIN, "我的iPhone坏了"))
                .contains("我的", "iphone", "_ipho", "坏了")
                .doesNotContain("的iphone");
        assertThat(terms(PLAIN, "𠮷")).containsExactly("𠮷");
        assertThat(terms(PLAIN, "ア")).containsExactly("ア");
    }

    @Test
    void each_emoji_is_one_term() {
        assertThat(terms(PLAIN, "My🦜, 🦜🦜")).containsExactly("my", "🦜", "🦜", "🦜");
        assertThat(terms(PLAIN, "👩‍👩‍👧👩")).containsExactly("👩‍👩‍👧", "👩");
        assertThat(terms(PLAIN, "🇩🇪🇫🇷 🇩")).containsExactly("🇩🇪", "🇫🇷", "🇩");
        assertThat(terms(PLAIN, "❤️ ❤")).containsExactly("❤", "❤");
        assertThat(terms(PLAIN, "👍🏽👍")).containsExactly("👍", "👍");
        assertThat(terms(PLAIN, "\uFE0F \u200D 🏽")).containsExactly("🏽");
        assertThat(terms(PLAIN, "→ • © + ₿")).isEmpty();
        assertThat(PLAIN.beginnings("🦜🦜")).isEmpty();
        assertThat(PLAIN.tokens("a 👩‍👩‍👧!"))
                .contains(new Words.Token("👩‍👩‍👧", 2, 2 + "👩‍👩‍👧".length(), Kind.CHARACTERS));
    }

    @Test
    void forms_of_the_same_text_have_the_same_terms() {
        for (String text : List.of("Crème brûlée, Müller", "ガンダムの한국", "ﬁnal Straße ½")) {
            List<String> terms = terms(Words.standard(), text);
            for (Normalizer.Form form : Normalizer.Form.values()) {
                assertThat(terms(Words.standard(), Normalizer.normalize(text, form)))
                        .as(form.toString())
                        .isEqualTo(terms);
            }
            assertThat(terms(Words.standard(), text.toUpperCase(Locale.ROOT)))
                    .as("upper case")
                    .isSubsetOf(terms);
        }
        assertThat(terms(PLAIN, "Ｈｅｌｌｏ ｶﾞﾝﾀﾞﾑ")).isEqualTo(terms(PLAIN, "hello ガンダム"));
        assertThat(terms(PLAIN, "Donau\u00addampf")).isEqualTo(terms(PLAIN, "Donaudampf"));
    }

    @Test
    void offsets_are_those_of_the_original() {
        String text = "Die ﬃnen Ｈａｌｌｅ's cafe\u0301s 食べた";
        assertThat(PLAIN.tokens(text).stream()
                        .filter(token -> token.kind() == Kind.WORD)
                        .map(token -> text.substring(token.start(), token.end())))
                .containsExactly("Die", "ﬃnen", "Ｈａｌｌｅ", "cafe\u0301s");
        assertThat(PLAIN.tokens(text))
                .contains(new Words.Token("食べ", text.indexOf("食"), text.indexOf("食") + 2, Kind.CHARACTERS));
        assertThat(PLAIN.tokens(text)).contains(new Words.Token("_cafe", 17, 22, Kind.PART));
    }

    @Test
    void every_term_is_in_the_text_at_its_offsets() {
        long seed = Counts.seed();
        for (Arbitrary<String> texts : List.of(TRICKY, Messages.text())) {
            for (String text : Messages.sample(texts, Counts.of(300, 20_000), seed)) {
                int last = 0;
                for (Words.Token token : PLAIN.tokens(text)) {
                    String run = "-Dkeepsake.seed=" + seed + " " + token;
                    assertThat(token.start()).as(run).isBetween(0, text.length() - 1);
                    assertThat(token.end()).as(run).isBetween(token.start() + 1, text.length());
                    String there = FoldedWord.fold(Normalizer.normalize(
                                    text.substring(token.start(), token.end()), Normalizer.Form.NFKC)
                            .toLowerCase(Locale.ROOT)
                            .replaceAll(
                                    token.kind() == Kind.CHARACTERS ? "[\\p{M}\\p{Cf}🏻-🏿]" : "[\u3099\u309a]", ""));
                    String term = token.kind() == Kind.PART ? token.term().substring(1) : token.term();
                    assertThat(there).as(run).contains(FoldedWord.fold(term));
                    last = token.start();
                }
                assertThat(last).isLessThanOrEqualTo(text.length());
            }
        }
    }

    /** The words that were split before make no difference either: these have split nothing. */
    @Test
    void wanted_terms_are_those_among_all() {
        long seed = Counts.seed();
        for (String text : Messages.sample(TRICKY, Counts.of(200, 20_000), seed)) {
            String twice = text + " The dogs were walking " + text;
            List<Words.Token> all = Words.builder().language("en", "de").build().tokens(twice);
            Set<String> terms = all.stream()
                    .limit(1 + all.size() / 3)
                    .map(Words.Token::term)
                    .collect(Collectors.toSet());
            terms.add("absent");
            Words.SomeTokens some = Words.standard().tokens(twice, Words.WantedTerms.of(terms));
            String run = "-Dkeepsake.seed=" + seed;
            assertThat(some.tokens())
                    .as(run)
                    .isEqualTo(all.stream()
                            .filter(token -> terms.contains(token.term()))
                            .toList());
            assertThat(some.total()).as(run).isEqualTo(all.size());
        }
    }

    /** A question is split as the text is, so what was said is found by what was said. */
    @Test
    void a_part_of_a_text_shares_its_terms() {
        String text = "We booked the Zugspitze cable car für übermorgen, 上海で食べました";
        Set<String> all = Set.copyOf(terms(PLAIN, text));
        for (String word : text.split("[ ,]+")) {
            assertThat(all).containsAll(terms(PLAIN, word));
        }
    }

    @Test
    void each_term_passes_through_the_mapping() {
        Words blind = Words.builder()
                .language("en")
                .mapping(term -> Integer.toHexString(term.hashCode()))
                .build();
        assertThat(terms(blind, "walked 北京"))
                .isEqualTo(terms(Words.builder().language("en").build(), "walked 北京").stream()
                        .map(term -> Integer.toHexString(term.hashCode()))
                        .toList());
    }

    @Test
    void the_fingerprint_tells_what_terms_depend_on() {
        assertThat(Stream.of(
                                Words.builder(),
                                Words.builder().language("en"),
                                Words.builder().language("en", "de"),
                                Words.builder().stopWords(List.of("x")),
                                Words.builder().mapping(term -> term + "1"))
                        .map(builder -> builder.build().fingerprint())
                        .distinct())
                .hasSize(5);
        assertThat(Words.builder().language("en", "de").build().fingerprint())
                .isEqualTo(Words.standard().fingerprint());
    }

    @Test
    void an_unknown_language_is_refused() {
        assertThrown(InvalidInputException.class, () -> Words.builder().language("xx"), "language", "[da, de, en,");
    }

    @Test
    void every_language_has_stems_and_stop_words() {
        for (String code : Languages.CODES) {
            Language language = Languages.load(code).orElseThrow();
            assertThat(language.stopWords()).as(code).hasSizeGreaterThan(50);
            assertThat(language.stemmers().get().apply("telefon")).as(code).isNotEmpty();
        }
    }

    static Stream<String> hostile() {
        Random random = new Random(1);
        int length = Counts.of(50_000, 1_000_000);
        return Stream.of(
                "a".repeat(length),
                "\u0301".repeat(length),
                "a" + "\u0301".repeat(length),
                "\ud800".repeat(length),
                "食".repeat(length),
                "の".repeat(length),
                "ﷺ".repeat(length / 3),
                "a ".repeat(length / 2),
                "a'b".repeat(length / 3),
                "𠮷".repeat(length / 2),
                "🦜".repeat(length / 2),
                "❤".repeat(length),
                "👩‍".repeat(length / 3),
                "\u0000\u0001\u001b".repeat(length / 3),
                ":*&|!".repeat(2_000),
                "\"NEAR(".repeat(2_000),
                random.ints(length, 0, 0x10000)
                        .mapToObj(c -> String.valueOf((char) c))
                        .collect(Collectors.joining()));
    }

    /** The time is a guard against work that grows with the square of the length, which takes minutes. */
    @ParameterizedTest
    @MethodSource("hostile")
    @Timeout(30)
    void hostile_text_costs_no_more_than_the_bounds(String text) {
        List<Words.Token> tokens = Words.standard().tokens(text);
        assertThat(tokens).hasSizeLessThanOrEqualTo(2 * Words.MAX_LENGTH);
        assertThat(tokens.stream()
                        .mapToInt(token -> token.term().length())
                        .max()
                        .orElse(0))
                .isLessThanOrEqualTo(2 * Words.MAX_WORD);
        assertThat(tokens.stream().mapToInt(Words.Token::end).max().orElse(0)).isLessThanOrEqualTo(text.length());
    }

    @Test
    void a_word_without_end_has_few_terms() {
        assertThat(Words.standard().tokens("a".repeat(1_000_000))).hasSize(1 + Words.MAX_RUN - 3);
        assertThat(Words.standard().tokens(":*&|!".repeat(2_000))).isEmpty();
    }

    private static List<String> terms(Words words, String text) {
        return words.tokens(text).stream().map(Words.Token::term).toList();
    }

    private static List<String> ofKind(Words words, String text, Kind kind) {
        return words.tokens(text).stream()
                .filter(token -> token.kind() == kind)
                .map(Words.Token::term)
                .toList();
    }

    @Test
    void wanted_terms_end_where_all_terms_end() {
        String text = "zq ".repeat(Words.MAX_LENGTH / 3 - 6) + "abcdefghijklmnop and what is beyond the end";
        List<String> last = List.of("_abcd", "_mnop", "abcdefghijklmnop");

        List<Words.Token> all = Words.standard().tokens(text);
        Words.SomeTokens some = Words.standard().tokens(text, Words.WantedTerms.of(last));

        assertThat(some.total()).isEqualTo(all.size());
        assertThat(some.tokens()).isNotEmpty();
        assertThat(some.tokens())
                .isEqualTo(all.stream()
                        .filter(token -> last.contains(token.term()))
                        .toList());
    }
}

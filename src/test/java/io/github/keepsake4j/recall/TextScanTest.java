package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.recall.Recalled.Excerpt;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.SomeTokens;
import io.github.keepsake4j.recall.words.Words.Token;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TextScanTest {

    private static final Words WORDS = Words.standard();

    private final GeneratedText generated = new GeneratedText(3, 5_000);
    private final Random random = new Random(3);

    @Test
    void a_recall_splits_a_bounded_part_of_its_texts() {
        for (int[] numberAndLength : new int[][] {{1, 1_000_000}, {40, 200_000}, {600, 2_000}, {100, 1_500}}) {
            List<String> texts = new ArrayList<>(List.of("Hello there", ""));
            texts.addAll(Collections.nCopies(numberAndLength[0], text(numberAndLength[1])));
            TextScan reading = reading("Who is Quillon, and what of the garden?", texts);
            long split = 0;
            for (String text : texts) {
                int end = -1;
                for (Excerpt part : reading.parts(text)) {
                    assertThat(part.start()).isGreaterThan(end);
                    end = part.end();
                    split += part.end() - part.start();
                }
                assertThat(end).isBetween(0, text.length());
            }
            assertThat(split).isBetween(Math.min(TextScan.MAX_SPLIT / 2L, texts.size()), (long) TextScan.MAX_SPLIT);
        }
    }

    @Test
    void short_texts_are_split_whole_beside_long_ones() {
        List<String> texts = new ArrayList<>(Collections.nCopies(40, text(200_000)));
        texts.addAll(Collections.nCopies(100, text(500)));
        TextScan reading = reading("Who is Quillon?", texts);

        assertThat(reading.parts(texts.get(40)))
                .containsExactly(new Excerpt(0, texts.get(40).length()));
        assertThat(reading.parts(texts.get(0))).hasSizeGreaterThan(0);
    }

    @Test
    void a_word_is_found_wherever_it_is_in_a_long_text() {
        for (String[] askedAndWritten : new String[][] {
            {"Quillon", "Quillon"},
            {"the contracts", "contract"},
            {"Prüfungen", "PRÜFUNG"},
            {"prufung", "Pru\u0308fung"},
            {"Vertrag", "Mietvertrag"},
            {"Zoë", "zoe"},
            {"Li", "Li"},
            {"ABCD", "\uFF21\uFF22\uFF23\uFF24"},
            {"花园", "花园"},
            {"договор", "ДОГОВОРА"}
        }) {
            String text = text(90_000) + "and " + askedAndWritten[1] + " is " + text(90_000);
            TextScan reading = reading(askedAndWritten[0], Collections.nCopies(40, text));
            SomeTokens tokens = reading.tokens(text, reading.parts(text));

            assertThat(tokens.tokens()).as(askedAndWritten[0]).anySatisfy(token -> assertThat(
                            text.substring(token.start(), token.end()))
                    .isNotEmpty()
                    .isSubstringOf(askedAndWritten[1]));
            // The number of terms is estimated from the part that was split.
            assertThat(tokens.total()).isBetween(50_000, 400_000);
            Excerpt excerpt = reading.excerpt(text, tokens.tokens(), 300);
            assertThat(text.substring(excerpt.start(), excerpt.end()))
                    .contains("and " + askedAndWritten[1] + " is ")
                    .hasSizeBetween(230, 300);
        }
    }

    @Test
    void an_excerpt_is_where_most_of_the_question_is() {
        String text = "The garden is green. " + text(5_000) + " The parrot sings in the garden. " + text(5_000)
                + " A parrot is a bird. " + text(5_000);
        TextScan reading = reading("Does the parrot sing in the garden?", List.of(text));
        Excerpt excerpt =
                reading.excerpt(text, reading.tokens(text, reading.parts(text)).tokens(), 100);

        assertThat(text.substring(excerpt.start(), excerpt.end())).contains("The parrot sings in the garden.");
    }

    @Test
    void an_excerpt_cuts_no_surrogate_pair_and_stays_in_the_text() {
        for (String part : List.of("\uD83D\uDE00", "\uD83D\uDE00 ", "a\uD83D\uDE00\uD83D\uDE00", "\uD83D", "花园")) {
            String text = part.repeat(3_000) + " parrot " + part.repeat(3_000);
            TextScan reading = reading("parrot", Collections.nCopies(200, text));
            for (Token token : reading.tokens(text, reading.parts(text)).tokens()) {
                for (int length = TextCuts.MAX_CUT; length < 200; length++) {
                    Excerpt excerpt = reading.excerpt(text, random.nextBoolean() ? List.of(token) : List.of(), length);
                    assertThat(excerpt.start()).isBetween(0, excerpt.end() - 1);
                    assertThat(excerpt.end()).isLessThanOrEqualTo(text.length());
                    assertThat(isCut(text, excerpt.start()) || isCut(text, excerpt.end()))
                            .isFalse();
                }
            }
            reading.parts(text).forEach(one -> assertThat(isCut(text, one.start()) || isCut(text, one.end()))
                    .isFalse());
        }
    }

    private static boolean isCut(String text, int at) {
        return at > 0 && at < text.length() && Character.isSurrogatePair(text.charAt(at - 1), text.charAt(at));
    }

    private String text(int length) {
        StringBuilder text = new StringBuilder();
        while (text.length() < length) {
            text.append(generated.sentence(4, 24)).append(' ');
        }
        return text.substring(0, length);
    }

    private static TextScan reading(String question, List<String> texts) {
        return new TextScan(
                Question.of(question, "", Set.of(), WORDS, LocalDate.EPOCH),
                WORDS,
                new Matches(600, 36_000, Map.of(), Map.of()),
                texts.stream().mapToInt(String::length));
    }
}

package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.recall.Utterance.Passage;
import io.github.keepsake4j.recall.words.Words;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The passages of a message. */
class UtteranceTest {

    @Test
    void a_passage_is_of_whole_sentences_and_not_too_long() {
        String sentence = "The parrot sings. ";
        List<Passage> passages = passages(sentence.repeat(100));

        assertThat(passages).hasSizeBetween(100 * sentence.length() / Utterance.PASSAGE, 6);
        assertThat(passages).allSatisfy(passage -> {
            assertThat(passage.length()).isBetween(1, Utterance.PASSAGE);
            assertThat(passage.terms()).containsKey("parrot");
        });
        assertThat(passages.stream().mapToInt(Passage::length).sum()).isEqualTo(100 * sentence.length());
        assertThat(passages.stream()
                        .mapToInt(passage -> passage.terms().getOrDefault("parrot", 0))
                        .sum())
                .isEqualTo(100);
    }

    @Test
    void a_longer_sentence_is_a_passage_of_its_own() {
        List<Passage> passages = passages("Yes. " + "parrot ".repeat(500) + ". No.");

        assertThat(passages).hasSize(3);
        assertThat(passages.get(1).terms()).containsEntry("parrot", 500);
    }

    @Test
    void questions_are_asked_and_not_stated() {
        Utterance utterance = said("Do you have a parrot? I have a cat.");

        assertThat(utterance.asked()).contains("parrot").doesNotContain("cat");
        assertThat(utterance.passages()).hasSize(1);
        assertThat(utterance.passages().get(0).stated()).contains("cat").doesNotContain("parrot");
        assertThat(utterance.terms()).containsAllEntriesOf(Map.of("cat", 1, "parrot", 1));
    }

    @Test
    void an_assistant_is_known_by_its_message_and_not_by_a_name() {
        assertThat(said("Hello.").assistant()).isFalse();
        assertThat(CountedTerms.said(1, Named.ASSISTANT, Instant.EPOCH, "Hello.", Words.standard())
                        .assistant())
                .isTrue();
        assertThat(CountedTerms.said(1, "Assistant", Instant.EPOCH, "Hello.", Words.standard())
                        .assistant())
                .isFalse();
    }

    private static List<Passage> passages(String text) {
        return said(text).passages();
    }

    private static Utterance said(String text) {
        return CountedTerms.said(1, Named.USER, Instant.EPOCH, text, Words.standard());
    }
}

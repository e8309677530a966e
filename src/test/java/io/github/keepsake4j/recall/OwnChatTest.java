package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.recall.WrittenChat.Asked;
import io.github.keepsake4j.recall.WrittenChat.Line;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.Token;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@link OwnChatBenchmark} relies on: its chats of 600 messages, and the questions about 20 facts in each. */
class OwnChatTest {

    /** How far the neighbours of a message count in its score. */
    private static final int NEIGHBOURS = 4;

    /** Characters that say as little as the stop words of other languages. */
    private static final String SAYING_LITTLE = "我你他她的了是在有吗呢什么哪几怎不";

    @ParameterizedTest
    @ValueSource(strings = {"en", "zh", "de"})
    void user_and_assistant_write_600_different_messages_in_some_months(String language) {
        List<Line> lines = WrittenChat.read("own-" + language).lines();

        assertThat(lines).hasSize(600).extracting(Line::text).doesNotHaveDuplicates();
        assertThat(lines).allMatch(line -> line.user() == (line.number() % 2 == 1));
        assertThat(lines)
                .extracting(Line::number)
                .isEqualTo(IntStream.rangeClosed(1, 600).boxed().toList());
        assertThat(lines).extracting(Line::time).isSorted();
        assertThat(sessions(lines)).isBetween(30L, 60L);
        Instant last = lines.get(lines.size() - 1).time();
        assertThat(Duration.between(lines.get(0).time(), last).toDays()).isBetween(180L, 220L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"en", "zh", "de"})
    void there_are_two_questions_about_each_of_20_facts_and_100_about_nothing(String language) {
        WrittenChat chat = WrittenChat.read("own-" + language);
        List<Integer> answers = chat.questions().stream().map(Asked::answer).toList();

        assertThat(answers).hasSize(20).doesNotHaveDuplicates();
        assertThat(answers).allMatch(answer -> chat.lines().get(answer - 1).user());
        assertThat(chat.typos()).extracting(Asked::answer).isEqualTo(answers);
        assertThat(chat.unanswered()).hasSize(100).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(strings = {"en", "zh", "de"})
    void a_paraphrase_shares_no_word_with_its_answer_or_the_neighbours(String language) {
        WrittenChat chat = WrittenChat.read("own-" + language);

        List<String> shared = new ArrayList<>();
        for (Asked asked : chat.questions()) {
            int first = Math.max(1, asked.answer() - NEIGHBOURS);
            int last = Math.min(chat.lines().size(), asked.answer() + NEIGHBOURS);
            for (Line line : chat.lines().subList(first - 1, last)) {
                Set<String> terms = terms(asked.text());
                terms.retainAll(terms(line.text()));
                if (!terms.isEmpty()) {
                    shared.add(asked.text() + " | " + line + " " + terms);
                }
            }
        }
        assertThat(shared).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"en", "zh", "de"})
    void only_what_was_said_before_a_follow_up_has_a_word_of_its_answer(String language) {
        WrittenChat chat = WrittenChat.read("own-" + language);

        assertThat(chat.followUps()).hasSize(20);
        for (WrittenChat.FollowUp followUp : chat.followUps()) {
            Set<String> answer =
                    terms(chat.lines().get(followUp.asked().answer() - 1).text());
            assertThat(terms(followUp.asked().text())).as(followUp.toString()).doesNotContainAnyElementsOf(answer);
            assertThat(terms(followUp.before())).as(followUp.toString()).containsAnyElementsOf(answer);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"en", "zh", "de"})
    void what_the_assistant_said_is_asked_for_in_40_questions_of_three_languages(String language) {
        WrittenChat chat = WrittenChat.read("own-" + language);

        assertThat(chat.ofAssistant()).hasSizeBetween(13, 14).doesNotHaveDuplicates();
        assertThat(chat.ofAssistant())
                .noneMatch(asked -> chat.lines().get(asked.answer() - 1).user());
    }

    @ParameterizedTest
    @ValueSource(strings = {"en", "zh", "de"})
    void a_typo_makes_a_term_that_is_nowhere_in_the_chat(String language) {
        WrittenChat chat = WrittenChat.read("own-" + language);
        Set<String> known = chat.lines().stream()
                .map(line -> terms(line.text()))
                .flatMap(Collection::stream)
                .collect(Collectors.toSet());

        for (Asked asked : chat.typos()) {
            Set<String> terms = terms(asked.text());
            String answer = chat.lines().get(asked.answer() - 1).text();
            assertThat(known.containsAll(terms)).as(asked.text()).isFalse();
            assertThat(terms).as(asked.text()).containsAnyElementsOf(terms(answer));
        }
    }

    private static long sessions(List<Line> lines) {
        return 1
                + IntStream.range(1, lines.size())
                        .filter(i -> Duration.between(
                                                lines.get(i - 1).time(),
                                                lines.get(i).time())
                                        .compareTo(RecallOptions.standard().sessionGap())
                                > 0)
                        .count();
    }

    private static Set<String> terms(String text) {
        return Words.standard().tokens(text).stream()
                .filter(token -> token.kind() != Token.Kind.STOP_WORD)
                .map(Token::term)
                .filter(term -> !term.chars().allMatch(c -> SAYING_LITTLE.indexOf(c) >= 0))
                .collect(Collectors.toSet());
    }
}

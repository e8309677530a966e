package io.github.keepsake4j.recall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.recall.NamedDates.NamedDate;
import io.github.keepsake4j.recall.words.Words;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.Month;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RankingTest {

    private static final Instant NOON = Instant.parse("2026-03-14T12:00:00Z");
    private static final Duration GAP = Duration.ofHours(4);
    private static final MemoryKey KEY = ConversationKey.of("tenant", "chat");
    private static final LocalDate TODAY = LocalDate.parse("2026-03-14");
    private static final Set<String> ROLES = Set.of(Named.USER, Named.ASSISTANT);

    @Test
    void bm25_is_that_of_the_textbook() {
        assertThat(Bm25.idf(1, 10)).isCloseTo(Math.log(1 + 9.5 / 1.5), within(1e-12));
        assertThat(Bm25.STANDARD.weight(0, 5, 5)).isZero();
        assertThat(Bm25.STANDARD.weight(1, 5, 5)).isCloseTo(1, within(1e-12));
        assertThat(Bm25.STANDARD.weight(2, 10, 5)).isCloseTo(2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 2)), within(1e-12));
        assertThat(Bm25.STANDARD.weight(1, 5, 0)).isCloseTo(1, within(1e-12));
    }

    @Test
    void an_answer_ranks_before_the_question_that_it_answers() {
        List<Ranked> ranked = rank(
                "What is the dog called?",
                said(1, Named.USER, NOON, "I am at home today"),
                said(2, Named.ASSISTANT, NOON, "What is your dog called?"),
                said(3, Named.USER, NOON, "Luna"),
                said(4, Named.ASSISTANT, NOON, "Lovely"));

        assertThat(sequences(ranked)).startsWith(3L);
        assertThat(ranked.get(0).features().answer()).isPositive();
        assertThat(ranked.get(0).features().answer())
                .isGreaterThan(ranked.get(3).features().answer());
    }

    @Test
    void what_a_user_told_ranks_before_what_an_assistant_said_unless_that_is_asked_for() {
        Utterance[] said = {
            said(1, Named.USER, NOON, "My parrot likes apples and walnuts"),
            said(20, Named.ASSISTANT, NOON, "A parrot likes apples and walnuts"),
        };

        assertThat(sequences(rank("parrot likes walnuts", said))).containsExactly(1L, 20L);
        assertThat(sequences(rank("What did I say that a parrot likes?", said))).containsExactly(1L, 20L);
        assertThat(sequences(rank("What did you say that a parrot likes?", said)))
                .containsExactly(20L, 1L);
    }

    @Test
    void a_user_who_asks_an_assistant_tells_it_something() {
        Utterance told = said(1, Named.USER, NOON, "Can you feed the parrot that I bought in Rome?");
        List<Ranked> asked = rank("parrot Rome", told, said(2, Named.ASSISTANT, NOON, "Yes"));
        List<Ranked> amongPeople = rank("parrot Rome", told, said(2, "Ben", NOON, "Yes"));

        assertThat(asked.get(0).utterance().sequence()).isEqualTo(1);
        assertThat(asked.get(0).features().answer()).isEqualTo(1);
        assertThat(amongPeople.stream()
                        .filter(one -> one.utterance().sequence() == 1)
                        .map(one -> one.features().answer()))
                .containsExactly(0.0);
    }

    @Test
    void the_best_passage_of_a_long_message_counts() {
        String other = "The weather in the north stays cold and wet for some more days. ".repeat(20);
        List<Ranked> ranked = rank(
                "Where does the parrot sing?",
                said(1, Named.USER, NOON, other + "The parrot will sing in the garden. " + other),
                said(20, Named.USER, NOON, "The parrot. " + other + other + "You can sing."));

        assertThat(sequences(ranked)).containsExactly(1L, 20L);
        assertThat(ranked.get(0).features().answer()).isEqualTo(1);
    }

    @Test
    void asking_words_are_no_words_of_a_question_beside_others() {
        assertThat(question("What did I mention about the parrot?").terms()).doesNotContain("mention");
        assertThat(question("What did I mention?").terms()).contains("mention");
    }

    @Test
    void features_do_not_cross_a_pause() {
        List<Ranked> ranked = rank(
                "dog",
                said(1, Named.USER, NOON, "The dog sleeps"),
                said(2, Named.USER, NOON.plus(Duration.ofHours(5)), "It rains"));

        assertThat(ranked.get(1).features()).isEqualTo(new Recalled.Features(0, 0, 0, 0, 0));
    }

    @Test
    void messages_that_are_far_from_each_other_are_no_neighbours_although_nothing_between_them_is_known() {
        List<Ranked> ranked =
                rank("dog", said(1, Named.USER, NOON, "The dog sleeps"), said(90, Named.USER, NOON, "It rains"));

        assertThat(ranked.get(1).features().words()).isZero();
    }

    @Test
    void meaning_ranks_what_words_do_not_find() {
        Utterance[] said = {
            said(1, Named.USER, NOON, "My puppy is ill"), said(2, Named.USER, NOON, "The dog next door barks"),
        };
        Meaning.Builder meaning = new Meaning.Builder(1, GAP);
        meaning.add(KEY, 1, NOON, 0.8);
        meaning.add(KEY, 2, NOON, 0.1);
        List<Ranked> ranked = rank("sick pets", meaning.build(), said);

        assertThat(sequences(rank("sick pets", Meaning.NONE, said))).containsExactly(2L, 1L);
        assertThat(sequences(ranked)).containsExactly(1L, 2L);
        assertThat(ranked.get(0).features().meaning()).isCloseTo(1, within(1e-9));
        assertThat(ranked.get(0).score()).isCloseTo(1, within(1e-9));
    }

    @Test
    void a_message_fits_by_a_word_or_by_its_meaning() {
        Meaning.Builder meaning = new Meaning.Builder(1, GAP);
        meaning.add(KEY, 1, NOON, 0.8);
        meaning.add(KEY, 20, NOON, 0.1);
        Question question = Question.of("barking pets", "", ROLES, Words.standard(), TODAY);
        List<Utterance> said = List.of(
                said(1, Named.USER, NOON, "My puppy is ill"),
                said(20, Named.USER, NOON, "The dog next door barks"),
                said(40, Named.USER, NOON, "It rains"));
        Ranking ranking = new Ranking(question, CountedTerms.of(said), meaning.build(), ZoneOffset.UTC);
        List<Ranked> ranked = ranking.rank(KEY, ChatSession.cut(said, GAP)).stream()
                .filter(one -> ranking.fits(KEY, one))
                .toList();

        assertThat(sequences(ranked)).containsExactlyInAnyOrder(1L, 20L);
    }

    @Test
    void the_less_a_model_helps_the_less_it_weighs_and_dates_and_speakers_as_without() {
        assertThat(Recalled.Features.weights(0)).isEqualTo(new Recalled.Features(5, 5, 0, 1, 4.5));
        assertThat(Recalled.Features.weights(0.5)).isEqualTo(new Recalled.Features(5, 5, 0.5, 1.5, 3.75));
        assertThat(Recalled.Features.weights(1)).isEqualTo(new Recalled.Features(5, 5, 1, 2, 3));
    }

    @Test
    void pronouns_and_names_tell_the_speaker() {
        assertThat(Question.of("What did I say about my car?", "", ROLES, Words.standard(), TODAY)
                        .speaker())
                .isEqualTo(Named.USER);
        assertThat(Question.of("Was hast du empfohlen?", "", ROLES, Words.standard(), TODAY)
                        .speaker())
                .isEqualTo(Named.ASSISTANT);
        assertThat(Question.of("Did you like my car?", "", ROLES, Words.standard(), TODAY)
                        .speaker())
                .isNull();
        Question anna =
                Question.of("Where does Anna's cat sleep?", "", Set.of("Anna Berg", "Ben"), Words.standard(), TODAY);
        assertThat(anna.speaker()).isEqualTo("Anna Berg");
        assertThat(anna.terms()).doesNotContain("anna").contains("cat", "sleep");
    }

    @Test
    void a_question_of_stop_words_asks_for_them() {
        assertThat(Question.of("who are you", "", Set.of(), Words.standard(), TODAY)
                        .terms())
                .contains("who");
    }

    @Test
    void a_question_has_a_bounded_number_of_terms() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 10_000; i++) {
            text.append("question").append(i).append(' ');
        }
        assertThat(Question.of(text.toString(), "", ROLES, Words.standard(), TODAY)
                        .terms())
                .hasSizeBetween(Question.MAX_TERMS - Words.MAX_RUN - 10, Question.MAX_TERMS);
    }

    @Test
    void dates_are_understood() {
        assertThat(NamedDates.in("Where was I on 8 May 2023?", TODAY).dates())
                .containsExactly(date(2023, Month.MAY, 8));
        assertThat(NamedDates.in("the dinner on May 8th, 2023", TODAY).dates())
                .containsExactly(date(2023, Month.MAY, 8));
        assertThat(NamedDates.in("the 8th of May", TODAY).dates()).containsExactly(date(null, Month.MAY, 8));
        assertThat(NamedDates.in("in December, and again that winter 2021", TODAY)
                        .dates())
                .containsExactly(date(null, Month.DECEMBER, null), date(2021, null, null));
        assertThat(NamedDates.in("am 3. Oktober 2025 im März", TODAY).dates())
                .containsExactly(date(2025, Month.OCTOBER, 3), date(null, Month.MARCH, null));
        assertThat(NamedDates.in("2023-05-08 2023年5月8日 5月", TODAY).dates())
                .containsExactly(date(2023, Month.MAY, 8), date(2023, Month.MAY, 8), date(null, Month.MAY, null));
        assertThat(NamedDates.in("May I march on? It may be 1234 or 13月 or 2023-13-45", TODAY)
                        .dates())
                .isEmpty();
        assertThat(NamedDates.in("May ".repeat(10_000), TODAY).dates()).hasSizeLessThan(5);
    }

    @Test
    void a_day_fits_a_date_as_far_as_it_is_named() {
        assertThat(fit("8 May 2023", "2023-05-08")).isEqualTo(2);
        assertThat(fit("8 May 2023", "2023-05-12")).isEqualTo(1.5);
        assertThat(fit("8 May 2023", "2023-05-30")).isEqualTo(1);
        assertThat(fit("30 May 2023", "2023-06-03")).isEqualTo(0.5);
        assertThat(fit("8 May 2023", "2022-05-08")).isZero();
        assertThat(fit("in December", "2022-12-20")).isEqualTo(1);
        assertThat(fit("in December", "2023-01-04")).isEqualTo(0.5);
        assertThat(fit("in 2022", "2022-03-04")).isEqualTo(0.3);
        assertThat(fit("30 February 2023", "2023-02-04")).isEqualTo(1);
        assertThat(fit("nothing", "2023-02-04")).isZero();
    }

    @Test
    void the_length_of_a_long_message_does_not_change_the_order_of_its_neighbours() {
        List<List<Long>> orders = new ArrayList<>();
        for (int repeated : new int[] {40, 400, 4_000}) {
            List<Utterance> utterances = new ArrayList<>();
            for (int i = 1; i <= 60; i++) {
                String more = i % 20 == 10 ? "The contract ends in June. ".repeat(repeated) : "";
                String parrot = i % 7 == 0 ? "A parrot sings in the garden. " : "";
                utterances.add(said(i, Named.USER, NOON, parrot + "It is day " + "and night ".repeat(i % 5) + more));
            }
            List<Ranked> ranked = rank("Which parrot sings?", utterances.toArray(Utterance[]::new));
            orders.add(sequences(ranked).subList(0, 8));
            // Some of them are beside the long messages of day 10, 30 and 50.
            assertThat(sequences(ranked).subList(0, 8))
                    .containsExactlyInAnyOrder(7L, 14L, 21L, 28L, 35L, 42L, 49L, 56L);
        }
        assertThat(orders.get(1)).isEqualTo(orders.get(0));
        assertThat(orders.get(2)).isEqualTo(orders.get(0));
    }

    @Test
    void short_months_numbers_and_weeks_are_understood() {
        assertThat(named("Oct 3 or 3 Oct. 2025"))
                .containsExactly(date(null, Month.OCTOBER, 3), date(2025, Month.OCTOBER, 3));
        assertThat(named("May 13")).containsExactly(date(null, Month.MAY, 13));
        assertThat(named("In May 2025")).containsExactly(date(2025, Month.MAY, null));
        assertThat(named("13.05.2026")).containsExactly(date(2026, Month.MAY, 13));
        assertThat(named("Was war am 13.5.?")).containsExactly(date(null, Month.MAY, 13));
        assertThat(named("五月十三日, 5月3号, 十二月三十一日"))
                .containsExactly(date(null, Month.MAY, 13), date(null, Month.MAY, 3), date(null, Month.DECEMBER, 31));
        for (String week : List.of("the week of the 13th of May", "in der Woche vom 13. Mai", "5月13日那一周")) {
            assertThat(named(week)).containsExactly(new NamedDate(null, Month.MAY, 13, true));
        }
        assertThat(fit("the week of May 13, 2026", "2026-05-17")).isEqualTo(2);
        assertThat(fit("the week of May 13, 2026", "2026-05-18")).isEqualTo(1.5);
        for (String none : List.of("It costs 13.5.", "1.2.3", "13/5", "Jan and Mar", "oct", "三个月", "13.13.2026")) {
            assertThat(named(none)).as(none).isEmpty();
        }
    }

    @Test
    void relative_dates_count_from_the_day_of_the_question() {
        // A Saturday.
        assertThat(relative("YESTERDAY, heute und vorgestern")).containsExactlyInAnyOrder(day(13), day(14), day(12));
        assertThat(relative("the day before yesterday")).containsExactly(day(12));
        assertThat(relative("大前天")).containsExactly(day(11));
        assertThat(relative("三天前天气")).containsExactly(day(11));
        assertThat(relative("3 days ago, vor einem Tag")).containsExactly(day(11), day(13));
        assertThat(relative("two  weeks ago")).containsExactly(Days.week(LocalDate.parse("2026-02-28")));
        assertThat(relative("上个星期")).containsExactly(Days.week(LocalDate.parse("2026-03-07")));
        assertThat(relative("last Saturday")).containsExactly(day(7));
        assertThat(relative("am Freitag")).containsExactly(day(13));
        assertThat(relative("上周一")).containsExactly(day(2));
        assertThat(relative("周一")).containsExactly(day(9));
        assertThat(relative("这周日")).containsExactly(day(15));
        assertThat(relative("last month")).containsExactly(Days.month(YearMonth.of(2026, 2)));
        assertThat(relative("十二个月前")).containsExactly(Days.month(YearMonth.of(2025, 3)));
        for (String none : List.of("holiday weeks", "todays", "Heuteman", "1234 days ago", "每周一", "一周一次", "上上周")) {
            assertThat(relative(none)).as(none).isEmpty();
        }
        assertThat(relative("昨天".repeat(5_000))).hasSizeLessThan(5);
    }

    @Test
    void a_relative_day_fits_exactly_or_the_days_after_it_a_little() {
        assertThat(fit("yesterday", "2026-03-13")).isEqualTo(2);
        assertThat(fit("a week ago", "2026-03-07")).isEqualTo(2);
        assertThat(fit("a week ago", "2026-03-09")).isZero();
        assertThat(fit("10 days ago", "2026-03-14")).isEqualTo(0.5);
        assertThat(fit("11 days ago", "2026-03-14")).isZero();
        assertThat(fit("yesterday", "2026-03-12")).isZero();
    }

    @Test
    void a_question_of_a_date_alone_asks_for_nothing_else() {
        for (String text : List.of("What did I tell you on May 13th?", "2026-05-13", "Und gestern?", "昨天我们聊了什么？")) {
            assertThat(question(text).onlyTime()).as(text).isTrue();
        }
        for (String text : List.of("What was my dog doing on May 13?", "What did we say in 2025?", "昨天狗怎么了", "Hi")) {
            assertThat(question(text).onlyTime()).as(text).isFalse();
        }
        assertThat(question("What did I say yesterday?").speaker()).isEqualTo(Named.USER);
    }

    @Test
    void days_of_a_zone_are_covered_by_days_of_utc() {
        ZoneId kiritimati = ZoneId.of("Pacific/Kiritimati");
        assertThat(day(13).inUtc(ZoneOffset.UTC)).containsExactly(LocalDate.parse("2026-03-13"));
        assertThat(day(13).beginWithinUtcDay(ZoneOffset.UTC)).isFalse();
        assertThat(day(13).inUtc(kiritimati))
                .containsExactly(LocalDate.parse("2026-03-12"), LocalDate.parse("2026-03-13"));
        assertThat(day(13).beginWithinUtcDay(kiritimati)).isTrue();
        assertThat(Days.inTurns(List.of(List.of(1, 2, 3), List.of(4), List.of(5, 6))))
                .containsExactly(1, 4, 5, 2, 6, 3);
    }

    @Test
    void the_same_input_gives_the_same_order() {
        Random random = new Random(5);
        String[] words = {"parrot", "green", "song", "house", "walking", "garden", "dinner", "plan"};
        List<Utterance> utterances = new ArrayList<>();
        for (int i = 1; i <= 200; i++) {
            String text = words[random.nextInt(8)] + " " + words[random.nextInt(8)];
            utterances.add(said(i, Named.USER, NOON.plus(Duration.ofHours(i)), text));
        }
        List<Ranked> ranked = rank("green parrots", utterances.toArray(Utterance[]::new));
        assertThat(ranked).hasSize(200).isEqualTo(rank("green parrots", utterances.toArray(Utterance[]::new)));
        assertThat(ranked).isSortedAccordingTo((a, b) -> Double.compare(b.score(), a.score()));
    }

    private static List<NamedDate> named(String text) {
        return NamedDates.in(text, TODAY).dates();
    }

    private static List<Days> relative(String text) {
        return NamedDates.in(text, TODAY).relative();
    }

    private static Days day(int ofMarch) {
        return Days.of(LocalDate.of(2026, Month.MARCH, ofMarch));
    }

    private static Question question(String text) {
        return Question.of(text, "", ROLES, Words.standard(), TODAY);
    }

    private static double fit(String text, String day) {
        return NamedDates.in(text, TODAY).fit(LocalDate.parse(day));
    }

    private static NamedDate date(Integer year, Month month, Integer day) {
        return new NamedDate(year, month, day, false);
    }

    private static Utterance said(long sequence, String speaker, Instant time, String text) {
        return CountedTerms.said(sequence, speaker, time, text, Words.standard());
    }

    private static List<Ranked> rank(String text, Utterance... utterances) {
        return rank(text, Meaning.NONE, utterances);
    }

    private static List<Ranked> rank(String text, Meaning meaning, Utterance... utterances) {
        Question question = Question.of(text, "", ROLES, Words.standard(), TODAY);
        return new Ranking(question, CountedTerms.of(List.of(utterances)), meaning, ZoneOffset.UTC)
                .rank(KEY, ChatSession.cut(List.of(utterances), GAP));
    }

    private static List<Long> sequences(List<Ranked> ranked) {
        return ranked.stream().map(one -> one.utterance().sequence()).toList();
    }
}

package io.github.keepsake4j.recall;

import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.temporal.TemporalAdjusters;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Finds the days, weeks and months that a text counts from today, in English, German and Chinese. */
final class RelativeDates {

    /** A question that names more is a list. */
    private static final int MAX_FOUND = 4;

    /** Each phrase has one of these. */
    private static final Pattern ROOTS =
            Pattern.compile("day|week|month|tag|woch|monat|gestern|heute|sonnabend|[天日周月]|星期|礼拜");

    private static final List<String> NUMBERS = List.of(
            "a an one einem einer",
            "two zwei",
            "three drei",
            "four vier",
            "five fünf",
            "six sechs",
            "seven sieben",
            "eight acht",
            "nine neun",
            "ten zehn");
    private static final String NUMBER =
            "(\\d{1,3}|" + String.join("|", NUMBERS).replace(' ', '|') + ")";

    private static final String CHINESE_NUMBER = "(\\d{1,3}|[一二两三四五六七八九十]{1,3})\\s?";
    private static final String CHINESE_WEEK = "个?(?:周|星期|礼拜)";
    private static final String CHINESE_WEEKDAYS = "一二三四五六日天";

    private static final List<String> WEEKDAYS = List.of(
            "monday montag",
            "tuesday dienstag",
            "wednesday mittwoch",
            "thursday donnerstag",
            "friday freitag",
            "saturday samstag sonnabend",
            "sunday sonntag");

    /** A phrase that is part of others comes after them. */
    private static final List<Phrase> PHRASES = List.of(
            Phrase.of(
                    NUMBER + " days? ago|vor " + NUMBER + " tag(?:en?)?|" + CHINESE_NUMBER + "[天日]之?前",
                    (number, today) -> Days.of(today.minusDays(number(number)))),
            Phrase.of(
                    NUMBER + " weeks? ago|vor " + NUMBER + " wochen?|" + CHINESE_NUMBER + CHINESE_WEEK + "之?前",
                    (number, today) -> Days.week(today.minusWeeks(number(number)))),
            Phrase.of(
                    NUMBER + " months? ago|vor " + NUMBER + " monat(?:en?)?|" + CHINESE_NUMBER + "个月之?前",
                    (number, today) -> month(today, number(number))),
            Phrase.of(
                    "(?:the )?day before yesterday|vorgestern|(?<!大)前天", (word, today) -> Days.of(today.minusDays(2))),
            Phrase.of("大前天", (word, today) -> Days.of(today.minusDays(3))),
            Phrase.of("yesterday|gestern|昨[天日]", (word, today) -> Days.of(today.minusDays(1))),
            Phrase.of("today|heute|今[天日]", (word, today) -> Days.of(today)),
            Phrase.of(
                    "(?:last|on|letzten|vorigen|vergangenen|am) ("
                            + String.join("|", WEEKDAYS).replace(' ', '|') + ")",
                    RelativeDates::previous),
            Phrase.of("上" + CHINESE_WEEK + "([" + CHINESE_WEEKDAYS + "])", (day, today) -> inWeek(day, today, 1)),
            Phrase.of("[这本]" + CHINESE_WEEK + "([" + CHINESE_WEEKDAYS + "])", (day, today) -> inWeek(day, today, 0)),
            // Not "every Monday" nor "once a week".
            Phrase.of("(?<![下上每个几一二两三四五六七八九十\\d])(?:周|星期|礼拜)([" + CHINESE_WEEKDAYS + "])", RelativeDates::previous),
            Phrase.of(
                    "(?:last|previous) week|(?:letzte|vorige|vergangene)[nr]? woche|(?<!上)上" + CHINESE_WEEK,
                    (word, today) -> Days.week(today.minusWeeks(1))),
            Phrase.of("this week|diese[rn]? woche|[这本]" + CHINESE_WEEK, (word, today) -> Days.week(today)),
            Phrase.of(
                    "(?:last|previous) month|(?:letzte|vorige|vergangene)[nrms]? monate?s?|(?<!上)上个?月",
                    (word, today) -> month(today, 1)),
            Phrase.of("this month|diese[nrms]? monate?s?|这个?月|本月", (word, today) -> month(today, 0)));

    private RelativeDates() {}

    /** Days, and the place in the text where they are named. */
    record Found(int start, int end, Days days) {}

    static List<Found> in(String text, LocalDate today) {
        List<Found> all = new ArrayList<>();
        StringBuilder rest = new StringBuilder(text);
        for (int i = 0; i < text.length(); i++) {
            // Unlike that of a String, the length does not change.
            rest.setCharAt(i, Character.toLowerCase(text.charAt(i)));
        }
        if (!ROOTS.matcher(rest).find()) {
            return all;
        }
        for (Phrase phrase : PHRASES) {
            List<MatchResult> matches =
                    phrase.words().matcher(rest.toString()).results().toList();
            for (MatchResult match : matches) {
                all.add(new Found(match.start(), match.end(), phrase.days().apply(group(match), today)));
                rest.replace(match.start(), match.end(), " ".repeat(match.end() - match.start()));
            }
        }
        return all.subList(0, Math.min(all.size(), MAX_FOUND));
    }

    private static String group(MatchResult match) {
        for (int i = 1; i <= match.groupCount(); i++) {
            if (match.group(i) != null) {
                return match.group(i);
            }
        }
        return "";
    }

    private record Phrase(Pattern words, BiFunction<String, LocalDate, Days> days) {

        /** A space stands for any white space. Latin words are whole words. */
        static Phrase of(String words, BiFunction<String, LocalDate, Days> days) {
            String whole = "(?:(?<![a-zäöüß\\d])|(?![a-z\\d]))(?:" + words.replace(" ", "\\s+")
                    + ")(?:(?![a-zäöüß])|(?<![a-zäöüß\\d]))";
            return new Phrase(Pattern.compile(whole), days);
        }
    }

    private static Days month(LocalDate today, int ago) {
        return Days.month(YearMonth.from(today).minusMonths(ago));
    }

    /** Returns the latest day of that name before today. */
    private static Days previous(String weekday, LocalDate today) {
        return Days.of(today.with(TemporalAdjusters.previous(DayOfWeek.of(weekday(weekday)))));
    }

    private static Days inWeek(String weekday, LocalDate today, int weeksAgo) {
        return Days.of(Days.week(today.minusWeeks(weeksAgo)).first().plusDays(weekday(weekday) - 1));
    }

    private static int weekday(String word) {
        int chinese = CHINESE_WEEKDAYS.indexOf(word);
        return chinese >= 0 ? Math.min(7, chinese + 1) : place(word, WEEKDAYS);
    }

    private static int number(String word) {
        if (Character.isDigit(word.charAt(0))) {
            return Integer.parseInt(word);
        }
        return Character.isIdeographic(word.charAt(0)) ? chineseNumber(word) : place(word, NUMBERS);
    }

    /** Returns the place, from 1, of the line that has a word. */
    private static int place(String word, List<String> lines) {
        for (int i = 0; i < lines.size(); i++) {
            if (List.of(lines.get(i).split(" ")).contains(word)) {
                return i + 1;
            }
        }
        throw new IllegalArgumentException("not a known word");
    }

    /** Reads a number up to 99. */
    static int chineseNumber(String word) {
        int tens = 0;
        int ones = 0;
        for (int i = 0; i < word.length(); i++) {
            int digit = "一二三四五六七八九".indexOf(word.charAt(i)) + 1;
            if (word.charAt(i) == '十') {
                tens = Math.max(1, ones);
                ones = 0;
            } else {
                ones = word.charAt(i) == '两' ? 2 : digit;
            }
        }
        return 10 * tens + ones;
    }
}

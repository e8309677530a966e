package io.github.keepsake4j.recall;

import io.github.keepsake4j.recall.NamedDates.NamedDate;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.Month;
import java.time.format.TextStyle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Finds the dates in a text that do not count from today. Used for one text by one thread. */
final class AbsoluteDates {

    /** A question that names more dates is a list. */
    private static final int MAX_DATES = 4;

    /** The number of characters before and behind a date that tell what it means. */
    private static final int AROUND = 40;

    private static final Map<String, Month> MONTHS = months();

    /** They are months only with a day next to them. */
    private static final Map<String, Month> SHORT_MONTHS = Arrays.stream(Month.values())
            .collect(Collectors.toMap(month -> month.name().substring(0, 3).toLowerCase(Locale.ROOT), month -> month));

    private static final Pattern ISO = Pattern.compile("(\\d{4})-(\\d{2})-(\\d{2})");

    private static final Pattern EAST_ASIAN = Pattern.compile(
            "(?:(\\d{4})年)?(\\d{1,2}|十[一二]?|[一二三四五六七八九])月" + "(?:(\\d{1,2}|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])[日号])?");

    private static final Pattern GERMAN =
            Pattern.compile("(?<![\\d.])(\\d{1,2})\\.\\s?(\\d{1,2})\\.(?:\\s?(\\d{4}))?(?!\\d)");

    /** Without a year, "13.5." may also be an amount at the end of a sentence. */
    private static final Pattern BEFORE_GERMAN =
            Pattern.compile("(?<!\\p{L})(?:am|vom|zum|bis|den|seit|ab|der|dem|und)\\s$", Pattern.CASE_INSENSITIVE);

    private static final Pattern WORD = Pattern.compile("\\p{L}{3,}|\\d{1,4}");

    private static final Pattern BEFORE_WEEK = Pattern.compile(
            "(?:week\\s+(?:of|from|beginning)\\s+(?:the\\s+)?|woche\\s+(?:vom|ab|um\\s+den)\\s+)$",
            Pattern.CASE_INSENSITIVE);

    private static final Pattern AFTER_WEEK = Pattern.compile("(?:的|所在的)?[那这]一?个?(?:周|星期|礼拜)");

    private final StringBuilder rest;
    private final List<Found> all = new ArrayList<>();

    private AbsoluteDates(String text) {
        rest = new StringBuilder(text);
    }

    /** A date, and the place in the text where it is named. */
    record Found(int start, int end, NamedDate date) {}

    static List<Found> in(String text) {
        AbsoluteDates dates = new AbsoluteDates(text);
        dates.addNumeric(ISO, match -> date(match.group(1), match.group(2), match.group(3)));
        dates.addNumeric(EAST_ASIAN, match -> date(match.group(1), match.group(2), match.group(3)));
        dates.addNumeric(
                GERMAN,
                match -> match.group(3) != null || isGerman(text, match.start())
                        ? date(match.group(3), match.group(2), match.group(1))
                        : null);
        dates.addWritten();
        return dates.all.stream()
                .limit(MAX_DATES)
                .map(found -> found.date().day() == null ? found : week(found, text))
                .toList();
    }

    /** Adds the dates that a reader returns for matches; it returns null for what is none. */
    private void addNumeric(Pattern pattern, Function<MatchResult, @Nullable NamedDate> reader) {
        for (MatchResult match : pattern.matcher(rest.toString()).results().toList()) {
            try {
                NamedDate date = reader.apply(match);
                if (date != null) {
                    all.add(new Found(match.start(), match.end(), date));
                }
            } catch (DateTimeException e) {
                // There is no such date.
            }
            rest.replace(match.start(), match.end(), " ".repeat(match.end() - match.start()));
        }
    }

    private static boolean isGerman(String text, int start) {
        return start == 0 || BEFORE_GERMAN.matcher(before(text, start)).find();
    }

    private static String before(String text, int at) {
        return text.substring(Math.max(0, at - AROUND), at);
    }

    private static NamedDate date(@Nullable String year, String month, @Nullable String day) {
        Integer ofYear = year == null ? null : number(year);
        Integer ofDay = day == null ? null : number(day);
        if (ofYear != null && ofDay != null) {
            LocalDate date = LocalDate.of(ofYear, number(month), ofDay);
            return new NamedDate(ofYear, date.getMonth(), ofDay, false);
        }
        return new NamedDate(ofYear, Month.of(number(month)), ofDay, false);
    }

    private static int number(String text) {
        return Character.isDigit(text.charAt(0)) ? Integer.parseInt(text) : RelativeDates.chineseNumber(text);
    }

    /** Extends a day to its week, if the text names the week. */
    private static Found week(Found found, String text) {
        String before = before(text, found.start());
        Matcher weekOf = BEFORE_WEEK.matcher(before);
        Matcher after = AFTER_WEEK.matcher(text).region(found.end(), text.length());
        boolean isBefore = weekOf.find();
        if (!isBefore && !after.lookingAt()) {
            return found;
        }
        NamedDate day = found.date();
        return new Found(
                isBefore ? found.start() - before.length() + weekOf.start() : found.start(),
                isBefore ? found.end() : after.end(),
                new NamedDate(day.year(), day.month(), day.day(), true));
    }

    /** Finds years, and months with the day and the year next to them. */
    private void addWritten() {
        List<MatchResult> words = WORD.matcher(rest).results().toList();
        boolean[] used = new boolean[words.size()];
        for (int i = 0; i < words.size(); i++) {
            Integer day = null;
            int dayAt = i;
            for (int near = Math.max(0, i - 1); near <= Math.min(i + 1, words.size() - 1) && day == null; near++) {
                day = used[near] ? null : day(words.get(near).group());
                dayAt = day == null ? i : near;
            }
            Month month = month(words.get(i), day != null);
            if (month == null) {
                continue;
            }
            Integer year = null;
            int yearAt = i;
            for (int near = i + 1; near <= Math.min(i + 3, words.size() - 1) && year == null; near++) {
                year = used[near] ? null : year(words.get(near).group());
                yearAt = year == null ? i : near;
            }
            used[yearAt] = year != null;
            int start = words.get(Math.min(i, dayAt)).start();
            int end = words.get(Math.max(i, Math.max(dayAt, yearAt))).end();
            all.add(new Found(start, end, new NamedDate(year, month, day, false)));
        }
        for (int i = 0; i < words.size(); i++) {
            MatchResult word = words.get(i);
            Integer year = used[i] ? null : year(word.group());
            if (year != null) {
                all.add(new Found(word.start(), word.end(), new NamedDate(year, null, null, false)));
            }
        }
    }

    /** "may" and "march" in lower case are not months, and neither are "May" and "March" at the beginning without a day. */
    private @Nullable Month month(MatchResult word, boolean hasDay) {
        String text = word.group().toLowerCase(Locale.ROOT);
        Month month = MONTHS.get(text);
        if (month == null && hasDay) {
            month = SHORT_MONTHS.get(text.equals("sept") ? "sep" : text);
        }
        if (month != Month.MAY && month != Month.MARCH) {
            return month;
        }
        boolean upper = Character.isUpperCase(word.group().charAt(0));
        return upper && (hasDay || !isFirst(word)) ? month : null;
    }

    private boolean isFirst(MatchResult word) {
        return rest.chars().limit(word.start()).noneMatch(Character::isLetterOrDigit);
    }

    private static @Nullable Integer year(String word) {
        return word.length() == 4 && (word.startsWith("19") || word.startsWith("20")) ? Integer.valueOf(word) : null;
    }

    private static @Nullable Integer day(String word) {
        boolean number = word.length() <= 2 && Character.isDigit(word.charAt(0));
        int day = number ? Integer.parseInt(word) : 0;
        return day >= 1 && day <= 31 ? day : null;
    }

    private static Map<String, Month> months() {
        Map<String, Month> months = new HashMap<>();
        for (Locale locale : List.of(Locale.ENGLISH, Locale.GERMAN)) {
            for (Month month : Month.values()) {
                months.put(month.getDisplayName(TextStyle.FULL, locale).toLowerCase(Locale.ROOT), month);
            }
        }
        return Map.copyOf(months);
    }
}

package io.github.keepsake4j.recall;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.Month;
import java.time.YearMonth;
import java.time.format.TextStyle;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The dates that a question names: "8 May 2023", "May 8th", "in March", "2022", "3. Oktober", "2023-05-08",
 * "2023年5月8日". Months are known by their English and German names.
 *
 * @param dates the dates
 */
record NamedDates(List<NamedDate> dates) {

    /** A question that names more dates is a list. */
    private static final int MAX_DATES = 4;

    private static final int MAX_LENGTH = 2_000;

    private static final Map<String, Month> MONTHS = months();

    private static final Pattern WORD =
            Pattern.compile("(\\d{4}-\\d{2}-\\d{2})|(?:(\\d{4})年)?(\\d{1,2})月(?:(\\d{1,2})日)?|(\\p{L}{3,})|(\\d{1,4})");

    NamedDates {
        dates = List.copyOf(dates);
    }

    /**
     * A date with possibly missing parts.
     *
     * @param year the year, or null
     * @param month the month, or null
     * @param day the day of the month, or null; null without a month
     */
    record NamedDate(@Nullable Integer year, @Nullable Month month, @Nullable Integer day) {

        private static final int DAYS_AFTER = 10;

        /** Returns how well a day fits, 0 to 2. Messages often report about the days before them. */
        double fits(LocalDate day) {
            if (month == null) {
                return year != null && day.getYear() == year ? 0.3 : 0;
            }
            // Without a year, the most recent month of that name.
            int of = year != null ? year : day.getMonthValue() < month.getValue() ? day.getYear() - 1 : day.getYear();
            YearMonth named = YearMonth.of(of, month);
            double fits = YearMonth.from(day).equals(named) ? 1 : 0;
            if (this.day == null) {
                long after = ChronoUnit.DAYS.between(named.plusMonths(1).atDay(1), day);
                return fits == 0 && after >= 0 && after < DAYS_AFTER ? 0.5 : fits;
            }
            if (!named.isValidDay(this.day)) {
                return fits;
            }
            long after = ChronoUnit.DAYS.between(named.atDay(this.day), day);
            return after == 0 ? fits + 1 : after > 0 && after <= DAYS_AFTER ? fits + 0.5 : fits;
        }
    }

    /** Finds the dates in a text. */
    static NamedDates in(String text) {
        List<NamedDate> dates = new ArrayList<>();
        Matcher matcher = WORD.matcher(text.substring(0, Math.min(text.length(), MAX_LENGTH)));
        List<String> words = new ArrayList<>();
        while (matcher.find()) {
            try {
                if (matcher.group(1) != null) {
                    dates.add(iso(matcher.group(1)));
                } else if (matcher.group(3) != null) {
                    dates.add(eastAsian(matcher));
                } else {
                    words.add(matcher.group());
                }
            } catch (DateTimeException e) {
                // There is no such date.
            }
        }
        addWritten(words, dates);
        return new NamedDates(dates.subList(0, Math.min(dates.size(), MAX_DATES)));
    }

    private static NamedDate iso(String text) {
        LocalDate date = LocalDate.parse(text);
        return new NamedDate(date.getYear(), date.getMonth(), date.getDayOfMonth());
    }

    private static NamedDate eastAsian(Matcher matcher) {
        String year = matcher.group(2);
        String day = matcher.group(4);
        return new NamedDate(
                year == null ? null : Integer.valueOf(year),
                Month.of(Integer.parseInt(matcher.group(3))),
                day == null ? null : Integer.valueOf(day));
    }

    /** Finds years, and months with the day and the year next to them. */
    private static void addWritten(List<String> words, List<NamedDate> dates) {
        boolean[] used = new boolean[words.size()];
        for (int i = 0; i < words.size(); i++) {
            Month month = month(words.get(i), i == 0);
            if (month != null) {
                Integer year = null;
                Integer day = null;
                for (int near : new int[] {i - 1, i + 1, i + 2, i + 3}) {
                    if (near < 0 || near >= words.size() || used[near]) {
                        continue;
                    }
                    if (year == null && near > i && year(words.get(near)) != null) {
                        year = year(words.get(near));
                        used[near] = true;
                    } else if (day == null && near <= i + 1) {
                        day = day(words.get(near));
                    }
                }
                dates.add(new NamedDate(year, month, day));
            }
        }
        for (int i = 0; i < words.size(); i++) {
            Integer year = used[i] ? null : year(words.get(i));
            if (year != null) {
                dates.add(new NamedDate(year, null, null));
            }
        }
    }

    /** "may", "march" and "mar" in lower case or at the beginning are not months. */
    private static @Nullable Month month(String word, boolean first) {
        boolean upper = Character.isUpperCase(word.charAt(0));
        Month month = MONTHS.get(word.toLowerCase(Locale.ROOT));
        boolean other = month == Month.MAY || month == Month.MARCH;
        return other && (!upper || first) ? null : month;
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

    /** Returns how well a day fits the best of the dates, 0 to 2. */
    double fit(LocalDate day) {
        return dates.stream().mapToDouble(date -> date.fits(day)).max().orElse(0);
    }
}

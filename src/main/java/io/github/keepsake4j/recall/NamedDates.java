package io.github.keepsake4j.recall;

import java.time.LocalDate;
import java.time.Month;
import java.time.YearMonth;
import java.time.temporal.ChronoUnit;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The dates that a question names: "8 May 2023", "May 8th", "Oct 3", "in March", "the week of May 8", "2022",
 * "3. Oktober", "am 3.10.", "2023-05-08", "2023年5月8日", "五月八号", and those of {@link RelativeDates}. Months are known
 * by their English and German names.
 *
 * @param today the day on which the question is asked
 * @param dates the dates
 * @param relative the days that are counted from today
 * @param covered the places in the text where all these are named
 */
record NamedDates(LocalDate today, List<NamedDate> dates, List<Days> relative, BitSet covered) {

    private static final int MAX_LENGTH = 2_000;

    /** A date without a year is looked for in so many years. */
    private static final int YEARS = 5;

    /**
     * A date with possibly missing parts.
     *
     * @param year the year, or null
     * @param month the month, or null
     * @param day the day of the month, or null; null without a month
     * @param week whether the week of the day is meant; false without a day
     */
    record NamedDate(@Nullable Integer year, @Nullable Month month, @Nullable Integer day, boolean week) {

        private static final double OF_YEAR = 0.3;

        /** Returns how well a day fits, 0 to 2. Messages often report about the days before them. */
        double fits(LocalDate day) {
            if (month == null) {
                return year != null && day.getYear() == year ? OF_YEAR : 0;
            }
            // Without a year, the most recent month of that name.
            int of = year != null ? year : day.getMonthValue() < month.getValue() ? day.getYear() - 1 : day.getYear();
            YearMonth named = YearMonth.of(of, month);
            double fits = YearMonth.from(day).equals(named) ? 1 : 0;
            if (this.day == null) {
                long after = ChronoUnit.DAYS.between(named.plusMonths(1).atDay(1), day);
                return fits == 0 && after >= 0 && after < Days.AFTER ? 0.5 : fits;
            }
            if (!named.isValidDay(this.day)) {
                return fits;
            }
            if (week && Days.week(named.atDay(this.day)).has(day)) {
                return 2;
            }
            long after = ChronoUnit.DAYS.between(named.atDay(this.day), day);
            return after == 0 ? fits + 1 : after > 0 && after <= Days.AFTER ? fits + 0.5 : fits;
        }

        private double most() {
            return day != null ? 2 : month != null ? 1 : OF_YEAR;
        }

        /** Returns the days that this date means, or several alternatives if it has no year: the latest first. */
        private List<Days> occasions(LocalDate today) {
            Month ofMonth = month;
            if (ofMonth == null) {
                return List.of();
            }
            IntStream years = year != null
                    ? IntStream.of(year)
                    : IntStream.range(0, YEARS).map(i -> today.getYear() - i);
            return years.mapToObj(of -> days(YearMonth.of(of, ofMonth)))
                    .flatMap(Stream::ofNullable)
                    .filter(days -> year != null || !days.first().isAfter(today))
                    .toList();
        }

        private @Nullable Days days(YearMonth named) {
            if (day == null) {
                return Days.month(named);
            }
            if (!named.isValidDay(day)) {
                return null;
            }
            return week ? Days.week(named.atDay(day)) : Days.of(named.atDay(day));
        }
    }

    /** Finds the dates in a text. */
    static NamedDates in(String text, LocalDate today) {
        String used = text.substring(0, Math.min(text.length(), MAX_LENGTH));
        List<RelativeDates.Found> relative = RelativeDates.in(used, today);
        StringBuilder rest = new StringBuilder(used);
        relative.forEach(found -> rest.replace(found.start(), found.end(), " ".repeat(found.end() - found.start())));
        List<AbsoluteDates.Found> dates = AbsoluteDates.in(rest.toString());
        BitSet covered = new BitSet();
        relative.forEach(found -> covered.set(found.start(), found.end()));
        dates.forEach(found -> covered.set(found.start(), found.end()));
        return new NamedDates(
                today,
                dates.stream().map(AbsoluteDates.Found::date).toList(),
                relative.stream().map(RelativeDates.Found::days).toList(),
                covered);
    }

    /** Returns how well a day fits the best of the dates, 0 to 2. */
    double fit(LocalDate day) {
        double best = dates.stream().mapToDouble(date -> date.fits(day)).max().orElse(0);
        return relative.stream().mapToDouble(days -> days.fits(day)).reduce(best, Math::max);
    }

    /**
     * Returns the days that are named. A year alone names none.
     *
     * @return for each date the days that it may mean, the latest first
     */
    List<List<Days>> occasions() {
        return Stream.concat(relative.stream().map(List::of), dates.stream().map(date -> date.occasions(today)))
                .filter(days -> !days.isEmpty())
                .toList();
    }

    /** Returns how well the dates fit what names them, 0 to 2. */
    double most() {
        return dates.stream().mapToDouble(NamedDate::most).max().orElse(0);
    }

    /** Returns whether a part of the text is within dates that do not count from today. */
    boolean isNamed(int start, int end) {
        return relative.isEmpty() && covered.nextClearBit(start) >= end;
    }

    /** Returns whether a place in the text is part of a date. */
    boolean covers(int at) {
        return covered.get(at);
    }
}

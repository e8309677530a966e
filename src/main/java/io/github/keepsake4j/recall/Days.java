package io.github.keepsake4j.recall;

import java.time.DayOfWeek;
import java.time.Duration;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAdjusters;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Consecutive days of a calendar: a day, a week or a month.
 *
 * @param first the first day
 * @param last the last day, not before the first
 */
record Days(LocalDate first, LocalDate last) {

    /** The number of days for which messages often report about a day. */
    static final int AFTER = 10;

    static Days of(LocalDate day) {
        return new Days(day, day);
    }

    /** Returns the week of a day, from Monday to Sunday. */
    static Days week(LocalDate day) {
        LocalDate monday = day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
        return new Days(monday, monday.plusDays(6));
    }

    static Days month(YearMonth month) {
        return new Days(month.atDay(1), month.atEndOfMonth());
    }

    boolean has(LocalDate day) {
        return !day.isBefore(first) && !day.isAfter(last);
    }

    /** Returns how well a day fits: 2 inside, 0.5 up to ten days after a single day, else 0. */
    double fits(LocalDate day) {
        if (has(day)) {
            return 2;
        }
        long after = ChronoUnit.DAYS.between(last, day);
        return first.equals(last) && after > 0 && after <= AFTER ? 0.5 : 0;
    }

    /** Returns the UTC days that cover these days of a zone, in order. */
    List<LocalDate> inUtc(ZoneId zone) {
        LocalDate from = LocalDate.ofInstant(first.atStartOfDay(zone).toInstant(), ZoneOffset.UTC);
        LocalDate to = LocalDate.ofInstant(
                last.plusDays(1).atStartOfDay(zone).toInstant().minus(Duration.ofNanos(1)), ZoneOffset.UTC);
        return from.datesUntil(to.plusDays(1)).toList();
    }

    /** Returns whether these days of a zone begin in the middle of a UTC day. */
    boolean beginWithinUtcDay(ZoneId zone) {
        return first.atStartOfDay(zone).toInstant().getEpochSecond()
                        % Duration.ofDays(1).toSeconds()
                != 0;
    }

    /** Returns the first element of each list, then the second of each, and so on. */
    static <T> List<T> inTurns(Collection<List<T>> lists) {
        List<T> all = new ArrayList<>();
        int longest = lists.stream().mapToInt(List::size).max().orElse(0);
        for (int i = 0; i < longest; i++) {
            for (List<T> list : lists) {
                if (i < list.size()) {
                    all.add(list.get(i));
                }
            }
        }
        return all;
    }
}

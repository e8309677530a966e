package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.InvalidInputException;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Periods as users write them: {@code 30d}, {@code 12h}, {@code 15m}, {@code 90s}, or as in ISO 8601. */
final class Periods {

    private static final Pattern SHORT = Pattern.compile("(\\d{1,9})([dhms])");

    private Periods() {}

    static Duration parse(String field, String text) {
        Matcher matcher = SHORT.matcher(text.toLowerCase(Locale.ROOT));
        if (matcher.matches()) {
            long number = Long.parseLong(matcher.group(1));
            return switch (matcher.group(2)) {
                case "d" -> Duration.ofDays(number);
                case "h" -> Duration.ofHours(number);
                case "m" -> Duration.ofMinutes(number);
                default -> Duration.ofSeconds(number);
            };
        }
        try {
            return Duration.parse(text);
        } catch (DateTimeParseException e) {
            throw new InvalidInputException(field, "must be a period such as 180d, 12h or PT90M");
        }
    }
}

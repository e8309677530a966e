package io.github.keepsake4j.cli;

import io.github.keepsake4j.message.InvalidInputException;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Pattern;

/** Periods as users write them: {@code 30d}, {@code 12h}, {@code 15m}, {@code 90s}, or as in ISO 8601. */
final class Periods {

    private static final Pattern SHORT = Pattern.compile("\\d{1,9}[dhmsDHMS]");

    private Periods() {}

    static Duration parse(String field, String text) {
        String iso = SHORT.matcher(text).matches() ? (text.matches(".*[dD]") ? "P" : "PT") + text : text;
        try {
            return Duration.parse(iso);
        } catch (DateTimeParseException e) {
            throw new InvalidInputException(field, "must be a period such as 180d, 12h or PT90M");
        }
    }
}

package io.github.keepsake4j.cli;

import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes data as text for people. Characters that would control a terminal are escaped. Pure functions. */
final class Printable {

    /** Control characters, and characters that end a line or change the direction of text. */
    private static final String STEERING = "\\p{Cc}\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069";

    private static final Pattern STEERS = Pattern.compile("[" + STEERING + "]");

    private static final Pattern STEERS_EXCEPT_LINES = Pattern.compile("[" + STEERING + "&&[^\\n\\t]]");

    private Printable() {}

    /** Returns a text that is one line. */
    static String line(String text) {
        return escape(STEERS, text);
    }

    /** Returns a text whose lines are kept. */
    static String lines(String text) {
        return escape(STEERS_EXCEPT_LINES, text);
    }

    private static String escape(Pattern steers, String text) {
        return steers.matcher(text)
                .replaceAll(found -> "\\\\u%04x".formatted((int) found.group().charAt(0)));
    }

    static String time(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    static String name(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the lines that follow the name of damaged data. */
    static String damage(List<Damage> damage) {
        return damage.stream()
                .map(each -> "\n"
                        + line("  " + name(each.kind()) + (each.sequence() == null ? "" : " " + each.sequence()) + ": "
                                + each.problem()))
                .collect(Collectors.joining());
    }

    /** Returns the id of a conversation, or the canonical form of another memory. */
    static String memory(MemoryKey key) {
        return key instanceof ConversationKey conversation ? line(conversation.conversationId()) : key.canonical();
    }

    static String count(long number, String one) {
        String many = one.endsWith("y")
                ? one.substring(0, one.length() - 1) + "ies"
                : one.endsWith("ch") ? one + "es" : one + "s";
        return number(number) + " " + (number == 1 ? one : many);
    }

    static String number(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }
}

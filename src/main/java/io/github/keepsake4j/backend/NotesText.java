package io.github.keepsake4j.backend;

import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the notes of a message as short texts, which every store keeps. An outcome is its kind in lower
 * case, followed by a space and its reason. The notes of how an answer was made are words that begin with a letter:
 * {@code s1-5,7} are the messages shown, {@code c3,4} the results shortened, {@code l} means that earlier questions are without what
 * was retrieved, {@code v2} is the summary's version,
 * {@code a} means altered, {@code u10,20,0} are the tokens used, and {@code bgpt-4o,STOP} are the model's name and its
 * reason to end. A word or a kind that a newer version wrote is ignored. Pure functions.
 */
public final class NotesText {

    private NotesText() {}

    /**
     * Writes an outcome.
     *
     * @param outcome the outcome, or null
     * @return the text, or null for no outcome
     */
    public static @Nullable String of(@Nullable Outcome outcome) {
        if (outcome == null) {
            return null;
        }
        String kind = outcome.kind().name().toLowerCase(Locale.ROOT);
        return outcome.reason() == null ? kind : kind + " " + outcome.reason();
    }

    /**
     * Reads an outcome.
     *
     * @param text the text, or null
     * @return the outcome, or null if there is none or its kind is not known
     * @throws UnreadableDataException if an outcome cannot have its reason
     */
    public static @Nullable Outcome outcome(@Nullable String text) {
        if (text == null) {
            return null;
        }
        int space = text.indexOf(' ');
        Optional<Outcome.Kind> kind = Outcome.Kind.named(space < 0 ? text : text.substring(0, space));
        try {
            return kind.map(known -> new Outcome(known, space < 0 ? null : text.substring(space + 1)))
                    .orElse(null);
        } catch (InvalidInputException e) {
            throw new UnreadableDataException("an outcome cannot be read", e);
        }
    }

    /**
     * Writes the notes of how an answer was made.
     *
     * @param made the notes; their request is not written
     * @return the text, or null if nothing is known
     */
    public static @Nullable String of(Made made) {
        List<String> words = new ArrayList<>();
        Seen seen = made.seen();
        Usage usage = made.usage();
        if (seen != null) {
            words.add(word(
                    "s",
                    seen.shown(),
                    range -> range.first() == range.last()
                            ? Long.toString(range.first())
                            : range.first() + "-" + range.last()));
            if (!seen.shortened().isEmpty()) {
                words.add(word("c", seen.shortened(), String::valueOf));
            }
            if (seen.later()) {
                words.add("l");
            }
            if (seen.summary() > 0) {
                words.add("v" + seen.summary());
            }
            if (seen.altered()) {
                words.add("a");
            }
            if (!seen.memories().isEmpty()) {
                // An id may hold a comma or a space.
                words.add(word("m", seen.memories(), NotesText::encoded));
            }
        }
        if (usage != null) {
            words.add("u" + usage.input() + "," + usage.output() + "," + usage.cached());
        }
        if (made.modelName() != null || made.finishReason() != null) {
            words.add("b" + encoded(made.modelName()) + "," + encoded(made.finishReason()));
        }
        return words.isEmpty() ? null : String.join(" ", words);
    }

    /**
     * Reads the notes of how an answer was made.
     *
     * @param text the text, or null
     * @return the notes
     * @throws UnreadableDataException if this class did not write the text
     */
    public static Made made(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            return Made.NOTHING;
        }
        List<Seen.Range> shown = null;
        List<Long> shortened = List.of();
        boolean later = false;
        long summary = 0;
        boolean altered = false;
        List<String> memories = List.of();
        Usage usage = null;
        String modelName = null;
        String finishReason = null;
        try {
            for (String word : text.split(" ", -1)) {
                String rest = word.substring(1);
                switch (word.charAt(0)) {
                    case 's' -> shown = list(rest, NotesText::range);
                    case 'c' -> shortened = list(rest, Long::valueOf);
                    case 'l' -> later = true;
                    case 'v' -> summary = Long.parseLong(rest);
                    case 'a' -> altered = true;
                    case 'm' -> memories = list(rest, NotesText::decoded);
                    case 'u' -> {
                        List<Long> numbers = list(rest, Long::valueOf);
                        usage = new Usage(numbers.get(0), numbers.get(1), numbers.get(2));
                    }
                    case 'b' -> {
                        List<String> texts = list(rest, NotesText::decoded);
                        modelName = texts.get(0).isEmpty() ? null : texts.get(0);
                        finishReason = texts.get(1).isEmpty() ? null : texts.get(1);
                    }
                    default -> {
                        // A newer version wrote it.
                    }
                }
            }
            Seen seen = shown == null ? null : new Seen(shown, shortened, summary, altered, memories, later);
            return new Made(seen, usage, modelName, finishReason, null);
        } catch (RuntimeException e) {
            throw new UnreadableDataException("the notes of how an answer was made cannot be read", e);
        }
    }

    private static <T> String word(String begin, List<T> values, Function<T, String> text) {
        return values.stream().map(text).collect(Collectors.joining(",", begin, ""));
    }

    private static String encoded(@Nullable String text) {
        return text == null ? "" : URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private static Seen.Range range(String text) {
        int dash = text.indexOf('-');
        long first = Long.parseLong(dash < 0 ? text : text.substring(0, dash));
        return new Seen.Range(first, dash < 0 ? first : Long.parseLong(text.substring(dash + 1)));
    }

    private static <T> List<T> list(String text, Function<String, T> read) {
        return text.isEmpty()
                ? List.of()
                : Stream.of(text.split(",", -1)).map(read).toList();
    }
}

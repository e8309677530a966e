package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.message.UnreadableDataException;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A script's answer that is a list. */
record Reply(List<?> parts) {

    static Reply of(@Nullable Object answer) {
        if (answer instanceof List<?> list) {
            return new Reply(list);
        }
        throw new UnreadableDataException("Redis did not return a list", null);
    }

    /** The first part, which is the kind of the answer. */
    String kind() {
        return text(0);
    }

    boolean is(String kind) {
        return kind().equals(kind);
    }

    int size() {
        return parts.size();
    }

    String text(int place) {
        Object part = parts.get(place);
        if (part instanceof byte[] bytes) {
            return Text.of(bytes);
        }
        return String.valueOf(part);
    }

    /** A text. An absent text is an empty one. */
    @Nullable
    String nullableText(int place) {
        String text = text(place);
        return text.isEmpty() ? null : text;
    }

    long number(int place) {
        Object part = parts.get(place);
        if (part instanceof Long number) {
            return number;
        }
        try {
            return Long.parseLong(text(place));
        } catch (NumberFormatException e) {
            throw new UnreadableDataException("a number in Redis is invalid", e);
        }
    }

    Reply list(int place) {
        return of(parts.get(place));
    }

    List<Long> numbers() {
        return IntStream.range(0, size()).mapToObj(this::number).toList();
    }

    List<Reply> lists() {
        return parts.stream().map(Reply::of).toList();
    }
}

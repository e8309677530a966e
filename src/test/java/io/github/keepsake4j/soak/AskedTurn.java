package io.github.keepsake4j.soak;

import java.util.List;
import java.util.Locale;

/**
 * A turn of a process, as the texts of its messages tell.
 *
 * @param id of the process's start, its thread and the turn's number
 * @param after the id of the turn whose answer the model must be shown, or "-"
 */
record AskedTurn(Kind kind, String id, String after) {

    /** What an AI service does in a turn. */
    enum Kind {
        PLAIN,
        TOOLS,
        STREAMED,
        STREAMED_TOOLS;

        boolean isStreamed() {
            return this == STREAMED || this == STREAMED_TOOLS;
        }

        boolean hasTools() {
            return this == TOOLS || this == STREAMED_TOOLS;
        }
    }

    static AskedTurn of(String question) {
        String[] words = question.split(" ");
        return new AskedTurn(Kind.valueOf(words[0].toUpperCase(Locale.ROOT)), words[1], words[3]);
    }

    String question() {
        return kind.name().toLowerCase(Locale.ROOT) + " " + id + " after " + after;
    }

    String answer() {
        return answer(id);
    }

    static String answer(String id) {
        return "answer " + id;
    }

    /** Returns the result of the tool of this turn. */
    String result() {
        return "result " + id;
    }

    /** Returns the texts of its messages, in their order. */
    List<String> texts() {
        return kind.hasTools() ? List.of(question(), result(), answer()) : List.of(question(), answer());
    }
}

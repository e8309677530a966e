package io.github.keepsake4j.chat.turns;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import java.util.stream.Collectors;

/**
 * What a message of a program is and to which question it belongs, as its text or the id of its call tells. No other
 * message of the program has the same text.
 *
 * @param kind what it is
 * @param question the text of its question
 * @param by the try of the question that said it; empty for the question itself
 * @param text its own text, or the ids of its calls
 */
record Said(Kind kind, String question, String by, String text) {

    enum Kind {
        QUESTION,
        CALLS,
        RESULT,
        ANSWER
    }

    /** The first letter of a turn's name. */
    static final String TURN = "t";

    /** The first letter of a question that no turn asks. */
    static final String UNBOUND = "u";

    private static final String ANSWER = "answer to ";

    static Said of(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return new Said(Kind.QUESTION, user.singleText(), "", user.singleText());
        }
        if (message instanceof ToolExecutionResultMessage result) {
            return of(Kind.RESULT, result.id(), result.id());
        }
        AiMessage ai = (AiMessage) message;
        if (ai.hasToolExecutionRequests()) {
            String ids = ai.toolExecutionRequests().stream()
                    .map(ToolExecutionRequest::id)
                    .collect(Collectors.joining(" "));
            return of(Kind.CALLS, ai.toolExecutionRequests().get(0).id(), ids);
        }
        String[] words = ai.text().substring(ANSWER.length()).split("[ .!]");
        return new Said(Kind.ANSWER, words[0], words[1], ai.text());
    }

    private static Said of(Kind kind, String call, String text) {
        String[] parts = call.split("/");
        return new Said(kind, parts[0], parts[1], text);
    }

    static String call(String question, String by, int round, int call) {
        return question + "/" + by + "/" + round + "/" + call;
    }

    static String answer(String question, String by) {
        return ANSWER + question + " " + by;
    }

    boolean isOf(Said other) {
        return question.equals(other.question);
    }

    /** Returns whether a turn of the library said it, and nobody else. */
    boolean isByTurn() {
        return by.startsWith(TURN);
    }

    /** Returns whether it is a question, or belongs to one, that no turn of the library asked. */
    /** Returns whether this is an answer that was added by hand at the head. */
    boolean isAdded() {
        return by.startsWith(OtherTab.ADDED);
    }

    boolean isUnbound() {
        return question.startsWith(UNBOUND);
    }

    boolean is(Kind other) {
        return kind == other;
    }

    @Override
    public String toString() {
        return switch (kind) {
            case QUESTION -> text;
            case CALLS -> "C(" + text + ")";
            case RESULT -> "R(" + text + ")";
            case ANSWER -> "A(" + text.substring(ANSWER.length()) + ")";
        };
    }
}

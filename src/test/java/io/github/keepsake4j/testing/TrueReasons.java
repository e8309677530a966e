package io.github.keepsake4j.testing;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnknownMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Judges the reasons of an explanation by the branch alone, message by message. Limits are not judged. */
public final class TrueReasons {

    private static final int ALL = 1_000_000;

    private final List<LoggedMessage> branch;
    private final Map<String, Integer> places = new HashMap<>();
    private final Map<String, String> questions;
    private final Set<String> shown = new HashSet<>();
    private final List<Explanation.Line> omitted;

    private TrueReasons(Conversation conversation) {
        this.branch = conversation.branch(ALL).messages();
        for (int i = 0; i < branch.size(); i++) {
            places.put(branch.get(i).id(), i);
        }
        this.questions = RandomOutcomes.questionIds(branch);
        Explanation explanation = conversation.explain();
        explanation.shown().forEach(line -> shown.add(line.messageId()));
        this.omitted = explanation.omitted();
    }

    /** Returns the messages that are not shown for a reason that is not true, each with the reason. */
    public static List<String> untrue(Conversation conversation) {
        TrueReasons reasons = new TrueReasons(conversation);
        List<String> untrue = new ArrayList<>();
        for (Explanation.Line line : reasons.omitted) {
            Integer place = reasons.places.get(line.messageId());
            if (place == null || !reasons.isTrue(place, line.reason().name())) {
                untrue.add(line.messageId() + " " + line.type() + " is not " + line.reason());
            }
        }
        return untrue;
    }

    /** Returns the messages of the branch that are neither shown nor explained. */
    public static List<String> unexplained(Conversation conversation) {
        TrueReasons reasons = new TrueReasons(conversation);
        Set<String> known = new HashSet<>(reasons.shown);
        reasons.omitted.forEach(line -> known.add(line.messageId()));
        return reasons.branch.stream()
                .map(LoggedMessage::id)
                .filter(id -> !known.contains(id))
                .toList();
    }

    private boolean isTrue(int place, String reason) {
        LoggedMessage message = branch.get(place);
        LoggedMessage question = questionOf(place);
        return switch (reason) {
            case "FAILED" -> is(question, Outcome.Kind.FAILED) && !isAnswered(question);
            case "UNANSWERED_QUESTION" ->
                isBound(question)
                        && !isAnswered(question)
                        && !hasRound(question)
                        && followers(place(question)).anyMatch(TrueReasons::isUser);
            case "REJECTED" -> is(message, Outcome.Kind.REJECTED) || is(callOf(place), Outcome.Kind.REJECTED);
            case "NO_QUESTION" -> !isUser(message) && (question == null || !shown.contains(question.id()));
            case "ANSWERED_BEFORE" ->
                !isUser(message)
                        && branch.subList(0, place).stream()
                                .anyMatch(before -> isAnswer(before)
                                        && shown.contains(before.id())
                                        && Objects.equals(question, questionOf(place(before))));
            case "UNANSWERED_CALL" -> isUnanswered(place) || (callOf(place) != null && isUnanswered(callOf(place)));
            case "ORPHAN_RESULT" ->
                isResult(message)
                        && (callOf(place) == null
                                || !shown.contains(callOf(place).id()));
            // A round of another turn does not follow the answer.
            case "ANSWER_BEFORE_CALL" ->
                isAnswer(message)
                        && followers(place)
                                .anyMatch(later -> later.message() instanceof AiMessage ai
                                        && ai.hasToolExecutionRequests()
                                        && Objects.equals(question, questionOf(place(later))));
            case "EMPTY_TEXT" -> isBlank(message);
            case "NO_USER_MESSAGE" ->
                (message.message() instanceof AiMessage || isResult(message))
                        && branch.subList(0, place).stream()
                                .noneMatch(before -> isUser(before) && shown.contains(before.id()));
            case "OLD_SYSTEM_MESSAGE" ->
                message.message() instanceof SystemMessage
                        && followers(place).anyMatch(later -> later.message() instanceof SystemMessage);
            case "REPEATED_USER_MESSAGE" ->
                followers(place).filter(TrueReasons::isUser).anyMatch(later -> later.message()
                        .equals(message.message()));
            case "UNKNOWN_TYPE" -> message.message() instanceof UnknownMessage;
            case "UNREADABLE" -> branch.stream().anyMatch(other -> other.message() instanceof UnknownMessage);
            case "MESSAGE_LIMIT", "TOKEN_LIMIT", "TOO_FAR_BACK", "STRATEGY" -> true;
            default -> false;
        };
    }

    /** Returns the user message whose turn a message belongs to: the one that it names, or else as the judge knows it. */
    private @Nullable LoggedMessage questionOf(int place) {
        LoggedMessage message = branch.get(place);
        boolean isNamed = message.question() != null || isUser(message);
        String id =
                message.question() != null ? message.question() : isNamed ? message.id() : questions.get(message.id());
        Integer asked = id == null ? null : places.get(id);
        return asked == null ? null : branch.get(asked);
    }

    private int place(LoggedMessage message) {
        return places.get(message.id());
    }

    private Stream<LoggedMessage> followers(int place) {
        return branch.subList(place + 1, branch.size()).stream();
    }

    private Stream<LoggedMessage> turnOf(@Nullable LoggedMessage question) {
        return branch.stream().filter(message -> Objects.equals(questionOf(place(message)), question));
    }

    private boolean isAnswered(@Nullable LoggedMessage question) {
        return turnOf(question).anyMatch(TrueReasons::isAnswer);
    }

    private boolean hasRound(@Nullable LoggedMessage question) {
        return turnOf(question)
                .anyMatch(message -> message.message() instanceof AiMessage ai
                        && ai.hasToolExecutionRequests()
                        && !isUnanswered(message)
                        && !is(message, Outcome.Kind.REJECTED));
    }

    private boolean isUnanswered(LoggedMessage calls) {
        return isUnanswered(place(calls));
    }

    private boolean isUnanswered(int place) {
        LoggedMessage calls = branch.get(place);
        if (!(calls.message() instanceof AiMessage ai) || !ai.hasToolExecutionRequests()) {
            return false;
        }
        long results = branch.stream()
                .filter(message -> isResult(message) && calls.equals(callOf(place(message))))
                .filter(message -> !is(message, Outcome.Kind.REJECTED))
                .count();
        return results < ai.toolExecutionRequests().size();
    }

    /** Returns the newest calls before a result that it answers, of the same turn. */
    private @Nullable LoggedMessage callOf(int place) {
        LoggedMessage message = branch.get(place);
        if (!(message.message() instanceof ToolExecutionResultMessage result)) {
            return null;
        }
        for (int i = place - 1; i >= 0; i--) {
            LoggedMessage before = branch.get(i);
            boolean sameTurn = message.question() == null || message.question().equals(before.question());
            if (sameTurn
                    && before.message() instanceof AiMessage ai
                    && ai.toolExecutionRequests().stream().anyMatch(call -> Objects.equals(call.id(), result.id()))) {
                return before;
            }
        }
        return null;
    }

    private static boolean isBound(@Nullable LoggedMessage question) {
        return question != null && question.id().equals(question.question());
    }

    private static boolean isUser(LoggedMessage message) {
        return RandomOutcomes.isQuestion(message.message());
    }

    private static boolean isResult(LoggedMessage message) {
        return message.message() instanceof ToolExecutionResultMessage;
    }

    private static boolean isAnswer(LoggedMessage message) {
        return message.message() instanceof AiMessage ai
                && !ai.hasToolExecutionRequests()
                && !isBlank(message)
                && !is(message, Outcome.Kind.REJECTED);
    }

    private static boolean isBlank(LoggedMessage message) {
        if (message.message() instanceof AiMessage ai) {
            return !ai.hasToolExecutionRequests()
                    && (ai.text() == null || ai.text().isBlank());
        }
        return message.message() instanceof UserMessage user
                && user.contents().stream()
                        .allMatch(content -> content instanceof TextContent text
                                && text.text().isBlank());
    }

    private static boolean is(@Nullable LoggedMessage message, Outcome.Kind kind) {
        return message != null && message.outcome() != null && message.outcome().kind() == kind;
    }
}

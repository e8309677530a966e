package io.github.keepsake4j.testing;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;

/** Random outcomes of a branch's messages, and the branch that should be shown in its place, judged independently. */
public final class RandomOutcomes {

    private RandomOutcomes() {}

    /**
     * Gives some messages outcomes.
     *
     * @param branch the messages, oldest first
     * @param rejects whether the answers of a failed turn are always rejected
     * @return the same messages
     */
    public static List<LoggedMessage> on(List<LoggedMessage> branch, Random random, boolean rejects) {
        double rate = random.nextDouble();
        List<LoggedMessage> ended = new ArrayList<>();
        boolean failed = false;
        for (LoggedMessage message : branch) {
            Outcome outcome = null;
            boolean chosen = random.nextDouble() < rate;
            if (isQuestion(message)) {
                failed = chosen;
                outcome = failed ? Outcome.failed("java.lang.RuntimeException") : null;
            } else if (message.message() instanceof AiMessage ai) {
                boolean answer = !ai.hasToolExecutionRequests();
                if (answer && failed && rejects) {
                    outcome = Outcome.rejected("guard");
                } else if (chosen) {
                    outcome = switch (random.nextInt(4)) {
                        case 0 -> Outcome.rejected("guard");
                        case 1 -> Outcome.incomplete("cut");
                        default -> null;
                    };
                }
            }
            ended.add(message.withOutcome(outcome));
        }
        return ended;
    }

    /** Returns the messages without those that must not be shown, each as the parent of the next. */
    public static List<LoggedMessage> without(List<LoggedMessage> branch) {
        Map<String, LoggedMessage> questions = new HashMap<>();
        Map<String, List<ToolExecutionRequest>> waiting = new HashMap<>();
        Map<String, String> callsOf = new HashMap<>();
        LoggedMessage question = null;
        for (int i = 0; i < branch.size(); i++) {
            LoggedMessage message = branch.get(i);
            if (isQuestion(message)) {
                question = message;
            } else if (message.message() instanceof AiMessage ai) {
                questions.put(message.id(), question);
                waiting.put(message.id(), new ArrayList<>(ai.toolExecutionRequests()));
            } else if (message.message() instanceof ToolExecutionResultMessage result) {
                for (int c = i - 1; c >= 0 && !callsOf.containsKey(message.id()); c--) {
                    List<ToolExecutionRequest> calls =
                            waiting.getOrDefault(branch.get(c).id(), List.of());
                    for (ToolExecutionRequest call : List.copyOf(calls)) {
                        boolean answers = Objects.equals(call.id(), result.id())
                                && (call.id() != null || Objects.equals(call.name(), result.toolName()));
                        if (answers) {
                            calls.remove(call);
                            callsOf.put(message.id(), branch.get(c).id());
                            break;
                        }
                    }
                }
            }
        }
        Map<String, LoggedMessage> byId = new HashMap<>();
        branch.forEach(message -> byId.put(message.id(), message));
        Set<String> done = new HashSet<>();
        waiting.forEach((calls, left) -> {
            boolean called = ((AiMessage) byId.get(calls).message()).hasToolExecutionRequests();
            if (called && left.isEmpty() && !is(byId.get(calls), Outcome.Kind.REJECTED)) {
                done.add(calls);
            }
        });
        List<LoggedMessage> shown = new ArrayList<>();
        for (LoggedMessage message : branch) {
            String first = callsOf.getOrDefault(message.id(), message.id());
            boolean shows;
            if (isQuestion(message)) {
                shows = !is(message, Outcome.Kind.FAILED)
                        || done.stream().anyMatch(calls -> questions.get(calls) == message);
            } else if (questions.containsKey(first)) {
                shows = !is(byId.get(first), Outcome.Kind.REJECTED)
                        && (!is(questions.get(first), Outcome.Kind.FAILED)
                                || done.contains(first)
                                || !((AiMessage) byId.get(first).message()).hasToolExecutionRequests());
            } else {
                shows = true;
            }
            if (shows) {
                shown.add(new LoggedMessage(
                        message.id(),
                        shown.isEmpty() ? null : shown.get(shown.size() - 1).id(),
                        message.sequence(),
                        message.message(),
                        message.tokens(),
                        message.tokenCounter(),
                        message.createdAt()));
            }
        }
        return shown;
    }

    private static boolean is(LoggedMessage message, Outcome.Kind kind) {
        return message != null && message.outcome() != null && message.outcome().kind() == kind;
    }

    private static boolean isQuestion(LoggedMessage message) {
        return message.message() instanceof UserMessage user
                && !user.contents().stream()
                        .allMatch(content -> content instanceof TextContent text
                                && text.text().isBlank());
    }
}

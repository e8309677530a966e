package io.github.keepsake4j.testing;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
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
import java.util.stream.Collectors;

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
        Set<String> failed = new HashSet<>();
        String last = null;
        for (LoggedMessage message : branch) {
            Outcome outcome = null;
            boolean chosen = random.nextDouble() < rate;
            if (isQuestion(message)) {
                last = message.id();
                if (chosen) {
                    failed.add(last);
                    outcome = Outcome.failed("java.lang.RuntimeException");
                }
            } else if (message.message() instanceof AiMessage ai) {
                boolean answer = !ai.hasToolExecutionRequests();
                if (answer && rejects && failed.contains(message.question() == null ? last : message.question())) {
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

    /** Returns the messages that should be shown, each as the parent of the next, as if they had ended well. */
    public static List<LoggedMessage> shown(List<LoggedMessage> branch) {
        return without(branch).stream()
                .map(message -> message.withOutcome(null))
                .toList();
    }

    /** Returns the messages without those that must not be shown, each as the parent of the next. */
    public static List<LoggedMessage> without(List<LoggedMessage> branch) {
        Map<String, LoggedMessage> byId = new HashMap<>();
        branch.forEach(message -> byId.put(message.id(), message));
        Map<String, String> callsOf = new HashMap<>();
        Set<String> done = new HashSet<>();
        Map<String, List<ToolExecutionRequest>> waiting = calls(branch, callsOf);
        Map<String, LoggedMessage> questions = questions(branch, byId, callsOf);
        waiting.forEach((calls, left) -> {
            boolean called = ((AiMessage) byId.get(calls).message()).hasToolExecutionRequests();
            if (called && left.isEmpty() && !is(byId.get(calls), Outcome.Kind.REJECTED)) {
                done.add(calls);
            }
        });
        Set<LoggedMessage> worked =
                done.stream().map(questions::get).filter(Objects::nonNull).collect(Collectors.toSet());
        Set<LoggedMessage> answered = branch.stream()
                .filter(RandomOutcomes::isAnswer)
                .map(message -> questions.get(message.id()))
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
        Set<LoggedMessage> bad = bad(branch, worked, answered);
        List<LoggedMessage> shown = new ArrayList<>();
        for (LoggedMessage message : branch) {
            String first = callsOf.getOrDefault(message.id(), message.id());
            boolean shows;
            if (isQuestion(message)) {
                shows = !bad.contains(message) || worked.contains(message);
            } else if (byId.get(first).message() instanceof AiMessage) {
                shows = !is(byId.get(first), Outcome.Kind.REJECTED)
                        && (!bad.contains(questions.get(first)) || done.contains(first));
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
                        message.createdAt(),
                        message.outcome(),
                        message.question(),
                        message.asked()));
            }
        }
        return shown;
    }

    /**
     * Returns whether messages belong to the same questions as before others were left out. An unbound message may depend
     * on what is left out, because it belongs to the turn of the message before it. So may the results of an unbound question
     * that is asked again: they count if the question failed, but not if it was repeated.
     */
    public static boolean areSameTurns(List<LoggedMessage> branch, List<LoggedMessage> rest) {
        if (failedAndWasRepeated(branch)) {
            return false;
        }
        Map<String, String> before = questionIds(branch);
        return questionIds(rest).entrySet().stream()
                .allMatch(entry -> Objects.equals(entry.getValue(), before.get(entry.getKey())));
    }

    /** Returns whether an unbound question is asked again, and the question, or one in between, failed. */
    private static boolean failedAndWasRepeated(List<LoggedMessage> branch) {
        List<LoggedMessage> unbound = branch.stream()
                .filter(message -> isQuestion(message) && message.question() == null)
                .toList();
        Map<ChatMessage, Integer> asked = new HashMap<>();
        for (int i = 0; i < unbound.size(); i++) {
            Integer before = asked.put(unbound.get(i).message(), i);
            if (before != null
                    && unbound.subList(before, i + 1).stream()
                            .anyMatch(question -> is(question, Outcome.Kind.FAILED))) {
                return true;
            }
        }
        return false;
    }

    /** Returns the ids of the questions to which messages belong, by the messages' ids. */
    public static Map<String, String> questionIds(List<LoggedMessage> branch) {
        Map<String, LoggedMessage> byId = new HashMap<>();
        branch.forEach(message -> byId.put(message.id(), message));
        Map<String, String> callsOf = new HashMap<>();
        calls(branch, callsOf);
        Map<String, String> ids = new HashMap<>();
        questions(branch, byId, callsOf)
                .forEach((id, question) -> ids.put(id, question == null ? null : question.id()));
        return ids;
    }

    /**
     * Returns the question of each message. An unbound message belongs to the newest unbound question if that has no answer,
     * or else to the question of the message before it.
     */
    private static Map<String, LoggedMessage> questions(
            List<LoggedMessage> branch, Map<String, LoggedMessage> byId, Map<String, String> callsOf) {
        Map<String, LoggedMessage> questions = new HashMap<>();
        Map<String, LoggedMessage> bound = new HashMap<>();
        LoggedMessage unbound = null;
        LoggedMessage before = null;
        boolean waits = false;
        for (LoggedMessage message : branch) {
            LoggedMessage question;
            boolean isRejected = is(byId.get(callsOf.getOrDefault(message.id(), message.id())), Outcome.Kind.REJECTED);
            if (isQuestion(message)) {
                question = message;
                // What follows a further user message of a turn belongs to that message.
                bound.put(message.question() == null ? message.id() : message.question(), message);
                unbound = message.question() == null ? message : unbound;
                waits |= message.question() == null;
            } else if (message.question() != null) {
                question = bound.get(message.question());
            } else if (callsOf.containsKey(message.id())) {
                question = questions.get(callsOf.get(message.id()));
            } else {
                question = waits ? unbound : before;
            }
            questions.put(message.id(), question);
            if (message.message() instanceof AiMessage || callsOf.containsKey(message.id()) || isQuestion(message)) {
                before = isRejected ? before : question;
            }
            waits &= !(isAnswer(message) && question == unbound);
        }
        return questions;
    }

    /** Returns the questions that failed, and those of bound turns without an answer that another question follows. */
    private static Set<LoggedMessage> bad(
            List<LoggedMessage> branch, Set<LoggedMessage> worked, Set<LoggedMessage> answered) {
        Set<LoggedMessage> bad = new HashSet<>();
        LoggedMessage next = null;
        for (int i = branch.size() - 1; i >= 0; i--) {
            LoggedMessage question = branch.get(i);
            if (!isQuestion(question)) {
                continue;
            }
            boolean isDone = worked.contains(question) || answered.contains(question);
            boolean isBound = question.id().equals(question.question());
            boolean goesOn = next == null || question.id().equals(next.question());
            if (is(question, Outcome.Kind.FAILED) ? !answered.contains(question) : isBound && !isDone && !goesOn) {
                bad.add(question);
            }
            next = !bad.contains(question) || worked.contains(question) ? question : next;
        }
        return bad;
    }

    /** Returns the calls that wait, by the ids of their messages, and adds to which of these each result belongs. */
    private static Map<String, List<ToolExecutionRequest>> calls(
            List<LoggedMessage> branch, Map<String, String> callsOf) {
        Map<String, List<ToolExecutionRequest>> waiting = new HashMap<>();
        for (int i = 0; i < branch.size(); i++) {
            LoggedMessage message = branch.get(i);
            if (message.message() instanceof AiMessage ai) {
                waiting.put(message.id(), new ArrayList<>(ai.toolExecutionRequests()));
            } else if (message.message() instanceof ToolExecutionResultMessage result) {
                for (int c = i - 1; c >= 0 && !callsOf.containsKey(message.id()); c--) {
                    LoggedMessage asked = branch.get(c);
                    boolean isOther = asked.question() != null
                            && message.question() != null
                            && !asked.question().equals(message.question());
                    List<ToolExecutionRequest> calls = waiting.getOrDefault(asked.id(), List.of());
                    for (ToolExecutionRequest call : isOther ? List.<ToolExecutionRequest>of() : List.copyOf(calls)) {
                        boolean answers = Objects.equals(call.id(), result.id())
                                && (call.id() != null || Objects.equals(call.name(), result.toolName()));
                        if (answers) {
                            calls.remove(call);
                            callsOf.put(message.id(), asked.id());
                            break;
                        }
                    }
                }
            }
        }
        return waiting;
    }

    /** Returns whether this answers its question, as far as a reader can see. */
    private static boolean isAnswer(LoggedMessage message) {
        return message.message() instanceof AiMessage ai
                && !ai.hasToolExecutionRequests()
                && !is(message, Outcome.Kind.REJECTED)
                && ((ai.text() != null && !ai.text().isBlank()) || !ai.images().isEmpty());
    }

    private static boolean is(LoggedMessage message, Outcome.Kind kind) {
        return message != null && message.outcome() != null && message.outcome().kind() == kind;
    }

    private static boolean isQuestion(LoggedMessage message) {
        return isQuestion(message.message());
    }

    static boolean isQuestion(ChatMessage message) {
        return message instanceof UserMessage user
                && !user.contents().stream()
                        .allMatch(content -> content instanceof TextContent text
                                && text.text().isBlank());
    }
}

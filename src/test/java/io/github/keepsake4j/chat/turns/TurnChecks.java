package io.github.keepsake4j.chat.turns;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.chat.Explanation;
import io.github.keepsake4j.chat.turns.Said.Kind;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.ProviderRules;
import io.github.keepsake4j.turn.Turn;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * What must hold for the turns of a conversation, whoever else used it meanwhile. Each check returns what is wrong, or an
 * empty list. The checks know from the texts which answer belongs to which question. They share nothing with the
 * library but the parents and the sequences that a log returns.
 */
final class TurnChecks {

    private TurnChecks() {}

    /**
     * Makes all checks of a conversation in which nothing happens any more.
     *
     * @param acknowledged the texts that must be stored
     * @param limited whether a small window cuts
     * @param listed whether a list of messages was set or cleared
     */
    static List<String> all(
            Conversation conversation, Story story, Collection<String> acknowledged, boolean limited, boolean listed) {
        List<String> wrong = new ArrayList<>(keptOnce(story, acknowledged));
        wrong.addAll(underTheirQuestions(story));
        wrong.addAll(whole(said(conversation.messages()), listed));
        if (!limited) {
            wrong.addAll(explained(conversation.explain(), story, listed));
            wrong.addAll(
                    listed ? List.of() : inOrderOfEnds(conversation.context().logged(), story));
        }
        return wrong;
    }

    static List<Said> said(List<ChatMessage> messages) {
        return messages.stream().map(Said::of).toList();
    }

    /**
     * Each round and each answer stands in its own question's turn, and a question has one answer. Lists that were set
     * may hold unbound messages in any order, and an answer that was added by hand without its question.
     */
    static List<String> whole(List<Said> all, boolean listed) {
        List<Said> shown = all.stream()
                .filter(each -> !listed || !(each.isUnbound() || each.isAdded()))
                .toList();
        List<String> wrong = new ArrayList<>();
        Set<String> questions = new HashSet<>();
        Said asked = null;
        boolean answered = false;
        for (Said each : shown) {
            if (each.is(Kind.QUESTION)) {
                asked = each;
                answered = false;
                if (!questions.add(each.text())) {
                    wrong.add(each + " is shown twice in " + shown);
                }
                continue;
            }
            if (asked == null || !each.isOf(asked)) {
                wrong.add(each + " stands in the turn of " + asked + " in " + shown);
            } else if (answered) {
                wrong.add(each + " is shown behind an answer to its question in " + shown);
            }
            answered |= each.is(Kind.ANSWER);
        }
        return wrong;
    }

    /** Turns with one answer are shown in the order in which they ended. Lists that were set have an order of their own. */
    static List<String> inOrderOfEnds(List<LoggedMessage> shown, Story story) {
        List<String> wrong = new ArrayList<>();
        LoggedMessage before = null;
        for (LoggedMessage message : shown) {
            Said answer = story.said(message);
            if (answer.is(Kind.ANSWER) && story.isBound(answer.question()) && story.isEndOf(message)) {
                if (before != null && before.sequence() > message.sequence()) {
                    wrong.add(answer + " ended before " + story.said(before) + " and is shown behind it");
                }
                before = message;
            }
        }
        return wrong;
    }

    /** The stored question of each message is its own, and an ancestor of it. What was placed under one has one. */
    static List<String> underTheirQuestions(Story story) {
        List<String> wrong = new ArrayList<>();
        for (LoggedMessage message : story.history) {
            if (message.question() == null) {
                if (story.said(message).by().startsWith(OtherTab.PLACED)) {
                    wrong.add(story.said(message) + " was placed under its question and is stored without it");
                }
                continue;
            }
            LoggedMessage question = story.get(message.question());
            if (question == null || !story.said(question).isOf(story.said(message))) {
                wrong.add(story.said(message) + " is stored as a message of another question");
            } else if (!story.isBefore(question, message)) {
                wrong.add(story.said(message) + " is not on a branch of its question");
            }
        }
        return wrong;
    }

    /**
     * What a turn has written in one step is under the head, which moved with it, if the turn's last message is on the
     * branch and nothing else has answered the question behind it; else it is under that message, and the head is where
     * it was.
     */
    static List<String> inPlace(Story before, Story after, ScriptedTurn turn) {
        List<LoggedMessage> own = own(after, turn);
        List<LoggedMessage> added =
                own.stream().filter(message -> before.get(message.id()) == null).toList();
        List<LoggedMessage> earlier =
                own.stream().filter(message -> before.get(message.id()) != null).toList();
        if (added.isEmpty() || earlier.isEmpty()) {
            return List.of();
        }
        LoggedMessage last = before.get(earlier.get(earlier.size() - 1).id());
        List<LoggedMessage> answers = before.answers(turn.question).stream()
                .filter(answer -> answer.sequence() > last.sequence())
                .toList();
        if (before.isOnBranch(last)
                && !answers.isEmpty()
                && answers.stream().noneMatch(answer -> before.said(answer).isByTurn())) {
            // It was answered by hand, and not by another turn. Either place is right.
            return List.of();
        }
        boolean underHead = before.isOnBranch(last) && answers.isEmpty();
        String parent = underHead ? before.head : last.id();
        String head = underHead ? added.get(added.size() - 1).id() : before.head;
        List<String> wrong = new ArrayList<>();
        for (int i = 0; i < added.size(); i++) {
            LoggedMessage message = added.get(i);
            // What a guardrail made of an answer is a sibling of it, or behind it.
            boolean isBehind = i > 0 && added.get(i - 1).id().equals(message.parentId());
            if (!isBehind && !Objects.equals(message.parentId(), parent)) {
                wrong.add(after.said(message) + " is not under " + before.said(before.get(parent)));
            }
            if (!after.said(message).is(Kind.ANSWER)) {
                parent = message.id();
            }
        }
        if (!Objects.equals(after.head, head)) {
            wrong.add("the head is not " + after.said(after.get(head)) + " behind " + turn);
        }
        return wrong;
    }

    private static List<LoggedMessage> own(Story story, ScriptedTurn turn) {
        return story.history.stream()
                .filter(message -> {
                    Said said = story.said(message);
                    return said.question().equals(turn.question)
                            && (said.is(Kind.QUESTION) || said.by().equals(turn.by));
                })
                .toList();
    }

    /** Each tool ran once for each call. */
    static List<String> ranOnce(ScriptedTurn turn) {
        return turn.ran.equals(turn.asked())
                ? List.of()
                : List.of(turn + " asked for " + turn.asked() + " and ran " + turn.ran);
    }

    /**
     * Each request is valid and shows whole turns; it ends with the turn's own question and rounds; and, without a limit,
     * all later ones are the first one and the turn's own rounds.
     */
    static List<String> requests(ScriptedTurn turn, boolean limited, boolean listed) {
        List<String> wrong = new ArrayList<>();
        List<Said> first = List.of();
        for (int i = 0; i < turn.requests.size(); i++) {
            String name = "request " + i + " of " + turn + ": ";
            List<Said> request = said(turn.requests.get(i));
            ProviderRules.request(turn.requests.get(i))
                    .forEach(violation -> wrong.add(name + violation + " in " + request));
            whole(request, listed).forEach(each -> wrong.add(name + each));
            if (!listed) {
                unanswered(request).forEach(each -> wrong.add(name + each + " has no answer in " + request));
            }
            int asked = lastQuestion(request);
            if (asked < 0 || !request.get(asked).text().equals(turn.question)) {
                wrong.add(name + "its own question is not the last one in " + request);
            }
            if (i == 0) {
                first = request;
                boolean begins = asked == request.size() - 1 || turn.isAgain();
                if (!begins
                        || request.subList(asked + 1, request.size()).stream().anyMatch(said -> said.is(Kind.ANSWER))) {
                    wrong.add(name + "more than its question is at the end of " + request);
                }
                continue;
            }
            int calls = 1 + turn.plan.calls();
            List<Said> expected = new ArrayList<>(first);
            expected.addAll(turn.rounds.subList(0, Math.min(turn.rounds.size(), i * calls)));
            if (limited) {
                List<Said> round = expected.subList(Math.max(0, expected.size() - calls), expected.size());
                if (!request.subList(Math.max(0, request.size() - calls), request.size())
                        .equals(round)) {
                    wrong.add(name + "its last round is not at the end of " + request);
                }
            } else if (!request.equals(expected)) {
                wrong.add(name + "is " + request + " and not " + expected);
            }
        }
        return wrong;
    }

    /** Returns the questions of turns that another one follows directly. */
    private static List<Said> unanswered(List<Said> request) {
        List<Said> followed = new ArrayList<>();
        for (int i = 1; i < request.size(); i++) {
            Said before = request.get(i - 1);
            if (before.is(Kind.QUESTION)
                    && !before.isUnbound()
                    && request.get(i).is(Kind.QUESTION)) {
                followed.add(before);
            }
        }
        return followed;
    }

    private static int lastQuestion(List<Said> request) {
        int last = request.size() - 1;
        while (last >= 0 && !request.get(last).is(Kind.QUESTION)) {
            last--;
        }
        return last;
    }

    /** A question that is asked again is shown with what was before it on its branch, and with its whole rounds. */
    static List<String> again(ScriptedTurn turn, Story before, boolean listed) {
        if (turn.requests.isEmpty()) {
            return List.of();
        }
        List<String> wrong = new ArrayList<>();
        List<Said> request = said(turn.requests.get(0));
        LoggedMessage question = before.question(turn.question);
        int asked = lastQuestion(request);
        for (Said each : request.subList(0, Math.max(0, asked))) {
            LoggedMessage message = before.find(each);
            // A list that was set may show any message.
            if (message == null || !(listed || before.isBefore(message, question))) {
                wrong.add(each + " was not before " + turn.question + " in " + request);
            }
        }
        if (turn.begin.kind() == Turn.Kind.RETRY
                && !listed
                && before.isOnBranch(question)
                && before.answers(turn.question).isEmpty()) {
            for (LoggedMessage calls : before.wholeRounds(turn.question)) {
                if (!request.contains(before.said(calls))) {
                    wrong.add(before.said(calls) + " was paid and is not in " + request);
                }
            }
        }
        return wrong;
    }

    /** Each acknowledged text is in the history, and no text is there twice. */
    static List<String> keptOnce(Story story, Collection<String> acknowledged) {
        Map<String, Integer> counts = new HashMap<>();
        story.history.forEach(message -> counts.merge(
                story.said(message).kind() == Kind.RESULT
                        ? "result " + story.said(message).text()
                        : story.said(message).text(),
                1,
                Integer::sum));
        List<String> wrong = new ArrayList<>();
        counts.forEach((text, count) -> {
            if (count > 1) {
                wrong.add(text + " is stored " + count + " times");
            }
        });
        acknowledged.stream()
                .filter(text -> !counts.containsKey(text) && !counts.containsKey("result " + text))
                .forEach(text -> wrong.add(text + " is lost"));
        return wrong;
    }

    /** What was shown is in the request that follows, in the same order, or an explanation gives a true reason. */
    static List<String> nothingDisappears(
            Context before, ScriptedTurn next, Explanation explanation, Story story, boolean listed) {
        List<Said> request = said(next.requests.get(0));
        List<Said> expected = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        Map<String, String> reasons = new HashMap<>();
        explanation
                .omitted()
                .forEach(line -> reasons.put(line.messageId(), line.reason().name()));
        for (LoggedMessage message : before.logged()) {
            Said each = Said.of(message.message());
            String reason = reasons.get(message.id());
            if (request.contains(each)) {
                expected.add(each);
            } else if (reason == null) {
                wrong.add(each + " was shown, and is not in " + request + " without a reason");
            } else if (!isTrue(reason, message, explanation, story, listed)) {
                wrong.add(each + " was shown, and is not in " + request + " for the untrue reason " + reason);
            }
        }
        expected.add(new Said(Kind.QUESTION, next.question, "", next.question));
        if (!request.equals(expected)) {
            wrong.add(request + " is not what was shown: " + expected);
        }
        return wrong;
    }

    /**
     * Each message of the branch is shown, or not shown for a true reason. A question of a turn without an answer and
     * without rounds is not shown with a newer one. A list that was set leaves out others.
     */
    static List<String> explained(Explanation explanation, Story story, boolean listed) {
        List<String> wrong = new ArrayList<>();
        Set<String> told = new HashSet<>();
        List<LoggedMessage> shown = explanation.shown().stream()
                .map(line -> story.get(line.messageId()))
                .toList();
        for (LoggedMessage message : shown) {
            told.add(message.id());
            boolean isFollowed = shown.stream()
                    .anyMatch(other -> story.said(other).is(Kind.QUESTION) && other.sequence() > message.sequence());
            if (!listed && isFollowed && isUnanswered(message, story)) {
                wrong.add(story.said(message) + " has no answer and is shown");
            }
        }
        explanation.omitted().forEach(line -> {
            told.add(line.messageId());
            LoggedMessage message = story.get(line.messageId());
            if (!isTrue(line.reason().name(), message, explanation, story, listed)) {
                wrong.add(story.said(message) + " is not shown for the untrue reason " + line.reason());
            }
        });
        story.branch.stream()
                .filter(message -> !listed && !told.contains(message.id()))
                .forEach(message -> wrong.add(story.said(message) + " is neither shown nor explained"));
        return wrong;
    }

    private static boolean isUnanswered(LoggedMessage message, Story story) {
        Said said = story.said(message);
        return said.is(Kind.QUESTION)
                && story.isBound(said.text())
                && story.answers(said.text()).isEmpty()
                && story.wholeRounds(said.text()).isEmpty();
    }

    /** Whether a reason is true. A list that was set may lack any message, so less is known behind one. */
    private static boolean isTrue(
            String reason, LoggedMessage message, Explanation explanation, Story story, boolean listed) {
        Set<String> shown = new HashSet<>();
        explanation.shown().forEach(line -> shown.add(line.messageId()));
        Said said = story.said(message);
        LoggedMessage question = story.question(said.question());
        boolean isBound = story.isBound(said.question());
        List<LoggedMessage> answers = story.answers(said.question());
        boolean isAnswered = !listed && !answers.isEmpty();
        boolean hasRounds = !listed
                && (said.is(Kind.QUESTION)
                        ? !story.wholeRounds(said.question()).isEmpty()
                        : story.isInWholeRound(message));
        return switch (reason) {
            case "FAILED" ->
                question.outcome() != null
                        && question.outcome().kind() == Outcome.Kind.FAILED
                        && !isAnswered
                        && !hasRounds;
            // In a list that was set, any other question may follow it.
            case "UNANSWERED_QUESTION" ->
                isBound
                        && !isAnswered
                        && !hasRounds
                        && (listed
                                ? story.all(Kind.QUESTION)
                                        .anyMatch(other -> other != question && shown.contains(other.id()))
                                : story.isFollowed(question));
            case "NO_QUESTION" ->
                !said.is(Kind.QUESTION) && !shown.contains(question.id()) && (listed || !story.isOnBranch(question));
            case "ANSWERED_BEFORE" ->
                !said.is(Kind.QUESTION)
                        && story.all(Kind.ANSWER)
                                .filter(answer -> story.said(answer).question().equals(said.question()))
                                .anyMatch(answer -> shown.contains(answer.id())
                                        && !story.said(answer).by().equals(said.by())
                                        && (!said.is(Kind.ANSWER) || answer.sequence() < message.sequence()));
            case "ANSWER_BEFORE_CALL" ->
                said.is(Kind.ANSWER)
                        && story.all(Kind.CALLS)
                                .anyMatch(calls -> (listed
                                                ? shown.contains(calls.id())
                                                : calls.sequence() > message.sequence() && story.isInWholeRound(calls))
                                        && story.said(calls).question().equals(said.question()));
            case "REJECTED" -> Story.isRejected(message);
            case "UNANSWERED_CALL" ->
                (said.is(Kind.CALLS) || said.is(Kind.RESULT)) && (listed || !story.isInWholeRound(message));
            case "ORPHAN_RESULT" ->
                said.is(Kind.RESULT)
                        && story.all(Kind.CALLS)
                                .filter(calls -> List.of(
                                                story.said(calls).text().split(" "))
                                        .contains(said.text()))
                                .noneMatch(calls -> shown.contains(calls.id()));
            case "NO_USER_MESSAGE" -> !said.is(Kind.QUESTION) && listed && !shown.contains(question.id());
            default -> false;
        };
    }
}

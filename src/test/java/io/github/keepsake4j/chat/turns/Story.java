package io.github.keepsake4j.chat.turns;

import io.github.keepsake4j.chat.turns.Said.Kind;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.testing.Logs;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The whole history of a conversation and one branch of it, as a test reads it: parents, the order of arrival, and what
 * the texts say. It uses nothing with which the library divides a branch into turns.
 */
final class Story {

    private static final int MOST = 1000;

    final List<LoggedMessage> history;
    final String head;

    /** The messages from the beginning to the head. */
    final List<LoggedMessage> branch = new ArrayList<>();

    private final Map<String, LoggedMessage> byId = new HashMap<>();
    private final Map<String, Said> said = new HashMap<>();

    Story(List<LoggedMessage> history, String head) {
        this.history = history;
        this.head = head;
        history.forEach(message -> {
            byId.put(message.id(), message);
            said.put(message.id(), Said.of(message.message()));
        });
        branch.addAll(pathTo(head));
    }

    /** Reads a memory. */
    static Story of(MessageLog log, MemoryKey key, String branch) {
        List<LoggedMessage> history = log.history(key, HistoryQuery.oldest(MOST)).messages().stream()
                .filter(message -> !RaisedRevisions.isMark(message))
                .toList();
        String head = branch == null ? null : Logs.branchEnd(log, key, branch).orElse(null);
        return new Story(history, head == null ? Reads.position(log, key).head() : head);
    }

    private List<LoggedMessage> pathTo(String id) {
        List<LoggedMessage> path = new ArrayList<>();
        for (LoggedMessage at = byId.get(id); at != null; at = byId.get(at.parentId())) {
            path.add(at);
        }
        Collections.reverse(path);
        return path;
    }

    LoggedMessage get(String id) {
        return byId.get(id);
    }

    Said said(LoggedMessage message) {
        return said.get(message.id());
    }

    boolean isOnBranch(LoggedMessage message) {
        return branch.contains(message);
    }

    /** Returns whether a message is an ancestor of another one, or the same. */
    boolean isBefore(LoggedMessage ancestor, LoggedMessage message) {
        return pathTo(message.id()).contains(ancestor);
    }

    Stream<LoggedMessage> all(Kind kind) {
        return history.stream().filter(message -> said(message).is(kind));
    }

    /** Returns the message that asked, or null if there is none. */
    LoggedMessage question(String text) {
        return all(Kind.QUESTION)
                .filter(message -> said(message).text().equals(text))
                .findFirst()
                .orElse(null);
    }

    /** Returns whether a turn of the library asked it. */
    boolean isBound(String text) {
        LoggedMessage question = question(text);
        return question != null && question.question() != null;
    }

    /** Returns the message with a text, or with these calls. */
    LoggedMessage find(Said wanted) {
        return history.stream()
                .filter(message ->
                        said(message).is(wanted.kind()) && said(message).text().equals(wanted.text()))
                .findFirst()
                .orElse(null);
    }

    static boolean isRejected(LoggedMessage message) {
        return message.outcome() != null && message.outcome().kind() == Outcome.Kind.REJECTED;
    }

    /** Returns the answers to a question on the branch that were not rejected, oldest first. */
    List<LoggedMessage> answers(String question) {
        return branch.stream()
                .filter(message -> said(message).is(Kind.ANSWER)
                        && said(message).question().equals(question)
                        && !isRejected(message))
                .toList();
    }

    /** Returns whether an answer is the only one to its question, and nothing of its turn follows. */
    boolean isEndOf(LoggedMessage answer) {
        String question = said(answer).question();
        return answers(question).size() == 1
                && branch.stream()
                        .noneMatch(message ->
                                said(message).question().equals(question) && message.sequence() > answer.sequence());
    }

    /** Returns whether a question that no turn asked has no answer on the branch. */
    boolean hasWaiting() {
        return branch.stream()
                .map(this::said)
                .anyMatch(part -> part.is(Kind.QUESTION)
                        && part.isUnbound()
                        && answers(part.text()).isEmpty());
    }

    /** Returns the calls of a question that have all their results on the branch behind them, oldest first. */
    List<LoggedMessage> wholeRounds(String question) {
        Set<String> results = new HashSet<>();
        branch.stream().map(this::said).filter(part -> part.is(Kind.RESULT)).forEach(part -> results.add(part.text()));
        return branch.stream()
                .filter(message -> said(message).is(Kind.CALLS)
                        && said(message).question().equals(question)
                        && results.containsAll(List.of(said(message).text().split(" "))))
                .toList();
    }

    /** Returns whether a message belongs to a round that has all its results. */
    boolean isInWholeRound(LoggedMessage message) {
        Said part = said(message);
        return wholeRounds(part.question()).stream()
                .anyMatch(
                        calls -> List.of(said(calls).text().split(" ")).contains(part.text()) || calls.equals(message));
    }

    /** Returns whether a further question follows on the branch. */
    boolean isFollowed(LoggedMessage question) {
        return branch.stream()
                .anyMatch(message -> said(message).is(Kind.QUESTION) && message.sequence() > question.sequence());
    }

    /** Returns the messages without children, oldest first. */
    List<LoggedMessage> leaves() {
        Set<String> parents = new HashSet<>();
        history.forEach(message -> parents.add(message.parentId()));
        return history.stream()
                .filter(message -> !parents.contains(message.id()))
                .toList();
    }

    /** Returns a description of the history for a failure's message. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        history.forEach(message -> text.append(message.sequence())
                .append(' ')
                .append(said(message))
                .append(message.question() == null ? " unbound" : "")
                .append(message.outcome() == null ? "" : " " + message.outcome().kind())
                .append(
                        message.parentId() == null
                                ? ""
                                : " under " + byId.get(message.parentId()).sequence())
                .append(message.id().equals(head) ? " HEAD" : "")
                .append(System.lineSeparator()));
        return text.toString();
    }
}

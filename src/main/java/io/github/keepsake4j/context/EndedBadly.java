package io.github.keepsake4j.context;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The messages that are left out because they, or their turns, ended badly. They are left out before any limit
 * decides, so that they take no space: the other messages are shown as if these did not exist.
 *
 * <p>A turn whose user message failed is left out, except for its complete tool rounds. If it has any, its user
 * message stays too. Otherwise a retry would repeat the work of the tools. A rejected answer is left out in any turn.
 * An answer that is not rejected stays.
 *
 * <p>A question of a bound turn that has neither an answer nor a complete tool round is left out as soon as another
 * user message follows, whether its turn still runs or its process was killed. Messages of bound turns name their
 * question. Other messages belong to the user message before them, and their user messages are never left out because
 * of a missing answer.
 *
 * @param hidden the messages that are left out, each with the reason
 */
record EndedBadly(List<Omission> hidden) {

    private static final EndedBadly NOTHING = new EndedBadly(List.of());

    /** Copies the list. */
    EndedBadly {
        hidden = List.copyOf(hidden);
    }

    /**
     * Finds the messages that are left out.
     *
     * @param messages the messages that were read, oldest first
     * @param user the newest user message, which may be older than the messages, or null
     * @return the messages that are left out
     */
    static EndedBadly of(List<LoggedMessage> messages, @Nullable LoggedMessage user) {
        LoggedMessage earlier = isAmong(messages, user) ? null : user;
        boolean bad = isFailed(earlier)
                || messages.stream()
                        .anyMatch(message ->
                                message.outcome() != null && message.outcome().kind() != Kind.INCOMPLETE);
        if (!bad && !isQuestion(earlier) && messages.stream().noneMatch(EndedBadly::isQuestion)) {
            return NOTHING;
        }
        Reader reader = new Reader(earlier);
        messages.forEach(reader::add);
        return new EndedBadly(reader.hidden());
    }

    /**
     * Returns the newest question if it would be left out as unanswered once another user message follows.
     *
     * @param messages the messages that were read, oldest first
     * @return the question, or empty if the newest user message has an answer, has failed, or does not belong to a
     * bound turn
     */
    static Optional<LoggedMessage> unansweredAtEnd(List<LoggedMessage> messages) {
        for (int i = messages.size() - 1; i >= 0; i--) {
            LoggedMessage message = messages.get(i);
            if (isUser(message)) {
                if (!isQuestion(message) || isFailed(message)) {
                    return Optional.empty();
                }
                Reader reader = new Reader(null);
                messages.forEach(reader::add);
                return Optional.of(message)
                        .filter(question ->
                                reader.spans.get(reader.spans.size() - 1).isUnanswered());
            }
        }
        return Optional.empty();
    }

    /** Returns the ids of the messages that are left out. */
    Set<String> ids() {
        return hidden.stream().map(omission -> omission.message().id()).collect(Collectors.toSet());
    }

    /** Returns some messages without the hidden ones. */
    List<LoggedMessage> without(List<LoggedMessage> messages) {
        Set<String> ids = ids();
        return messages.stream().filter(message -> !ids.contains(message.id())).toList();
    }

    /** Searches the newest messages first, because the newest turn's user message is usually among them. */
    static boolean isAmong(List<LoggedMessage> messages, @Nullable LoggedMessage user) {
        if (user == null) {
            return false;
        }
        int at = messages.size() - 1;
        while (at >= 0 && !messages.get(at).id().equals(user.id())) {
            at--;
        }
        return at >= 0;
    }

    static boolean isUser(LoggedMessage message) {
        return message.message() instanceof UserMessage user && ContextTurn.begins(user);
    }

    /** Returns whether a message is the question of a bound turn. */
    private static boolean isQuestion(@Nullable LoggedMessage message) {
        return message != null && message.id().equals(message.question()) && isUser(message);
    }

    private static boolean isFailed(@Nullable LoggedMessage user) {
        return user != null && user.outcome() != null && user.outcome().kind() == Kind.FAILED && isUser(user);
    }

    private static boolean isRejected(LoggedMessage message) {
        return message.outcome() != null && message.outcome().kind() == Kind.REJECTED;
    }

    private static boolean isDone(OpenRound round) {
        return !round.isAnswer() && round.waiting.isEmpty() && !isRejected(round.messages.get(0));
    }

    /** A user message, or null if it was not read, and the messages that belong to it. */
    private record Span(@Nullable LoggedMessage user, List<OpenRound> rounds) {

        /** Returns whether this is a bound turn that has neither an answer nor a complete round. */
        boolean isUnanswered() {
            return isQuestion(user) && !hasCompleteRound() && !hasOwnAnswer();
        }

        boolean hasCompleteRound() {
            for (OpenRound round : rounds) {
                if (isDone(round)) {
                    return true;
                }
            }
            return false;
        }

        /** Returns whether the turn's own answer exists, which is known for bound turns. */
        boolean hasOwnAnswer() {
            for (OpenRound round : rounds) {
                LoggedMessage first = round.messages.get(0);
                if (first.question() != null && round.isAnswer() && round.isShown() && !isRejected(first)) {
                    return true;
                }
            }
            return false;
        }
    }

    private static final class Reader {
        private final List<Span> spans = new ArrayList<>();
        private final Map<String, Span> byQuestion = new HashMap<>();

        /** The messages of questions that were not read. */
        private final Span unread = new Span(null, new ArrayList<>());

        private final Deque<OpenRound> newestFirst = new ArrayDeque<>();

        /** The results that were replaced by others. */
        private final List<LoggedMessage> replaced = new ArrayList<>();

        Reader(@Nullable LoggedMessage earlier) {
            begin(earlier);
        }

        private void begin(@Nullable LoggedMessage user) {
            Span span = new Span(user, new ArrayList<>());
            spans.add(span);
            if (user != null) {
                byQuestion.put(user.id(), span);
            }
        }

        Stream<Span> all() {
            return Stream.concat(spans.stream(), Stream.of(unread));
        }

        private Span spanOf(LoggedMessage message) {
            String question = message.question();
            return question == null ? spans.get(spans.size() - 1) : byQuestion.getOrDefault(question, unread);
        }

        void add(LoggedMessage logged) {
            if (isUser(logged)) {
                begin(logged);
            } else if (logged.message() instanceof AiMessage) {
                OpenRound round = new OpenRound(logged);
                spanOf(logged).rounds.add(round);
                newestFirst.push(round);
            } else if (logged.message() instanceof ToolExecutionResultMessage && isRejected(logged)) {
                replaced.add(logged);
            } else if (logged.message() instanceof ToolExecutionResultMessage result) {
                // A result belongs to the newest calls that wait for it, even in an older turn.
                for (OpenRound round : newestFirst) {
                    if (round.takes(logged, result)) {
                        break;
                    }
                }
            }
        }

        List<Omission> hidden() {
            List<Omission> hidden = new ArrayList<>();
            replaced.forEach(message -> hidden.add(new Omission(message, Reason.REJECTED)));
            Set<Span> unanswered = unanswered();
            for (Span span : all().toList()) {
                Reason reason = unanswered.contains(span)
                        ? Reason.UNANSWERED_QUESTION
                        : isFailed(span.user) && !span.hasOwnAnswer() ? Reason.FAILED : null;
                if (span.user != null && reason != null && !span.hasCompleteRound()) {
                    hidden.add(new Omission(span.user, reason));
                }
                for (OpenRound round : span.rounds) {
                    if (isRejected(round.messages.get(0))) {
                        round.messages.forEach(message -> hidden.add(new Omission(message, Reason.REJECTED)));
                    } else if (reason != null && !round.isAnswer() && !isDone(round)) {
                        round.messages.forEach(message -> hidden.add(new Omission(message, reason)));
                    }
                }
            }
            return hidden;
        }

        /** Returns the questions that another user message follows, and that have neither an answer nor a complete round. */
        private Set<Span> unanswered() {
            Set<Span> unanswered = Collections.newSetFromMap(new IdentityHashMap<>());
            LoggedMessage next = null;
            for (int s = spans.size() - 1; s >= 0; s--) {
                Span span = spans.get(s);
                LoggedMessage user = span.user;
                if (user == null) {
                    continue;
                }
                if (span.isUnanswered()
                        && !isFailed(user)
                        && next != null
                        && !user.id().equals(next.question())) {
                    unanswered.add(span);
                } else if (!isFailed(user) || span.hasCompleteRound() || span.hasOwnAnswer()) {
                    next = user;
                }
            }
            return unanswered;
        }
    }
}

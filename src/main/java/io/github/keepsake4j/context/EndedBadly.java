package io.github.keepsake4j.context;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.Context.Omission;
import io.github.keepsake4j.context.Context.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The messages that are left out because they, or their turns, ended badly. They are left out before any limit decides, so
 * that they take no place: the other messages are shown as if these did not exist.
 *
 * <p>A turn whose user message failed is left out, except for its complete tool rounds. If it has any, its user message
 * stays too. Otherwise a retry would do again what the tools have done. A rejected answer is left out in any turn. An answer
 * that is not rejected stays, because a turn that failed got none: it is that of another turn, which went on meanwhile.
 *
 * @param hidden the messages that are left out, each with the reason
 * @param unclear how many other messages may have to be left out, because their turn's user message was not read: calls that
 *     wait for results and, where anything ended badly, results without their calls
 * @param lacksBeginning whether the newest user message is left out, and no other one was read. The messages before it
 *     belong to a turn that nothing is known of
 */
public record EndedBadly(List<Omission> hidden, int unclear, boolean lacksBeginning) {

    private static final EndedBadly NOTHING = new EndedBadly(List.of(), 0, false);

    /** Copies the list. */
    public EndedBadly {
        hidden = List.copyOf(hidden);
    }

    /**
     * Finds the messages that are left out.
     *
     * @param messages the messages that were read, oldest first
     * @param user the newest user message, which may be older than the messages, or null
     * @return the messages that are left out, and what is not known of others
     */
    public static EndedBadly of(List<LoggedMessage> messages, @Nullable LoggedMessage user) {
        LoggedMessage earlier = isAmong(messages, user) ? null : user;
        boolean bad = isFailed(earlier)
                || messages.stream()
                        .anyMatch(message ->
                                message.outcome() != null && message.outcome().kind() != Outcome.Kind.INCOMPLETE);
        if (!bad && (messages.isEmpty() || earlier != null || isUser(messages.get(0)))) {
            return NOTHING;
        }
        Reader reader = new Reader(earlier);
        messages.forEach(reader::add);
        return reader.result(bad);
    }

    /** Returns the ids of the messages that are left out. */
    Set<String> ids() {
        return hidden.stream().map(omission -> omission.message().id()).collect(Collectors.toSet());
    }

    /**
     * Returns how many of the messages take no place, or may take none.
     *
     * @return the number of messages that are left out or unclear
     */
    public int uncounted() {
        return hidden.size() + unclear;
    }

    /** Returns the calls of which a result is missing, and the results that they have. */
    static Set<LoggedMessage> unanswered(List<LoggedMessage> messages) {
        Reader reader = new Reader(null);
        messages.forEach(reader::add);
        Set<LoggedMessage> unanswered = new HashSet<>();
        reader.spans.stream()
                .flatMap(span -> span.rounds.stream())
                .filter(round -> !round.waiting.isEmpty())
                .forEach(round -> unanswered.addAll(round.messages));
        return unanswered;
    }

    private static boolean isAmong(List<LoggedMessage> messages, @Nullable LoggedMessage user) {
        return user != null
                && messages.stream().anyMatch(message -> message.id().equals(user.id()));
    }

    private static boolean isUser(LoggedMessage message) {
        return message.message() instanceof UserMessage user && TurnSplitter.begins(user);
    }

    private static boolean isFailed(@Nullable LoggedMessage user) {
        return user != null && user.outcome() != null && user.outcome().kind() == Outcome.Kind.FAILED && isUser(user);
    }

    private static boolean isRejected(LoggedMessage message) {
        return message.outcome() != null && message.outcome().kind() == Outcome.Kind.REJECTED;
    }

    private static boolean isDone(OpenRound round) {
        return !round.isAnswer() && round.waiting.isEmpty() && !isRejected(round.messages.get(0));
    }

    /** A user message, or null if it was not read, and what follows it. */
    private record Span(@Nullable LoggedMessage user, List<OpenRound> rounds) {}

    private static final class Reader {
        private final List<Span> spans = new ArrayList<>();
        private final Deque<OpenRound> newestFirst = new ArrayDeque<>();
        private int orphans;

        /** The results in whose place others were stored. */
        private final List<LoggedMessage> replaced = new ArrayList<>();

        Reader(@Nullable LoggedMessage earlier) {
            spans.add(new Span(earlier, new ArrayList<>()));
        }

        void add(LoggedMessage logged) {
            if (isUser(logged)) {
                spans.add(new Span(logged, new ArrayList<>()));
            } else if (logged.message() instanceof AiMessage) {
                OpenRound round = new OpenRound(logged);
                spans.get(spans.size() - 1).rounds.add(round);
                newestFirst.push(round);
            } else if (logged.message() instanceof ToolExecutionResultMessage && isRejected(logged)) {
                replaced.add(logged);
            } else if (logged.message() instanceof ToolExecutionResultMessage result) {
                // A result belongs to the newest calls that wait for it, even in an older turn.
                if (newestFirst.stream().noneMatch(round -> round.takes(logged, result))) {
                    orphans += spans.size() == 1 && spans.get(0).user == null ? 1 : 0;
                }
            }
        }

        /** Returns the result. Without anything that ended badly, a read is not made longer by what is not known. */
        EndedBadly result(boolean bad) {
            List<Omission> hidden = new ArrayList<>();
            replaced.forEach(message -> hidden.add(new Omission(message, Reason.REJECTED)));
            int unclear = bad ? orphans : 0;
            boolean anyUser = false;
            boolean anyHidden = false;
            for (Span span : spans) {
                boolean failed = isFailed(span.user);
                boolean stays = !failed || span.rounds.stream().anyMatch(EndedBadly::isDone);
                anyUser |= span.user != null && stays;
                if (span.user != null && !stays) {
                    anyHidden = true;
                    hidden.add(new Omission(span.user, Reason.FAILED));
                }
                for (OpenRound round : span.rounds) {
                    if (isRejected(round.messages.get(0))) {
                        round.messages.forEach(message -> hidden.add(new Omission(message, Reason.REJECTED)));
                    } else if (failed && !round.isAnswer() && !isDone(round)) {
                        round.messages.forEach(message -> hidden.add(new Omission(message, Reason.FAILED)));
                    } else if (span.user == null && !round.waiting.isEmpty()) {
                        unclear += round.messages.size();
                    }
                }
            }
            return new EndedBadly(hidden, unclear, anyHidden && !anyUser);
        }
    }
}

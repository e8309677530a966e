package io.github.keepsake4j.context;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.context.ContextTurn.Standing;
import io.github.keepsake4j.context.Omission.Reason;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnknownMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which messages belong to which question. Messages of bound turns name their question. An unbound message
 * belongs to the newest unbound question that waits for its answer, or else to the turn of the message before it. So an
 * answer that an application gives to a bound question belongs to that question.
 *
 * <p>Messages that ended badly are left out before any limit decides, so that they take no space: the others are shown
 * as if these did not exist. A turn whose user message failed is left out, except for its complete tool rounds. If it
 * has any, its user message stays too; otherwise a retry would repeat the work of the tools. An answer, of whomever it
 * is, removes the failure. A rejected answer is left out in any turn. A question of a bound turn that has neither an
 * answer nor a complete tool round is left out as soon as another user message follows, whether its turn still runs or
 * its process was killed. Other user messages are never left out because of a missing answer.
 *
 * <p>A turn is shown as a whole, in the order in which the turns ended.
 */
public final class Turns {

    /** The number of messages behind an unbound question for which it waits for its answer. */
    private static final int MOST_WAITED = 64;

    /** The number of messages of a turn that are read to find its beginning. */
    private static final int MOST_SOUGHT = 1_000;

    /** The reasons of messages that did not end badly, but that no provider accepts. */
    private static final Set<Reason> UNSUITABLE =
            EnumSet.of(Reason.ORPHAN_RESULT, Reason.UNKNOWN_TYPE, Reason.EMPTY_TEXT);

    private final List<ReadTurn> all = new ArrayList<>();
    private final Map<String, ReadTurn> byQuestion = new HashMap<>();

    /** What belongs to unbound questions that were not read. */
    private final ReadTurn unread = new ReadTurn(null, -1);

    /** The calls that wait for results, newest first, with their turns. */
    private final Deque<Waiting> waiting = new ArrayDeque<>();

    private final List<LoggedMessage> messages = new ArrayList<>();
    private final List<Omission> repaired = new ArrayList<>();

    private final boolean fromBeginning;

    /** Whether messages before the next one are unknown. */
    private boolean mayBeUnread;

    /** The newest unbound question, or null if none was read. */
    private @Nullable ReadTurn unbound;

    /** The turn of the message before, or null. */
    private @Nullable ReadTurn last;

    private record Waiting(ReadTurn turn, OpenRound round) {}

    /**
     * Creates an empty reader.
     *
     * @param fromBeginning whether the first message has none before it
     */
    Turns(boolean fromBeginning) {
        this.fromBeginning = fromBeginning;
        mayBeUnread = !fromBeginning;
        all.add(unread);
    }

    /**
     * Returns the questions of bound turns that have neither an answer nor a complete tool round.
     *
     * @param messages the messages that were read, oldest first
     * @return the questions that are left out as soon as another one follows
     */
    public static List<LoggedMessage> unanswered(List<LoggedMessage> messages) {
        return of(messages).all.stream()
                .filter(turn -> turn.isUnanswered() && !turn.isFailed())
                .map(turn -> turn.user)
                .toList();
    }

    /**
     * What follows a question.
     *
     * @param rounds the messages of its complete tool rounds
     * @param beforeAnswer the parent of its answer, or null if it has none
     */
    public record Rest(List<LoggedMessage> rounds, @Nullable String beforeAnswer) {

        /** Copies the list. */
        public Rest {
            rounds = List.copyOf(rounds);
        }
    }

    /**
     * Finds what belongs to a question among the messages behind it.
     *
     * @param question the question
     * @param behind the messages behind it, oldest first
     * @return what belongs to its turn
     */
    public static Rest restOf(LoggedMessage question, List<LoggedMessage> behind) {
        Turns turns = of(Stream.concat(Stream.of(question), behind.stream()).toList());
        List<LoggedMessage> rounds = new ArrayList<>();
        String answer = null;
        for (ReadTurn turn : turns.all) {
            // A further user message of a turn belongs to its question.
            LoggedMessage user = turn.user;
            boolean isOwn = user != null
                    && (question.id().equals(user.id()) || question.id().equals(user.question()));
            for (OpenRound round : isOwn ? turn.rounds : List.<OpenRound>of()) {
                if (round.isComplete()) {
                    rounds.addAll(round.messages);
                } else if (answer == null && round.isModelsAnswer()) {
                    answer = round.messages.get(0).parentId();
                }
            }
        }
        return new Rest(rounds, answer);
    }

    /**
     * Finds the question of a message.
     *
     * @param messageId the message's id
     * @param messages the messages up to it, oldest first
     * @return the question; the message itself if it is one; empty if the question is not among the messages
     */
    public static Optional<LoggedMessage> questionOf(String messageId, List<LoggedMessage> messages) {
        return of(messages).all.stream()
                .filter(turn -> turn.user != null && turn.has(messageId))
                .findFirst()
                .map(turn -> turn.user);
    }

    /**
     * Finds the messages that are left out before any limit decides: they, or their turns, ended badly.
     *
     * @param messages a branch, or its part behind a summary, oldest first
     * @return the messages that are left out, each with the reason
     */
    public static List<Omission> badEnds(List<LoggedMessage> messages) {
        return of(messages).leftOut().stream()
                .filter(omission -> !UNSUITABLE.contains(omission.reason()))
                .toList();
    }

    /** Reads a branch, oldest first. */
    private static Turns of(List<LoggedMessage> messages) {
        Turns turns = new Turns(true);
        messages.forEach(turns::add);
        return turns;
    }

    /** Records whether messages are unknown between those that were added and those that will be. */
    void gap(boolean isThere) {
        mayBeUnread |= isThere;
        all.forEach(turn -> turn.hasGap = isThere);
    }

    /** Adds the next message of the branch, or of the list that was set. */
    void add(LoggedMessage logged) {
        messages.add(logged);
        if (logged.message() instanceof SystemMessage) {
            // It belongs to no turn.
            return;
        }
        if (Outcome.UNREADABLE.equals(logged.outcome())) {
            addUnreadable(logged);
        } else if (logged.message() instanceof UnknownMessage) {
            repaired.add(new Omission(logged, Reason.UNKNOWN_TYPE));
        } else if (logged.later() instanceof UserMessage shown) {
            if (ContextTurn.begins(shown)) {
                begin(logged);
            } else {
                // The messages behind it belong to the turn before.
                repaired.add(new Omission(logged, Reason.EMPTY_TEXT));
            }
        } else if (logged.message() instanceof ToolExecutionResultMessage result) {
            if (OpenRound.isRejected(logged)) {
                repaired.add(new Omission(logged, Reason.REJECTED));
            } else if (!answer(logged, result)) {
                repaired.add(new Omission(logged, Reason.ORPHAN_RESULT));
                // Its calls may be unread, and so may be the turn that goes on behind it.
                last = mayBeUnread && logged.question() == null ? unread : last;
            }
        } else {
            addRound(logged);
        }
    }

    private int at() {
        return messages.size() - 1;
    }

    private void begin(LoggedMessage user) {
        ReadTurn turn = begin(user, user.question() == null ? user.id() : user.question());
        unbound = user.question() == null ? turn : unbound;
    }

    private ReadTurn begin(@Nullable LoggedMessage user, String question) {
        ReadTurn turn = new ReadTurn(user, user == null ? -1 : at());
        if (user != null) {
            last = turn;
            ReadTurn before = before();
            if (before != null && before.asksAs(user) && before.rounds.stream().noneMatch(OpenRound::isShown)) {
                before.repeated = true;
                turn.repeats = before;
            }
            ReadTurn early = byQuestion.get(question);
            if (early != null && early.user == null && question.equals(user.id())) {
                // A list that was set may have an answer before its question.
                turn.rounds.addAll(early.rounds);
                all.remove(early);
            }
        }
        all.add(turn);
        byQuestion.put(question, turn);
        return turn;
    }

    /** Returns the newest turn that is shown whatever follows, or null. */
    private @Nullable ReadTurn before() {
        for (int t = all.size() - 1; t >= 0; t--) {
            ReadTurn turn = all.get(t);
            if (turn.user != null && !turn.isUnanswered() && (!turn.isFailed() || turn.hasCompleteRound())) {
                return turn.isBound() || turn.unreadable ? null : turn;
            }
        }
        return null;
    }

    private void addRound(LoggedMessage logged) {
        ReadTurn turn = turnOf(logged);
        if (turn == unread && fromBeginning && last == null && !(logged.message() instanceof AiMessage)) {
            // It is no answer, so it needs no question.
            begin(logged, logged.id());
            last = null;
            return;
        }
        OpenRound round = new OpenRound(logged);
        round.newest = at();
        turn.rounds.add(round);
        last = round.isRejected() ? last : turn;
        if (!round.waiting.isEmpty()) {
            waiting.push(new Waiting(turn, round));
        }
    }

    /** Returns the turn that a message belongs to, which is no result of a tool. */
    private ReadTurn turnOf(LoggedMessage logged) {
        String question = logged.question();
        if (question != null) {
            ReadTurn known = byQuestion.get(question);
            return known == null ? begin(null, question) : known;
        }
        ReadTurn asked = unbound;
        if (asked != null && at() - asked.began <= MOST_WAITED && !asked.hasAnswer()) {
            return asked;
        }
        ReadTurn before = last;
        if (before != null && asked == null && !fromBeginning && at() < MOST_WAITED) {
            before.isUncertain = true;
        }
        return before == null ? unread : before;
    }

    /**
     * Assigns a result to the newest calls that wait for it, even of an older turn, because turns can interleave. A turn
     * that was repeated gets no results, because it would be shown again.
     */
    private boolean answer(LoggedMessage logged, ToolExecutionResultMessage result) {
        ReadTurn own = logged.question() == null ? null : byQuestion.get(logged.question());
        for (Iterator<Waiting> newest = waiting.iterator(); newest.hasNext(); ) {
            Waiting calls = newest.next();
            boolean isOpen = !calls.turn().repeated || calls.round().isRejected();
            boolean fits = own == null ? isOpen : calls.turn() == own;
            if (fits && calls.round().takes(logged, result)) {
                calls.round().newest = at();
                last = calls.round().isRejected() ? last : calls.turn();
                if (calls.round().waiting.isEmpty()) {
                    newest.remove();
                }
                return true;
            }
        }
        if (own == null ? logged.question() == null : own.user != null) {
            return false;
        }
        // Its calls were not read, as its question was not.
        addRound(logged);
        return true;
    }

    /**
     * Adds a message that a repair found unreadable. It may be a question, the answer of the turn before, or a part of a
     * round of it. The turn whose question or answer it may be is left out, so that no answer stands behind another
     * question.
     */
    private void addUnreadable(LoggedMessage marker) {
        ReadTurn before = unbound != null && !unbound.hasAnswer() ? unbound : last;
        boolean isPart = before != null && !before.hasAnswer();
        if (before != null && isPart) {
            // It may be a result for which calls wait.
            before.unreadable |= waiting.stream().noneMatch(calls -> calls.turn() == before);
        }
        ReadTurn own = new ReadTurn(marker, at());
        own.unreadable = true;
        own.hidden = Reason.UNREADABLE;
        all.add(own);
        byQuestion.put(marker.id(), own);
        if (!isPart) {
            unbound = own;
            last = own;
        }
    }

    /** Decides which turns are left out. */
    private void decide() {
        LoggedMessage next = null;
        for (int t = all.size() - 1; t >= 0; t--) {
            ReadTurn turn = all.get(t);
            LoggedMessage user = turn.user;
            if (user == null) {
                continue;
            }
            boolean isFollowed = next != null && !user.id().equals(next.question());
            if (turn.unreadable && !turn.hasAnswer()) {
                turn.hidden = Reason.UNREADABLE;
            } else if (turn.isFailed()) {
                turn.hidden = Reason.FAILED;
            } else if (turn.isUnanswered() && isFollowed && !turn.hasGap) {
                turn.hidden = Reason.UNANSWERED_QUESTION;
            }
            next = turn.isGone() ? next : user;
            // An answer would remove a failure, and an older round would give a bound turn an earlier place. An unbound
            // question takes no messages behind its answer, which may be unread although a later one was taken for it.
            boolean mayHaveMore = (turn.isFailed() || turn.isBound()) && !turn.hasAnswer() && at() < MOST_SOUGHT;
            turn.isUncertain |= turn.hasGap && (mayHaveMore || (!turn.isBound() && at() < MOST_WAITED));
        }
        // What is left out repeats nothing.
        Set<ReadTurn> repeated = all.stream()
                .filter(turn -> !turn.isGone())
                .map(turn -> turn.repeats)
                .collect(Collectors.toSet());
        all.forEach(turn -> turn.repeated = repeated.contains(turn));
    }

    /** Returns the messages that are left out, each with the reason. */
    List<Omission> leftOut() {
        decide();
        List<Omission> leftOut = new ArrayList<>(repaired);
        all.forEach(turn -> turn.leftOut(leftOut::add));
        return leftOut;
    }

    /**
     * Closes the turns in the order in which they ended.
     *
     * @param standing their state
     * @param to receives them
     * @return the place before which it is not certain which message belongs to which turn
     */
    long close(Standing standing, Consumer<ContextTurn> to) {
        long behind = 0;
        long uncertain = 0;
        for (ReadTurn.Placed placed : all.stream()
                .filter(turn -> turn.user == null || !turn.isGone())
                .map(ReadTurn::placed)
                .sorted(Comparator.comparingInt(ReadTurn.Placed::at))
                .toList()) {
            LoggedMessage user = placed.turn().user;
            if (user != null) {
                to.accept(placed.close(user, standing, behind));
            }
            // A turn whose question was read but is blank is not shown, so none stands behind it.
            behind = placed.at() < 0 || (user == null && !mayBeUnread)
                    ? behind
                    : Math.max(behind, messages.get(placed.at()).sequence() + 1);
            uncertain = placed.turn().isUncertain
                    ? Math.max(uncertain, placed.turn().newest() + 1)
                    : uncertain;
        }
        return uncertain;
    }

    /** Returns the messages whose questions were not read, with results behind their calls. */
    List<LoggedMessage> headless() {
        return all.stream()
                .filter(turn -> turn.user == null)
                .flatMap(turn -> turn.rounds.stream())
                .filter(round -> !round.isRejected())
                .flatMap(round -> round.messages.stream())
                .toList();
    }
}

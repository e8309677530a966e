package io.github.keepsake4j.log;

import dev.langchain4j.data.message.AiMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.Outcome;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Decides where a turn goes on after another writer moved the head, or the end of the turn's named branch. Its next
 * messages follow that end if the turn's own last message is the end or an ancestor of it, and if its question has no
 * answer there. Otherwise they follow that message, and the end does not move. All methods are pure functions.
 */
public final class TurnPlace {

    /** The name of the branch of messages that do not move the head. */
    public static final String ASIDE = "keepsake.aside";

    private TurnPlace() {}

    /**
     * Fences an append: it is refused if the head, or the end of the named branch, may have gone to a branch without the
     * messages of a position. Appends under the head matter only if the append expects a head.
     *
     * @param append the append
     * @param known the position that the turn knows
     * @return a copy
     */
    public static Append fenced(Append append, Position known) {
        // A named branch moves without a new revision.
        Append fenced = append.reference() == null ? append.sinceRevisionOf(known) : append;
        boolean exactly = append.reference() != null || append.expectsHead();
        fenced = exactly ? fenced.expectingHead(known.head()) : fenced;
        return append.epoch() == null ? fenced : fenced.inEpoch(append.epoch());
    }

    /**
     * Decides about an append that was refused. Reads once.
     *
     * @param refused the append
     * @param own the id of the turn's own last message
     * @param question the id of the turn's question, or null if answers do not matter
     * @param log reads the memory
     * @return the append at the present position, or empty if the turn goes on beside it
     */
    public static Optional<Append> again(
            Append refused, String own, @Nullable String question, Function<ReadQuery, Tail> log) {
        Tail behind;
        try {
            behind = log.apply(
                    ReadQuery.wholeBranch().onBranch(refused.reference()).after(own));
        } catch (UnknownMessageException e) {
            return Optional.empty();
        }
        return behind.messages().stream().anyMatch(message -> isAnswer(message, question))
                ? Optional.empty()
                : Optional.of(fenced(refused, behind.position()));
    }

    private static boolean isAnswer(LoggedMessage message, @Nullable String question) {
        boolean isOwn = question != null
                && (message.question() == null
                        ? question.equals(message.parentId())
                        : question.equals(message.question()));
        return isOwn
                && message.message() instanceof AiMessage ai
                && !ai.hasToolExecutionRequests()
                && (message.outcome() == null || message.outcome().kind() != Outcome.Kind.REJECTED);
    }

    /**
     * Returns an append that moves neither the head nor the end of a named branch of the application.
     *
     * @param append the append
     * @param parent the message that it follows
     * @return the append beside the head
     */
    public static Append beside(Append append, Parent parent) {
        Append beside = Append.under(parent, append.messages()).onBranch(ASIDE);
        return append.epoch() == null ? beside : beside.inEpoch(append.epoch());
    }
}

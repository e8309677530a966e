package io.github.keepsake4j.context;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.ShortenedResult;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.tokens.TokenSizes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The weights of the messages of a context in a limit of tokens. A tool result that exceeds its share counts its share
 * and is shown shortened. A share depends only on the limit, on the messages that are always shown, on the result's own
 * turn and round, and on whether a turn before it is pinned. So a result is shortened in the same way every time, and
 * its weight never grows.
 */
final class TokenWeights {

    private final Context context;
    private final TokenCounter counter;
    private final long limit;
    private final ToolResultShares shares;
    private final TokenSizes sizes;

    /**
     * The weight in addition to the turns: the list, the reserved tokens, the system message, the summary and the
     * memories.
     */
    private final long fixed;

    /** The weights of the results that exceed their share. */
    private final Map<String, Long> weights = new HashMap<>();

    /** The tool results that are shown in another form, by the id of the stored ones. */
    private final Map<String, ChatMessage> shortened = new HashMap<>();

    TokenWeights(Context context, TokenCounter counter, long limit, ToolResultShares shares) {
        this.context = context;
        this.counter = counter;
        this.limit = limit;
        this.shares = shares;
        this.sizes = context.sizes();
        this.fixed = sizes.perList(counter) + context.forms().reserved() + beside();
        context.originals().forEach(this::weighForm);
        boolean pins = false;
        for (ContextTurn turn : context.turns()) {
            long room = room(pins || hasOnlyBeginningPinned(turn));
            turn.rounds().forEach(round -> weigh(round.messages(), room - of(turn.user())));
            pins |= turn.pinned() != ContextTurn.NOT_PINNED;
        }
        headlessRounds().forEach(round -> weigh(round, Long.MAX_VALUE));
    }

    long of(LoggedMessage message) {
        Long weight = weights.get(message.id());
        return weight != null ? weight : sizes.of(counter, message);
    }

    /** Returns the limit of these weights. */
    Limit limit(long step) {
        return new Limit((turn, message) -> of(message), limit, fixed, step, Omission.Reason.TOKEN_LIMIT, shortened);
    }

    /** Counts what a custom strategy shows in place of a message, but no marker and no shorter form of a result. */
    private void weighForm(String id, LoggedMessage stored) {
        ChatMessage form = Objects.requireNonNull(context.replaced().get(id));
        if (!Context.shorter(form, stored.message()).equals(form)) {
            weights.put(id, Math.max(sizes.of(counter, stored), sizes.of(counter, form)));
        }
    }

    private long beside() {
        return context.opening().messages().stream()
                .mapToLong(message -> sizes.of(counter, message))
                .sum();
    }

    /**
     * Weighs the results of a round.
     *
     * @param room the room for the round
     */
    private void weigh(List<LoggedMessage> round, long room) {
        if (!(round.get(0).message() instanceof AiMessage ai) || !ai.hasToolExecutionRequests()) {
            return;
        }
        int calls = ai.toolExecutionRequests().size();
        long left = (room - of(round.get(0))) / calls;
        for (LoggedMessage message : round) {
            if (message.message() instanceof ToolExecutionResultMessage result) {
                long share = shares.of(result.toolName(), limit, calls, left);
                ShortenedResult cut =
                        sizes.of(counter, message) > share ? sizes.shortened(counter, message, share) : null;
                if (cut != null) {
                    weights.put(message.id(), Math.max(share, cut.tokens()));
                    shortened.put(message.id(), cut.message());
                }
            }
        }
    }

    /**
     * Returns the room that a turn had when it was the newest one. Pinned turns may take half of it, but only those
     * before it: a later pin must not shorten a result that was shown.
     */
    private long room(boolean pinned) {
        long room = limit - fixed;
        return pinned ? room - room / 2 : room;
    }

    /** Returns whether a turn's later rounds need room in addition to its own beginning. */
    private static boolean hasOnlyBeginningPinned(ContextTurn turn) {
        return turn.pinned() != ContextTurn.NOT_PINNED && turn.pinned() != ContextTurn.WHOLLY_PINNED;
    }

    /** Returns the rounds of a turn whose beginning was not read. */
    private List<List<LoggedMessage>> headlessRounds() {
        List<List<LoggedMessage>> rounds = new ArrayList<>();
        for (LoggedMessage message : context.read().headless()) {
            if (rounds.isEmpty() || !(message.message() instanceof ToolExecutionResultMessage)) {
                rounds.add(new ArrayList<>());
            }
            rounds.get(rounds.size() - 1).add(message);
        }
        return rounds;
    }
}

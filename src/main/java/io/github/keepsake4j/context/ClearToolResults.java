package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.context.Context.Placed;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.tokens.ShortenedResult;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Shows a short marker in place of old tool results, which are often the largest part of a prompt and the first part to
 * become useless. The calls stay, so that a model knows what it did, and the log keeps the results' text. This strategy
 * limits nothing by itself. Limits count a cleared result as if it were not cleared, so that clearing never brings
 * older messages back. Immutable.
 */
public final class ClearToolResults implements ContextStrategy {

    /** The text that a model sees in place of a cleared result. */
    public static final String MARKER = ClearedResult.TEXT;

    /**
     * The minimum size of a result that is cleared. Replacing a smaller result is not worth it, because the marker
     * itself takes about ten tokens.
     */
    static final int MIN_TOKENS_OF_ONE = 20;

    private final int keep;
    private final int atLeast;
    private final Set<String> exempt;

    private ClearToolResults(int keep, int atLeast, Set<String> exempt) {
        this.keep = keep;
        this.atLeast = atLeast;
        this.exempt = exempt;
    }

    /**
     * Creates a strategy that clears all results except the newest ones.
     *
     * @param results the number of newest results that stay, 0 or more
     * @return the strategy
     * @throws InvalidInputException if the number is negative
     */
    public static ClearToolResults keepNewest(int results) {
        InvalidInputException.checkAtLeast("results", 0, results);
        return new ClearToolResults(results, 0, Set.of());
    }

    /**
     * Sets the minimum number of tokens that a clearing must save. Each clearing changes the middle of the prompt, so
     * that a provider's prompt cache is lost from that place on. With a minimum, clearing happens rarely, and between
     * two clearings fewer tokens than this are left uncleared. Default: no minimum.
     *
     * @param tokens the number of tokens that the clearable results must have together, 1 or more
     * @return a copy
     * @throws InvalidInputException if the number is less than 1
     */
    public ClearToolResults atLeast(int tokens) {
        InvalidInputException.checkAtLeast("tokens", 1, tokens);
        return new ClearToolResults(keep, tokens, exempt);
    }

    /**
     * Exempts the results of some tools from clearing. They do not count among the newest results either.
     *
     * @param toolNames the tools' names
     * @return a copy
     */
    public ClearToolResults except(String... toolNames) {
        Set<String> names = new HashSet<>(exempt);
        names.addAll(List.of(toolNames));
        return new ClearToolResults(keep, atLeast, Set.copyOf(names));
    }

    @Override
    public Context select(Context context) {
        // Headless messages are not shown, but results that were cleared because of them must stay cleared.
        List<Placed> newestFirst = Stream.concat(
                        context.placedHeadless().stream(),
                        context.counted().stream().flatMap(ClearToolResults::placed))
                .filter(result -> isClearable(result.message()))
                .sorted(Comparator.comparingLong(Placed::place)
                        .thenComparingLong(result -> result.message().sequence())
                        .reversed())
                .toList();
        // Pinned messages are before a gap. The number of newer results in the gap is unknown, so a pinned result
        // counts as old.
        List<Placed> behind = newestFirst.stream()
                .filter(result -> result.place() >= context.unread())
                .toList();
        List<Placed> before = newestFirst.subList(behind.size(), newestFirst.size());
        List<Placed> old = behind.subList(Math.min(keep, behind.size()), behind.size());
        long start = start(old, context.unread());
        Map<String, ChatMessage> markers = new HashMap<>();
        Stream.concat(before.stream(), old.stream().filter(result -> result.place() < start))
                .map(Placed::message)
                .forEach(result ->
                        markers.put(result.id(), ClearedResult.of((ToolExecutionResultMessage) result.message())));
        return context.replacing(markers);
    }

    /**
     * Returns a turn's messages at the places of their calls. If the calls are no longer read, a result cannot be assigned to
     * them, so it must count as unread together with them. The calls of a turn that others overtook count from where the
     * turn is shown.
     */
    private static Stream<Placed> placed(ContextTurn turn) {
        return turn.rounds().stream().filter(round -> round.hidden() == null).flatMap(round -> round.messages().stream()
                .map(message -> new Placed(Math.max(turn.place(), round.sequence()), message)));
    }

    /**
     * Returns the place from which on old results are not cleared. With a minimum, it is a place that stays the same
     * for a long time.
     */
    private long start(List<Placed> newestFirst, long unread) {
        if (newestFirst.isEmpty()) {
            return 0;
        }
        long behindAll = newestFirst.get(0).place() + 1;
        if (atLeast == 0) {
            return behindAll;
        }
        long tokens = 0;
        for (Placed result : newestFirst) {
            tokens += result.message().tokens();
            if (tokens >= atLeast) {
                return WindowStart.roundest(result.place() + 1, behindAll);
            }
        }
        // The unread results may have reached the minimum, and results that were cleared once must stay cleared.
        return WindowStart.roundest(unread, Math.max(unread, behindAll));
    }

    private boolean isClearable(LoggedMessage message) {
        return message.message() instanceof ToolExecutionResultMessage result
                && (result.toolName() == null || !exempt.contains(result.toolName()))
                && message.tokens() >= MIN_TOKENS_OF_ONE;
    }

    /**
     * Returns whether a message is a form in which a tool result may be shown: the marker, or a shortened result.
     *
     * @param given the message that may be such a form
     * @param whole the whole result
     * @return whether it is
     */
    public static boolean isFormOf(ChatMessage given, ToolExecutionResultMessage whole) {
        return given.equals(ClearedResult.of(whole)) || ShortenedResult.isOf(given, whole);
    }
}

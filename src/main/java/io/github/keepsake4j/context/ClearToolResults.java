package io.github.keepsake4j.context;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Shows a short marker in place of old tool results: they are often the largest part of a prompt and the soonest useless.
 * The calls stay, so that a model knows what it did, and the log keeps the text. It limits nothing by itself, and limits
 * count a result as if it were whole, so that clearing never brings older messages back. Immutable.
 */
public final class ClearToolResults implements ContextStrategy {

    /** What a model sees instead. */
    public static final String MARKER = "[Old tool result cleared]";

    /** A result of fewer tokens is not worth a marker, which takes about ten itself. */
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
     * Clears all but the newest results.
     *
     * @param results how many of the newest stay, 0 or more
     * @return the strategy
     * @throws InvalidInputException if the number is negative
     */
    public static ClearToolResults keepNewest(int results) {
        if (results < 0) {
            throw new InvalidInputException("results", "must be 0 or more, is " + results);
        }
        return new ClearToolResults(results, 0, Set.of());
    }

    /**
     * Clears only when it is worth it. Each clearing changes the middle of the prompt, so that a provider's prompt cache
     * is lost from there on; with a minimum it happens rarely, and between two clearings less than this is left uncleared.
     *
     * @param tokens what the results that could be cleared must hold together, 1 or more
     * @return a copy
     * @throws InvalidInputException if the number is less than 1
     */
    public ClearToolResults atLeast(int tokens) {
        if (tokens < 1) {
            throw new InvalidInputException("tokens", "must be 1 or more, is " + tokens);
        }
        return new ClearToolResults(keep, tokens, exempt);
    }

    /**
     * Never clears the results of some tools. They do not count as the newest ones either.
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
        return mark(context);
    }

    @Override
    public Context mark(Context context) {
        List<Result> newestFirst = Stream.concat(
                        headless(context),
                        context.turns().stream()
                                .flatMap(turn -> turn.rounds().stream())
                                .filter(round -> round.hidden() == null)
                                .flatMap(round -> results(round.messages())))
                .filter(result -> isClearable(result.message()))
                .sorted(Comparator.comparingLong(Result::place)
                        .thenComparingLong(result -> result.message().sequence())
                        .reversed())
                .toList();
        // What is pinned stands before a gap: nobody knows how many newer results are in it, so that it counts as old.
        List<Result> behind = newestFirst.stream()
                .filter(result -> result.place() >= context.unread())
                .toList();
        List<Result> before = newestFirst.subList(behind.size(), newestFirst.size());
        List<Result> old = behind.subList(Math.min(keep, behind.size()), behind.size());
        long start = start(old, context.unread());
        Map<String, ChatMessage> markers = new HashMap<>();
        Stream.concat(before.stream(), old.stream().filter(result -> result.place() < start))
                .map(Result::message)
                .forEach(result -> markers.put(result.id(), marker(result)));
        return context.replacing(markers);
    }

    /**
     * A result, at the place of its calls: where those are not read any more, nobody can tell whose it is, so that it must
     * count as unread with them.
     */
    private record Result(long place, LoggedMessage message) {}

    private static Stream<Result> results(List<LoggedMessage> round) {
        return round.stream().map(message -> new Result(round.get(0).sequence(), message));
    }

    /** They are not shown, but what was cleared because of them stays so. */
    private static Stream<Result> headless(Context context) {
        List<Result> results = new ArrayList<>();
        long place = 0;
        for (LoggedMessage message : context.headless()) {
            place = message.message() instanceof ToolExecutionResultMessage ? place : message.sequence();
            results.add(new Result(place, message));
        }
        return results.stream();
    }

    /** The place from which on old results are left whole: with a minimum, one that stays the choice for long. */
    private long start(List<Result> newestFirst, long unread) {
        if (newestFirst.isEmpty()) {
            return 0;
        }
        long behindAll = newestFirst.get(0).place() + 1;
        if (atLeast == 0) {
            return behindAll;
        }
        long tokens = 0;
        for (Result result : newestFirst) {
            tokens += result.message().tokens();
            if (tokens >= atLeast) {
                return Places.roundest(result.place() + 1, behindAll);
            }
        }
        // What is not read may have been enough, and what was cleared once stays so.
        return Places.roundest(unread, Math.max(unread, behindAll));
    }

    private boolean isClearable(LoggedMessage message) {
        return message.message() instanceof ToolExecutionResultMessage result
                && (result.toolName() == null || !exempt.contains(result.toolName()))
                && message.tokens() >= MIN_TOKENS_OF_ONE;
    }

    private static ChatMessage marker(LoggedMessage result) {
        return ((ToolExecutionResultMessage) result.message())
                .toBuilder().contents(TextContent.from(MARKER)).build();
    }
}

package io.github.keepsake4j.context;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The number of tokens of a limit that a tool result may take.
 *
 * @param standard the number of tokens, or 0 for a quarter of the limit
 * @param byTool the number of tokens for the results of some tools
 */
record ToolResultShares(int standard, Map<String, Integer> byTool) {

    static final ToolResultShares STANDARD = new ToolResultShares(0, Map.of());

    ToolResultShares with(int tokens) {
        InvalidInputException.checkAtLeast("maxToolResultTokens", 1, tokens);
        return new ToolResultShares(tokens, byTool);
    }

    ToolResultShares with(String toolName, int tokens) {
        InvalidInputException.checkAtLeast("maxToolResultTokens of " + toolName, 1, tokens);
        Map<String, Integer> more = new HashMap<>(byTool);
        more.put(toolName, tokens);
        return new ToolResultShares(standard, Map.copyOf(more));
    }

    /**
     * Returns the share of one result. The results of one round together take no more than half of the limit, or than
     * the share of one of them.
     *
     * @param toolName the name of the tool, or null if the result has none
     * @param limit the limit
     * @param calls the number of calls in the same round, 1 or more
     * @param left the number of tokens that all other messages of the turn leave for each result of the round
     * @return the number of tokens, 1 or more
     */
    long of(@Nullable String toolName, long limit, int calls, long left) {
        int ofTool = toolName == null ? standard : byTool.getOrDefault(toolName, standard);
        long share = ofTool == 0 ? limit / 4 : ofTool;
        return Math.max(1, Math.min(left, Math.min(share, Math.max(limit / 2, share) / calls)));
    }
}

package io.github.keepsake4j.view;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds messages that were decoded elsewhere among those that are shown. Without an index, a list of a hundred thousand
 * other messages would be compared with each of these.
 */
final class ShownIndex {

    private final ShownView shown;

    /** The indexes of messages, in order, by the shown and by the whole message, and by the form of later requests. */
    private final Map<ChatMessage, List<Integer>> equal = new HashMap<>();

    /** The indexes of tool results by the ids of their calls, since a shortened form of a result equals neither. */
    private final Map<String, List<Integer>> results = new HashMap<>();

    ShownIndex(ShownView shown) {
        this.shown = shown;
        for (int i = 0; i < shown.messages().size(); i++) {
            ChatMessage message = shown.messages().get(i).message();
            ChatMessage whole = shown.whole(i);
            add(equal, message, i);
            if (!whole.equals(message)) {
                add(equal, whole, i);
            }
            ChatMessage later = shown.later(i);
            if (later != null) {
                add(equal, later, i);
            }
            if (whole instanceof ToolExecutionResultMessage result) {
                add(results, String.valueOf(result.id()), i);
            }
        }
    }

    private static <K> void add(Map<K, List<Integer>> indexes, K key, int index) {
        indexes.computeIfAbsent(key, k -> new ArrayList<>()).add(index);
    }

    /** Returns the first index, from the given one on, at which a message is; -1 if there is none. */
    int find(ChatMessage message, int from) {
        int found = first(equal.getOrDefault(message, List.of()), message, from);
        if (message instanceof ToolExecutionResultMessage result) {
            int form = first(results.getOrDefault(String.valueOf(result.id()), List.of()), message, from);
            return found < 0 || (form >= 0 && form < found) ? form : found;
        }
        return found;
    }

    private int first(List<Integer> indexes, ChatMessage message, int from) {
        int at = Collections.binarySearch(indexes, from);
        for (int i = at < 0 ? -at - 1 : at; i < indexes.size(); i++) {
            if (shown.isAt(indexes.get(i), message)) {
                return indexes.get(i);
            }
        }
        return -1;
    }
}

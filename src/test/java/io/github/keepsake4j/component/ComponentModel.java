package io.github.keepsake4j.component;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.testing.WordCounter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A second, simple account of what a component shows, without a log: for texts that differ, tool results that come at
 * once and fit their share, and a newest turn that fits the limits.
 */
final class ComponentModel {

    private static final WordCounter WORDS = new WordCounter();

    /** What was added since the memory was cleared. */
    private final List<ChatMessage> added = new ArrayList<>();

    final List<ChatMessage> history = new ArrayList<>();

    void add(ChatMessage message) {
        added.add(message);
        history.add(message);
    }

    void clear() {
        added.clear();
    }

    void erase() {
        added.clear();
        history.clear();
    }

    boolean mayCallTools() {
        ChatMessage last = added.stream()
                .filter(message -> !(message instanceof SystemMessage))
                .reduce((first, second) -> second)
                .orElse(null);
        return last instanceof UserMessage || last instanceof ToolExecutionResultMessage;
    }

    /** Returns what is shown, or empty if the newest turn alone exceeds a limit. */
    Optional<List<ChatMessage>> shown(int maxMessages, int maxTokens) {
        List<ChatMessage> system = new ArrayList<>();
        List<ChatMessage> opening = new ArrayList<>();
        List<List<ChatMessage>> turns = new ArrayList<>();
        for (ChatMessage message : added) {
            if (message instanceof SystemMessage) {
                system = List.of(message);
            } else if (message instanceof UserMessage) {
                turns.add(new ArrayList<>(List.of(message)));
            } else {
                (turns.isEmpty() ? opening : turns.get(turns.size() - 1)).add(message);
            }
        }
        List<ChatMessage> shown = new ArrayList<>(system);
        if (!fits(shown, maxMessages, maxTokens)) {
            return Optional.empty();
        }
        for (int t = turns.size() - 1; t >= 0; t--) {
            List<ChatMessage> more = new ArrayList<>(shown);
            more.addAll(system.size(), turns.get(t));
            if (!fits(more, maxMessages, maxTokens)) {
                // A turn that exceeds a limit by itself is passed by; the general rules are tested elsewhere.
                List<ChatMessage> alone = new ArrayList<>(system);
                alone.addAll(turns.get(t));
                return fits(alone, maxMessages, maxTokens) ? Optional.of(shown) : Optional.empty();
            }
            shown = more;
        }
        // Before a turn, it leaves as a whole.
        for (int from = 0; from < opening.size(); from += turns.isEmpty() ? 1 : opening.size()) {
            List<ChatMessage> more = new ArrayList<>(shown);
            more.addAll(system.size(), opening.subList(from, opening.size()));
            if (fits(more, maxMessages, maxTokens)) {
                // Where a replaced system message lies before it, it depends on what was read whether it is known as
                // the beginning.
                return turns.isEmpty() || added.size() <= maxMessages ? Optional.of(more) : Optional.empty();
            }
        }
        return Optional.of(shown);
    }

    boolean holds(ChatMessage message) {
        return added.contains(message);
    }

    static int tokens(List<ChatMessage> messages) {
        return messages.isEmpty() ? 0 : WORDS.estimateTokenCountInMessages(messages);
    }

    private static boolean fits(List<ChatMessage> messages, int maxMessages, int maxTokens) {
        return messages.size() <= maxMessages && tokens(messages) <= maxTokens;
    }
}

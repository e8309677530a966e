package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import io.github.keepsake4j.context.ClearToolResults;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The forms that a message is handed out in. A strategy shows something shorter in place of old ones, so a list may hold
 * what was shown before or is shown now: either is the message, and never a new one. Immutable.
 *
 * @param replaced the stored messages by id, where something else is shown
 * @param tolerant whether a cleared tool result stands for the whole one
 */
record Forms(Map<String, ChatMessage> replaced, boolean tolerant) {

    /** For lists that no strategy has touched. */
    static final Forms STORED = new Forms(Map.of(), false);

    static Forms of(Context context) {
        Map<String, ChatMessage> replaced = new HashMap<>();
        context.turns().forEach(turn -> {
            keep(turn.user(), context, replaced);
            turn.rounds().forEach(round -> round.messages().forEach(message -> keep(message, context, replaced)));
        });
        return new Forms(Map.copyOf(replaced), true);
    }

    private static void keep(LoggedMessage stored, Context context, Map<String, ChatMessage> replaced) {
        if (context.replaced().containsKey(stored.id())) {
            replaced.put(stored.id(), stored.message());
        }
    }

    /** The forms of both; a message has at most one that is stored. */
    Forms and(Forms other) {
        Map<String, ChatMessage> all = new HashMap<>(other.replaced);
        all.putAll(replaced);
        return new Forms(Map.copyOf(all), tolerant || other.tolerant);
    }

    /** The objects that stand for a message. */
    List<ChatMessage> of(LoggedMessage shown) {
        ChatMessage stored = replaced.get(shown.id());
        return stored == null ? List.of(shown.message()) : List.of(shown.message(), stored);
    }

    /** Whether a message equals one of the forms. */
    boolean areEqual(ChatMessage given, LoggedMessage shown) {
        return of(shown).stream().anyMatch(form -> form.equals(given) || isCleared(given, form));
    }

    private boolean isCleared(ChatMessage given, ChatMessage form) {
        return tolerant
                && given instanceof ToolExecutionResultMessage
                && form instanceof ToolExecutionResultMessage whole
                && given.equals(whole.toBuilder()
                        .contents(TextContent.from(ClearToolResults.MARKER))
                        .build());
    }
}

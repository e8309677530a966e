package io.github.keepsake4j.view;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.log.View.Run;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The position of a stored message in the tree, without the content.
 *
 * @param id the message's id
 * @param parentId the id of the message's parent, or null for a root
 * @param sequence its sequence in the log
 * @param type the message's type
 * @param tokens the message's stored token count
 * @param question the id of the question of its turn, or null
 */
record StoredPosition(
        String id,
        @Nullable String parentId,
        long sequence,
        ChatMessageType type,
        int tokens,
        @Nullable String question) {

    static StoredPosition of(LoggedMessage message) {
        return new StoredPosition(
                message.id(),
                message.parentId(),
                message.sequence(),
                message.message().type(),
                message.tokens(),
                message.question());
    }

    static List<StoredPosition> of(List<LoggedMessage> messages) {
        return messages.stream().map(StoredPosition::of).toList();
    }

    /** Adds a message behind others. It prolongs the last run if it follows the run's newest message. */
    static void extend(List<Run> runs, @Nullable String parentId, String id) {
        Run last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
        if (last != null && last.last().equals(parentId)) {
            runs.set(runs.size() - 1, new Run(last.after(), id));
        } else {
            runs.add(new Run(parentId, id));
        }
    }

    /** Returns this place in a tree that has only the given messages. Without its parent it is a root. */
    StoredPosition in(Map<String, LoggedMessage> there) {
        return parentId == null || there.containsKey(parentId)
                ? this
                : new StoredPosition(id, null, sequence, type, tokens, question);
    }
}

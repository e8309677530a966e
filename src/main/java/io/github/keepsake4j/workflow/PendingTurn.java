package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.LoggedMessage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A turn that has not been written yet.
 *
 * @param turn the run of the node
 * @param user the user's message
 * @param answers the messages that followed, ending with the answer
 * @param epoch the epoch in which the run began, or null if nothing was read
 */
record PendingTurn(NodeTurn turn, UserMessage user, List<ChatMessage> answers, @Nullable Long epoch) {

    PendingTurn {
        answers = List.copyOf(answers);
    }

    boolean says(PendingTurn other) {
        return user.equals(other.user) && answers.equals(other.answers);
    }

    /**
     * Returns the messages under the ids of an iteration. If the node never saw the parent, the user message stores the
     * parent's id, so that siblings can be recognised.
     */
    List<NewMessage> batch(int iteration, boolean bridged, TokenCounts counts) {
        String answerId = NodeTurn.answerId(turn.messageId(), iteration);
        List<NewMessage> batch = new ArrayList<>();
        batch.add(counts.prepare(NodeTurn.userId(answerId), bridged ? withNamedParent() : user));
        for (int i = 0; i < answers.size() - 1; i++) {
            batch.add(counts.prepare(NodeTurn.middleId(answerId, i + 1), answers.get(i)));
        }
        batch.add(counts.prepare(answerId, answers.get(answers.size() - 1)));
        return batch;
    }

    /** Returns the messages in the form in which a thread shows them before they are written. */
    List<LoggedMessage> logged(TokenCounts counts) {
        List<LoggedMessage> logged = new ArrayList<>();
        String before = null;
        for (NewMessage message : batch(1, false, counts)) {
            // The id must differ from every stored id, so that the sizes of the two messages are not confused.
            String id = "pending/" + System.identityHashCode(this) + "/" + message.id();
            logged.add(new LoggedMessage(
                    id,
                    before,
                    Long.MAX_VALUE,
                    message.message(),
                    message.tokens(),
                    message.tokenCounter(),
                    Instant.EPOCH));
            before = id;
        }
        return logged;
    }

    /** Returns whether stored messages are equal to this turn, whatever parent they name. */
    boolean isStoredAs(List<LoggedMessage> stored, int iteration, TokenCounts counts) {
        List<NewMessage> batch = batch(iteration, false, counts);
        if (stored.size() != batch.size()) {
            return false;
        }
        for (int i = 0; i < batch.size(); i++) {
            LoggedMessage there = stored.get(i);
            if (!there.id().equals(batch.get(i).id())
                    || !comparable(there.message())
                            .equals(comparable(batch.get(i).message()))) {
                return false;
            }
        }
        return true;
    }

    private UserMessage withNamedParent() {
        Map<String, Object> attributes = new HashMap<>(user.attributes());
        attributes.put(NodeBranch.NAMED_PARENT, Objects.requireNonNull(turn.parentMessageId()));
        return user.toBuilder().attributes(attributes).build();
    }

    /**
     * Returns a message in a comparable form: without the attribute that only this package adds, and with file
     * references in the form that this package writes. Other writers may write null values or leave them out.
     */
    private static ChatMessage comparable(ChatMessage message) {
        ChatMessage plain = withoutNamedParent(message);
        List<FileReference> files = new ArrayList<>();
        for (AttachedFile file : AttachedFile.of(plain)) {
            if (file.reference() == null) {
                return plain;
            }
            files.add(file.reference());
        }
        if (plain instanceof UserMessage user) {
            return FileReference.attach(user, files);
        }
        return plain instanceof AiMessage ai ? FileReference.attach(ai, files) : plain;
    }

    static ChatMessage withoutNamedParent(ChatMessage message) {
        if (!(message instanceof UserMessage user) || !user.attributes().containsKey(NodeBranch.NAMED_PARENT)) {
            return message;
        }
        Map<String, Object> attributes = new HashMap<>(user.attributes());
        attributes.remove(NodeBranch.NAMED_PARENT);
        return user.toBuilder().attributes(attributes).build();
    }
}

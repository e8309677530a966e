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
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A turn of a node that has not been written yet: the run ({@link NodeTurn}) and the messages that it made.
 *
 * @param turn the run of the node
 * @param user the user's message
 * @param answers the messages that followed, ending with the answer
 * @param epoch the epoch in which the run began, or null if nothing was read
 */
record PendingTurn(NodeTurn turn, UserMessage user, List<ChatMessage> answers, @Nullable Long epoch) {

    /**
     * The attribute of a bridged turn's user message that stores the parent that this node never saw. Turns with the
     * same unknown parent are siblings.
     */
    private static final String NAMED_PARENT = "keepsake_parent_message_id";

    PendingTurn {
        answers = List.copyOf(answers);
    }

    boolean says(PendingTurn other) {
        return user.equals(other.user) && answers.equals(other.answers);
    }

    /** Returns the ids under which the messages of an iteration are stored. */
    List<String> ids(int iteration) {
        String answerId = NodeTurn.answerId(turn.messageId(), iteration);
        List<String> ids = new ArrayList<>();
        ids.add(NodeTurn.userId(answerId));
        for (int i = 1; i < answers.size(); i++) {
            ids.add(NodeTurn.middleId(answerId, i));
        }
        ids.add(answerId);
        return ids;
    }

    /**
     * Returns the messages under the ids of an iteration. If the node never saw the parent, the user message stores the
     * parent's id, so that siblings can be recognised.
     */
    List<NewMessage> batch(int iteration, boolean bridged, TokenCounts counts) {
        List<String> ids = ids(iteration);
        List<NewMessage> batch = new ArrayList<>();
        batch.add(counts.prepare(ids.get(0), bridged ? withNamedParent() : user));
        for (int i = 0; i < answers.size(); i++) {
            batch.add(counts.prepare(ids.get(i + 1), answers.get(i)));
        }
        return batch;
    }

    /** Returns the messages in the form in which a thread shows them before they are written. */
    List<LoggedMessage> logged(TokenCounts counts) {
        List<LoggedMessage> logged = new ArrayList<>();
        String before = null;
        for (NewMessage message : batch(1, false, counts)) {
            // The id must differ from every stored id, so that the sizes of the two messages are not confused.
            String id = "pending/" + System.identityHashCode(this) + "/" + message.id();
            logged.add(message.logged(id, before, Long.MAX_VALUE, Instant.EPOCH));
            before = id;
        }
        return logged;
    }

    /** Returns whether stored messages, in order, are this turn's and nothing else, whatever parent they name. */
    boolean isStoredAs(List<LoggedMessage> stored, int iteration) {
        List<String> ids = ids(iteration);
        if (stored.size() != ids.size()) {
            return false;
        }
        return IntStream.range(0, ids.size()).allMatch(i -> {
            LoggedMessage there = stored.get(i);
            ChatMessage ours = i == 0 ? user : answers.get(i - 1);
            return there.id().equals(ids.get(i))
                    && (i == 0 || ids.get(i - 1).equals(there.parentId()))
                    && comparable(there.message()).equals(comparable(ours));
        });
    }

    private UserMessage withNamedParent() {
        Map<String, Object> attributes = new HashMap<>(user.attributes());
        attributes.put(NAMED_PARENT, Objects.requireNonNull(turn.parentMessageId()));
        return user.toBuilder().attributes(attributes).build();
    }

    /**
     * Returns a message in a comparable form: without the attribute that only this package adds, and with file
     * references in the form that this package writes. Other writers may write null values or leave them out.
     */
    private static ChatMessage comparable(ChatMessage message) {
        ChatMessage plain = withoutNamedParent(message);
        List<AttachedFile> attached = AttachedFile.of(plain);
        List<FileReference> files = attached.stream()
                .flatMap(file -> Stream.ofNullable(file.reference()))
                .toList();
        if (files.size() < attached.size()) {
            return plain;
        }
        if (plain instanceof UserMessage user) {
            return FileReference.attach(user, files);
        }
        return plain instanceof AiMessage ai ? FileReference.attach(ai, files) : plain;
    }

    /** Returns the parent that a stored message names although the node never saw it, or null. */
    static @Nullable Object namedParent(ChatMessage message) {
        return message instanceof UserMessage user ? user.attributes().get(NAMED_PARENT) : null;
    }

    static ChatMessage withoutNamedParent(ChatMessage message) {
        if (!(message instanceof UserMessage user) || !user.attributes().containsKey(NAMED_PARENT)) {
            return message;
        }
        Map<String, Object> attributes = new HashMap<>(user.attributes());
        attributes.remove(NAMED_PARENT);
        return user.toBuilder().attributes(attributes).build();
    }
}

package io.github.keepsake4j.workflow;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.Ids;
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
 * @param runKey the key that is stored with the turn, so that the turn is distinguished from an equal one; null if the
 * turn's iteration is sufficient
 * @param user the user's message
 * @param answers the messages that followed, ending with the answer
 * @param made how the answer was made
 * @param epoch the epoch in which the run began, or null if nothing was read
 * @param asked whether the engine has stored the message's question, which the first iteration then answers
 */
record PendingTurn(
        NodeTurn turn,
        @Nullable String runKey,
        UserMessage user,
        List<ChatMessage> answers,
        Made made,
        @Nullable Long epoch,
        boolean asked) {

    /**
     * The attribute of a bridged turn's user message that stores the parent that this node never saw. Turns with the
     * same unknown parent are siblings.
     */
    private static final String NAMED_PARENT = "keepsake_parent_message_id";

    /** The attribute of a turn's first own message that stores the key of its run. */
    private static final String RUN = "keepsake_run";

    PendingTurn {
        answers = List.copyOf(answers);
    }

    /** Returns a turn with a key of its own, unless the run has one or names its iteration. */
    static PendingTurn of(
            NodeTurn turn, UserMessage user, List<? extends ChatMessage> answers, Made made, @Nullable Long epoch) {
        String key = turn.runKey() == null && turn.iteration() == 0 ? Ids.next() : turn.runKey();
        return new PendingTurn(turn, key, user, List.copyOf(answers), made, epoch, false);
    }

    /** Returns a turn whose question is stored already. */
    PendingTurn asked(boolean isAsked) {
        return new PendingTurn(turn, runKey, user, answers, made, epoch, isAsked);
    }

    /**
     * Returns whether this turn is a repetition of the given one. A turn that an erasure refuses is not a repetition.
     */
    boolean repeats(PendingTurn earlier) {
        boolean sameEpoch = epoch == null || earlier.epoch == null || epoch.equals(earlier.epoch);
        return sameEpoch && turn.equals(earlier.turn) && user.equals(earlier.user) && answers.equals(earlier.answers);
    }

    /** Returns whether this turn is an earlier iteration of a run, or may be one. */
    boolean isBefore(NodeTurn run) {
        return turn.messageId().equals(run.messageId())
                && (runKey == null || !runKey.equals(run.runKey()))
                && (run.iteration() == 0 || turn.iteration() < run.iteration());
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
     * Returns the messages under the ids of an iteration. The first one stores the run's key. If the node never saw
     * the parent, the user message also stores the parent's id, so that siblings can be recognised.
     */
    List<NewMessage> batch(int iteration, boolean bridged, NodeTokenCounts counts) {
        List<String> ids = ids(iteration);
        boolean answersOnly = asked && iteration == 1;
        List<NewMessage> batch = new ArrayList<>();
        if (!answersOnly) {
            batch.add(counts.prepare(ids.get(0), marked(bridged)));
        }
        for (int i = 0; i < answers.size(); i++) {
            ChatMessage answer = answersOnly && i == 0 ? marked(answers.get(0)) : answers.get(i);
            NewMessage prepared = counts.prepare(ids.get(i + 1), answer);
            batch.add(i == answers.size() - 1 ? prepared.withMade(made) : prepared);
        }
        return batch;
    }

    /** Returns the messages in the form in which a thread shows them before they are written. */
    List<LoggedMessage> logged(NodeTokenCounts counts) {
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

    /**
     * Returns whether stored messages are this turn: they were stored by the same run, or, for a turn that names its
     * iteration, they are exactly this turn's messages in order, regardless of their parent.
     */
    boolean isStoredAs(List<LoggedMessage> stored, int iteration) {
        if (runKey != null && stored.stream().anyMatch(there -> runKey.equals(runKey(there.message())))) {
            return true;
        }
        return turn.iteration() > 0 && saysThere(stored, iteration);
    }

    private boolean saysThere(List<LoggedMessage> stored, int iteration) {
        List<String> ids = ids(iteration);
        // The first iteration may answer a question that the engine stored under another id.
        int first = iteration == 1 && stored.size() == ids.size() - 1 ? 1 : 0;
        if (stored.size() != ids.size() - first) {
            return false;
        }
        return IntStream.range(first, ids.size()).allMatch(i -> {
            LoggedMessage there = stored.get(i - first);
            ChatMessage ours = i == 0 ? user : answers.get(i - 1);
            return there.id().equals(ids.get(i))
                    && (i == first || ids.get(i - 1).equals(there.parentId()))
                    && comparable(there.message()).equals(comparable(ours));
        });
    }

    private UserMessage marked(boolean bridged) {
        Map<String, Object> attributes = new HashMap<>(user.attributes());
        if (bridged) {
            attributes.put(NAMED_PARENT, Objects.requireNonNull(turn.parentMessageId()));
        }
        if (runKey != null) {
            attributes.put(RUN, runKey);
        }
        return user.toBuilder().attributes(attributes).build();
    }

    private ChatMessage marked(ChatMessage answer) {
        if (runKey == null || !(answer instanceof AiMessage ai)) {
            return answer;
        }
        Map<String, Object> attributes = new HashMap<>(ai.attributes());
        attributes.put(RUN, runKey);
        return ai.toBuilder().attributes(attributes).build();
    }

    /**
     * Returns a message in a comparable form: without the attributes that only this package adds, and with file
     * references in the form that this package writes. Other writers may write null values or leave them out.
     */
    private static ChatMessage comparable(ChatMessage message) {
        ChatMessage plain = withoutMarks(message);
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

    /** Returns the key of the run that stored a message, or null. */
    static @Nullable Object runKey(ChatMessage message) {
        return attributes(message).get(RUN);
    }

    private static Map<String, Object> attributes(ChatMessage message) {
        return message instanceof UserMessage user
                ? user.attributes()
                : message instanceof AiMessage ai ? ai.attributes() : Map.of();
    }

    /** Returns a message without the attributes that only this package reads. */
    static ChatMessage withoutMarks(ChatMessage message) {
        if (namedParent(message) == null && runKey(message) == null) {
            return message;
        }
        Map<String, Object> attributes = new HashMap<>(attributes(message));
        attributes.keySet().removeAll(List.of(NAMED_PARENT, RUN));
        return message instanceof AiMessage ai
                ? ai.toBuilder().attributes(attributes).build()
                : ((UserMessage) message).toBuilder().attributes(attributes).build();
    }
}

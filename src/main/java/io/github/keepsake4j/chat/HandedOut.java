package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a chat memory store remembers of one memory: never the truth, only the instances that it gave out and where a read
 * may begin. Immutable.
 *
 * @param tail the last read
 * @param current whether nothing was written since by this store
 * @param hashes of the messages as they were given out: some are mutable
 * @param size how many messages the list had that was read or set last
 * @param relink what was cleared and may be linked to, or null
 * @param relinkRevision the revision at which that is so
 * @param unacknowledged what was sent, and nobody knows whether it is stored
 * @param issued what was given out in this epoch
 * @param erased what was given out before erasures
 */
record HandedOut(
        Tail tail,
        boolean current,
        List<Integer> hashes,
        int size,
        @Nullable Relink relink,
        long relinkRevision,
        List<NewMessage> unacknowledged,
        Issued issued,
        Issued erased) {

    /** After a read. */
    static HandedOut read(Tail tail, @Nullable HandedOut before) {
        List<Integer> hashes =
                tail.messages().stream().map(m -> m.message().hashCode()).toList();
        int size = tail.messages().size();
        boolean sameEpoch = before != null && before.tail.epoch() == tail.epoch();
        Issued issued = before != null && sameEpoch ? before.issued : new Issued();
        issued.add(tail.messages(), tail.missingParent());
        if (before == null || !sameEpoch) {
            Issued erased = before == null ? new Issued() : before.allErased();
            return new HandedOut(tail, true, hashes, size, null, 0, List.of(), issued, erased);
        }
        return new HandedOut(
                tail,
                true,
                hashes,
                size,
                before.relink,
                before.relinkRevision,
                before.unacknowledged,
                issued,
                before.erased);
    }

    /** After a list was set. The instances stay known, though not as what is shown. */
    HandedOut set(int newSize) {
        return new HandedOut(tail, false, hashes, newSize, null, 0, List.of(), issued, erased);
    }

    /** After a view was set that leaves something to link to. */
    HandedOut linking(int newSize, @Nullable Relink left, long revision) {
        return new HandedOut(tail, false, hashes, newSize, left, revision, List.of(), issued, erased);
    }

    /** After something was sent and no answer came. */
    HandedOut unsure(List<NewMessage> sent) {
        return new HandedOut(tail, false, hashes, size, null, 0, sent, issued, erased);
    }

    /** Whether the read can stand for what is stored, until a compare-and-set says otherwise. */
    boolean isCurrent() {
        return current && unchanged().size() == hashes.size();
    }

    /** The same messages with the instances that were given out, where nobody has changed those. */
    List<LoggedMessage> withInstances(List<LoggedMessage> messages) {
        Map<String, LoggedMessage> byId = new HashMap<>();
        unchanged().forEach(message -> byId.put(message.id(), message));
        return messages.stream()
                .map(message -> Objects.requireNonNullElse(byId.get(message.id()), message))
                .toList();
    }

    /** Whether a list holds something that was given out before the memory was erased. */
    boolean isErased(List<ChatMessage> list) {
        return list.stream().anyMatch(erased::holds);
    }

    private List<LoggedMessage> unchanged() {
        List<LoggedMessage> unchanged = new ArrayList<>();
        for (int i = 0; i < hashes.size(); i++) {
            if (tail.messages().get(i).message().hashCode() == hashes.get(i)) {
                unchanged.add(tail.messages().get(i));
            }
        }
        return unchanged;
    }

    private Issued allErased() {
        erased.addAll(issued);
        return erased;
    }
}

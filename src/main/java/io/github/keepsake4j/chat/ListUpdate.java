package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One update of a store, which may take several attempts: a message that is new keeps its id and its count through all of
 * them. Not thread-safe.
 */
final class ListUpdate {

    /**
     * What an attempt does.
     *
     * @param step the step, or null if the list is shown already
     * @param linked what may still be linked to afterwards, or null
     */
    record Plan(@Nullable ViewStep step, @Nullable Relink linked) {}

    private final ChatMemorySettings settings;
    private final MemoryKey key;
    private final List<ChatMessage> list;
    private final @Nullable HandedOut before;

    /** By place in the list, since one object may stand in it twice. */
    private final @Nullable NewMessage[] prepared;

    /** By place: whether an earlier attempt may have stored it. */
    private final boolean[] mayBeStored;

    ListUpdate(ChatMemorySettings settings, MemoryKey key, List<ChatMessage> list, @Nullable HandedOut before) {
        this.settings = settings;
        this.key = key;
        this.list = list;
        this.before = before;
        this.prepared = new NewMessage[list.size()];
        this.mayBeStored = new boolean[list.size()];
        if (before != null) {
            before.unacknowledged().forEach(this::prepareAgain);
        }
    }

    /** Compares the list with what is shown, and then with what was cleared. */
    Plan plan(Tail tail, @Nullable Relink cleared) {
        List<LoggedMessage> shown = before == null ? tail.messages() : before.withInstances(tail.messages());
        if (list.equals(shown.stream().map(LoggedMessage::message).toList())) {
            return new Plan(null, null);
        }
        @Nullable LoggedMessage[] known = ViewChange.match(list, shown, Forms.STORED);
        boolean storedElsewhere = findStored(known);
        Relink left = cleared == null ? null : link(known, cleared);
        storedElsewhere |= findIssued(known);
        boolean linked = cleared != null
                && left != null
                && left.left().size() < cleared.left().size();
        ViewChange change = ViewChange.of(known, shown, this::prepare);
        boolean onBranch = !linked && !storedElsewhere;
        ViewStep step = onBranch ? ViewStep.of(change, tail, true, true) : null;
        // What is appended ends the linking; what was found elsewhere may be among what is left, and is shown now.
        Relink kept = change.added().isEmpty() && !storedElsewhere ? left : null;
        if (onBranch && (step == null || kept == null)) {
            return new Plan(step, null);
        }
        List<View.Run> runs = kept == null ? List.of() : ViewChange.runsOf(kept.left(), kept.missingParent());
        return new Plan(ViewStep.withView(change, tail, runs, true), kept);
    }

    /** Tells that messages may be stored, though not by an attempt that was acknowledged. */
    void mayBeStored(List<NewMessage> sent) {
        for (int i = 0; i < prepared.length; i++) {
            mayBeStored[i] |= prepared[i] != null && sent.contains(prepared[i]);
        }
    }

    private void prepareAgain(NewMessage sent) {
        for (int i = 0; i < prepared.length; i++) {
            if (prepared[i] == null && list.get(i) == sent.message()) {
                prepared[i] = sent;
                mayBeStored[i] = true;
                return;
            }
        }
    }

    private NewMessage prepare(int at) {
        NewMessage message = prepared[at];
        if (message == null) {
            message = settings.prepare(list.get(at));
            prepared[at] = message;
        }
        return message;
    }

    /** Finds messages of an attempt whose answer was lost, wherever they stand. Returns whether there are any. */
    private boolean findStored(@Nullable LoggedMessage[] known) {
        boolean found = false;
        for (int i = 0; i < known.length; i++) {
            NewMessage sent = prepared[i];
            if (known[i] == null && mayBeStored[i] && sent != null) {
                known[i] = stored(sent.id());
                found |= known[i] != null;
            }
        }
        return found;
    }

    /** Finds instances that were given out and are no longer shown, since somebody else has set a list in between. */
    private boolean findIssued(@Nullable LoggedMessage[] known) {
        if (before == null) {
            return false;
        }
        Set<String> used = new HashSet<>();
        for (LoggedMessage message : known) {
            if (message != null) {
                used.add(message.id());
            }
        }
        boolean found = false;
        for (int i = 0; i < known.length; i++) {
            LoggedMessage issued = known[i] == null ? before.issued().find(list.get(i)) : null;
            // An instance that stands in the list again is a new message.
            if (issued != null && used.add(issued.id())) {
                known[i] = issued;
                found = true;
            }
        }
        return found;
    }

    private @Nullable LoggedMessage stored(String id) {
        try {
            return settings.log()
                    .read(key, ReadQuery.newest(1).endingIn(id))
                    .messages()
                    .get(0);
        } catch (InvalidInputException e) {
            return null;
        }
    }

    /** Links in order what is not shown, up to the first message that was not cleared. Returns what is left. */
    private Relink link(@Nullable LoggedMessage[] known, Relink cleared) {
        Relink left = cleared;
        for (int i = 0; i < known.length; i++) {
            if (known[i] != null) {
                continue;
            }
            Relink next = left.with(list.get(i));
            if (next == null) {
                break;
            }
            known[i] = ViewChange.rooted(next.linked().get(next.linked().size() - 1), cleared.missingParent());
            left = next;
        }
        return left;
    }
}

package io.github.keepsake4j.view;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.View;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A list that a caller sets, divided into stored and new messages. It determines the append that makes a memory show
 * the list. Immutable, without I/O.
 *
 * @param items the list
 * @param summary the message that the summary before the list covers up to, or null for no summary
 */
record ListEdit(List<Item> items, @Nullable String summary) {

    /** One message of the list, either stored or new. */
    record Item(@Nullable StoredPosition known, @Nullable NewMessage added) {
        int tokens() {
            return known != null
                    ? known.tokens()
                    : Objects.requireNonNull(added).tokens();
        }

        static Item of(StoredPosition known) {
            return new Item(known, null);
        }

        static Item of(NewMessage added) {
            return new Item(null, added);
        }
    }

    /** Adds stored messages behind the list, each one once. */
    ListEdit followedBy(List<StoredPosition> places) {
        Set<String> there = new HashSet<>();
        known().forEach(place -> there.add(place.id()));
        List<Item> more = new ArrayList<>(items);
        for (StoredPosition place : places) {
            if (there.add(place.id())) {
                more.add(Item.of(place));
            }
        }
        return new ListEdit(more, summary);
    }

    /** Returns the stored messages of the list. */
    List<StoredPosition> known() {
        return items.stream().map(Item::known).filter(Objects::nonNull).toList();
    }

    /**
     * Returns the list after the append. New messages follow the head, or the message that the append named.
     */
    List<StoredPosition> places(Append append, AppendResult result) {
        String parent = append.parent() instanceof Parent.Of of ? of.id() : result.previousHead();
        long sequence = result.lastSequence() - added().size();
        List<StoredPosition> places = new ArrayList<>(items.size());
        for (Item item : items) {
            NewMessage added = item.added();
            if (added == null) {
                places.add(Objects.requireNonNull(item.known()));
            } else {
                places.add(new StoredPosition(
                        added.id(), parent, ++sequence, added.message().type(), added.tokens(), added.question()));
                parent = added.id();
            }
        }
        return places;
    }

    List<NewMessage> added() {
        return items.stream().map(Item::added).filter(Objects::nonNull).toList();
    }

    /** Returns whether the list is exactly the one that a read showed. */
    boolean isShownBy(Reading reading) {
        return items.size() == reading.shown().size()
                && prefix(reading) == items.size()
                && keepsSummary(reading)
                && !needsView(reading);
    }

    /**
     * Returns whether a read would return only a part of the list, because no view is in force and the list is too
     * long.
     */
    private boolean needsView(Reading reading) {
        return reading.anchor() == 0
                && (items.size() > ViewReader.MOST_UNSET
                        || items.stream().mapToLong(Item::tokens).sum() > ViewReader.MOST_UNSET_TOKENS);
    }

    /**
     * Returns the append for a memory that has not changed since it was read. If the list is a beginning of what was
     * read, followed by new messages only, the append needs no view, unless the list is very long. The new messages are
     * then appended there.
     */
    Append exactly(Reading reading) {
        int prefix = prefix(reading);
        boolean onlyNewBehind = items.stream().skip(prefix).allMatch(item -> item.added() != null);
        if (onlyNewBehind && !added().isEmpty() && keepsSummary(reading) && !needsView(reading)) {
            if (prefix == reading.shown().size()) {
                return Append.under(Parent.head(), added()).at(reading.position());
            }
            StoredPosition fork = fork(reading, prefix);
            if (fork != null) {
                return Append.under(Parent.of(fork.id()), added()).at(reading.position());
            }
        }
        return withView(reading);
    }

    /**
     * Returns the append for a memory whose revision is unchanged, although messages may have been appended under the
     * head. Such messages are kept behind the list and never prevent the append.
     */
    Append withView(Reading reading) {
        List<View.Run> runs = new ArrayList<>();
        String parent = View.HEAD;
        for (Item item : items) {
            NewMessage added = item.added();
            StoredPosition known = item.known();
            if (added != null) {
                StoredPosition.extend(runs, parent, added.id());
                parent = added.id();
            } else if (known != null) {
                StoredPosition.extend(runs, known.parentId(), known.id());
            }
        }
        runs.add(new View.Run(reading.position().head(), View.HEAD));
        View view = View.of(null, runs).behindSummary(summary);
        return new Append(Parent.head(), added(), null, null, false, null, view, false, null, Map.of())
                .sinceRevisionOf(reading.position());
    }

    /**
     * Returns the message from which to fork, or null if a fork would not show the same messages. That is so if there
     * is no such message, or if it is inside a view, before the system message, or behind a message that the list
     * leaves out. This is also the case if a limit has cut off messages for which the fork would have room.
     */
    private static @Nullable StoredPosition fork(Reading reading, int prefix) {
        if (prefix == 0 || reading.cut()) {
            return null;
        }
        List<StoredPosition> shown = reading.shown();
        StoredPosition last = shown.get(prefix - 1);
        boolean beforeSystem = shown.subList(0, prefix).stream().anyMatch(place -> place.sequence() > last.sequence());
        // Tool results are shown behind their call, regardless of their place on the branch.
        boolean behindOthers =
                shown.subList(prefix, shown.size()).stream().anyMatch(place -> place.sequence() < last.sequence());
        return last.sequence() <= reading.anchor()
                        || beforeSystem
                        || behindOthers
                        || last.type() == ChatMessageType.SYSTEM
                ? null
                : last;
    }

    private boolean keepsSummary(Reading reading) {
        return Objects.equals(summary, reading.summary());
    }

    private int prefix(Reading reading) {
        List<StoredPosition> shown = reading.shown();
        int prefix = 0;
        while (prefix < items.size() && prefix < shown.size()) {
            StoredPosition known = items.get(prefix).known();
            if (known == null || !known.id().equals(shown.get(prefix).id())) {
                break;
            }
            prefix++;
        }
        return prefix;
    }
}

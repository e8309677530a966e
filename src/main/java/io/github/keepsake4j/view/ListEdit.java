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
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A list that a caller sets: which of its messages are stored already, and which are new. It works out the one append that
 * makes a memory show the list. Pure.
 *
 * @param items the list
 * @param summary the message up to which the summary before the list covers, or null for no summary
 */
record ListEdit(List<Item> items, @Nullable String summary) {

    /** One message of the list: either stored, or new. */
    record Item(@Nullable Place known, @Nullable NewMessage added) {
        static Item of(Place known) {
            return new Item(known, null);
        }

        static Item of(NewMessage added) {
            return new Item(null, added);
        }
    }

    /** Adds stored messages behind the list, each once. */
    ListEdit followedBy(List<Place> places) {
        Set<String> there = new HashSet<>();
        for (Item item : items) {
            if (item.known() != null) {
                there.add(item.known().id());
            }
        }
        List<Item> more = new ArrayList<>(items);
        for (Place place : places) {
            if (there.add(place.id())) {
                more.add(Item.of(place));
            }
        }
        return new ListEdit(more, summary);
    }

    /** The stored messages of the list. */
    List<Place> known() {
        return items.stream().map(Item::known).filter(Objects::nonNull).toList();
    }

    /** The list once it is stored: new messages follow the head, or the message that the append named. */
    List<Place> places(Append append, AppendResult result) {
        String parent = append.parent() instanceof Parent.Of of ? of.id() : result.previousHead();
        long sequence = result.lastSequence() - added().size();
        List<Place> places = new ArrayList<>(items.size());
        for (Item item : items) {
            NewMessage added = item.added();
            if (added == null) {
                places.add(Objects.requireNonNull(item.known()));
            } else {
                places.add(new Place(
                        added.id(), parent, ++sequence, added.message().type()));
                parent = added.id();
            }
        }
        return places;
    }

    List<NewMessage> added() {
        return items.stream().map(Item::added).filter(Objects::nonNull).toList();
    }

    /** Whether the list is just what a read showed. */
    boolean isShownBy(Reading reading) {
        return items.size() == reading.shown().size() && prefix(reading) == items.size() && keepsSummary(reading);
    }

    /**
     * The step for a memory that is still where it was read. It needs no view where the list is a beginning of what was
     * read, and then new messages: these are appended there.
     */
    Append exactly(Reading reading) {
        int prefix = prefix(reading);
        boolean onlyNewBehind = items.stream().skip(prefix).allMatch(item -> item.added() != null);
        if (onlyNewBehind && !added().isEmpty() && keepsSummary(reading)) {
            if (prefix == reading.shown().size()) {
                return Append.under(Parent.head(), added()).at(reading.position());
            }
            Place fork = fork(reading, prefix);
            if (fork != null) {
                return Append.under(Parent.of(fork.id()), added()).at(reading.position());
            }
        }
        return withView(reading);
    }

    /**
     * The step for a memory of whose revision only appends under the head are unknown: they stay, behind the list. They
     * never stop it.
     */
    Append withView(Reading reading) {
        List<View.Run> runs = new ArrayList<>();
        String parent = View.HEAD;
        for (Item item : items) {
            NewMessage added = item.added();
            Place known = item.known();
            if (added != null) {
                Place.extend(runs, parent, added.id());
                parent = added.id();
            } else if (known != null) {
                Place.extend(runs, known.parentId(), known.id());
            }
        }
        runs.add(new View.Run(reading.position().head(), View.HEAD));
        View view = View.of(null, runs).behindSummary(summary);
        return new Append(Parent.head(), added(), null, null, null, view, false).sinceRevisionOf(reading.position());
    }

    /**
     * The message to fork from, or null where a fork would not show the same: without such a message, inside a view, before
     * the system message, behind a message that the list leaves out, or where a limit has cut off what a fork had room for.
     */
    private static @Nullable Place fork(Reading reading, int prefix) {
        if (prefix == 0 || reading.cut()) {
            return null;
        }
        List<Place> shown = reading.shown();
        Place last = shown.get(prefix - 1);
        boolean beforeSystem = shown.subList(0, prefix).stream().anyMatch(place -> place.sequence() > last.sequence());
        // Results are shown behind their call, wherever the branch has them.
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
        List<Place> shown = reading.shown();
        int prefix = 0;
        while (prefix < items.size() && prefix < shown.size()) {
            Place known = items.get(prefix).known();
            if (known == null || !known.id().equals(shown.get(prefix).id())) {
                break;
            }
            prefix++;
        }
        return prefix;
    }
}

package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * What a list that somebody sets is, compared with what the memory shows: which messages are there already, and which
 * are new. Pure.
 *
 * @param items the list
 * @param shown what the memory showed
 */
record ViewChange(List<Item> items, List<LoggedMessage> shown) {

    /** One message of the list: either one that is there, or a new one. */
    record Item(@Nullable LoggedMessage known, @Nullable NewMessage added) {}

    /**
     * Compares. The instances that were handed out are matched first, wherever they stand; then equal messages in order,
     * each to one message only.
     */
    static ViewChange of(
            List<ChatMessage> list, List<LoggedMessage> shown, Forms forms, Function<ChatMessage, NewMessage> prepare) {
        return of(match(list, shown, forms), shown, at -> prepare.apply(list.get(at)));
    }

    /**
     * Makes the change of messages that were found already.
     *
     * @param known for each message of the list the one that is there, or null
     * @param prepare makes the message at a place of the list ready to be appended
     */
    static ViewChange of(@Nullable LoggedMessage[] known, List<LoggedMessage> shown, IntFunction<NewMessage> prepare) {
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < known.length; i++) {
            items.add(known[i] != null ? new Item(known[i], null) : new Item(null, prepare.apply(i)));
        }
        return new ViewChange(items, shown);
    }

    /** For each message of a list the shown one that it is, or null. */
    static @Nullable LoggedMessage[] match(List<ChatMessage> list, List<LoggedMessage> shown, Forms forms) {
        // A view may show a message twice.
        IdentityHashMap<ChatMessage, Deque<Integer>> instances = new IdentityHashMap<>();
        for (int i = 0; i < shown.size(); i++) {
            for (ChatMessage form : forms.of(shown.get(i))) {
                instances.computeIfAbsent(form, message -> new ArrayDeque<>(1)).add(i);
            }
        }
        @Nullable LoggedMessage[] known = new LoggedMessage[list.size()];
        boolean[] used = new boolean[shown.size()];
        int[] position = new int[list.size()];
        for (int i = 0; i < list.size(); i++) {
            Deque<Integer> places = instances.get(list.get(i));
            Integer at = places == null ? null : places.poll();
            while (places != null && at != null && used[at]) {
                at = places.poll();
            }
            position[i] = -1;
            if (at != null) {
                known[i] = shown.get(at);
                position[i] = at;
                used[at] = true;
            }
        }
        int next = 0;
        for (int i = 0; i < list.size(); i++) {
            int at = position[i] >= 0 ? position[i] : indexOfEqual(list.get(i), shown, forms, used, next);
            if (at >= 0) {
                known[i] = shown.get(at);
                used[at] = true;
                next = at + 1;
            }
        }
        return known;
    }

    /** The same change, with messages that the list's maker has not seen: they stay, behind the list. */
    ViewChange keeping(List<LoggedMessage> unseen, List<LoggedMessage> nowShown) {
        List<Item> more = new ArrayList<>(items);
        for (LoggedMessage message : unseen) {
            if (!shows(message)) {
                more.add(new Item(message, null));
            }
        }
        return new ViewChange(more, nowShown);
    }

    boolean shows(LoggedMessage message) {
        return items.stream()
                .anyMatch(item -> item.known() != null && item.known().id().equals(message.id()));
    }

    List<NewMessage> added() {
        return items.stream().map(Item::added).filter(Objects::nonNull).toList();
    }

    /** Whether the list starts with all that is shown, so that what is new simply follows. */
    boolean isContinuation() {
        return prefix() == shown.size();
    }

    /**
     * The message to fork from: the list is a beginning of what is shown and then only new messages. Null where a fork
     * would not show the same: without a message to fork from, from inside a view, before the system message, or behind
     * something that the list leaves out.
     */
    @Nullable
    LoggedMessage fork(@Nullable View view) {
        int prefix = prefix();
        boolean onlyNewBehind = items.stream().skip(prefix).allMatch(item -> item.added() != null);
        if (prefix == 0 || !onlyNewBehind || added().isEmpty()) {
            return null;
        }
        LoggedMessage last = shown.get(prefix - 1);
        boolean insideView = view != null && last.sequence() <= view.anchorSequence();
        boolean beforeSystem = shown.subList(0, prefix).stream().anyMatch(m -> m.sequence() > last.sequence());
        // Results stand behind their call, wherever the branch has them.
        boolean behindOthers =
                shown.subList(prefix, shown.size()).stream().anyMatch(m -> m.sequence() < last.sequence());
        boolean shownElsewhere = insideView || beforeSystem || behindOthers;
        return shownElsewhere || last.message() instanceof SystemMessage ? null : last;
    }

    /**
     * The list as runs.
     *
     * @param head the message that the new ones are appended under, or null
     * @param missingParent the id of a parent that is not there, or null
     */
    List<View.Run> runs(@Nullable String head, @Nullable String missingParent) {
        List<View.Run> runs = new ArrayList<>();
        String lastAdded = head;
        for (Item item : items) {
            NewMessage added = item.added();
            LoggedMessage known = item.known();
            if (added != null) {
                extend(runs, lastAdded, added.id());
                lastAdded = added.id();
            } else if (known != null) {
                extend(runs, parent(known, missingParent), known.id());
            }
        }
        return runs;
    }

    /** What a list of stored messages is in runs. */
    static List<View.Run> runsOf(List<LoggedMessage> messages, @Nullable String missingParent) {
        List<View.Run> runs = new ArrayList<>();
        messages.forEach(message -> extend(runs, parent(message, missingParent), message.id()));
        return runs;
    }

    /** A message whose parent is not there, as the root that it is then; others as they are. */
    static LoggedMessage rooted(LoggedMessage message, @Nullable String missingParent) {
        return Objects.equals(parent(message, missingParent), message.parentId())
                ? message
                : new LoggedMessage(
                        message.id(),
                        null,
                        message.sequence(),
                        message.message(),
                        message.tokens(),
                        message.tokenCounter(),
                        message.createdAt());
    }

    /** A run cannot start behind a message that is not there: it starts where the branch does. */
    private static @Nullable String parent(LoggedMessage message, @Nullable String missingParent) {
        String parent = message.parentId();
        return parent == null || parent.equals(missingParent) ? null : parent;
    }

    private static void extend(List<View.Run> runs, @Nullable String parent, String id) {
        View.Run last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
        if (last != null && last.last().equals(parent)) {
            runs.set(runs.size() - 1, new View.Run(last.after(), id));
        } else {
            runs.add(new View.Run(parent, id));
        }
    }

    private int prefix() {
        int prefix = 0;
        while (prefix < items.size() && prefix < shown.size()) {
            LoggedMessage known = items.get(prefix).known();
            if (known == null || !known.id().equals(shown.get(prefix).id())) {
                break;
            }
            prefix++;
        }
        return prefix;
    }

    private static int indexOfEqual(
            ChatMessage message, List<LoggedMessage> shown, Forms forms, boolean[] used, int from) {
        for (int i = from; i < shown.size(); i++) {
            if (!used[i] && forms.areEqual(message, shown.get(i))) {
                return i;
            }
        }
        return -1;
    }
}

package io.github.keepsake4j.log.redis;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.backend.NotesText;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads a whole memory in parts and reports its damage. An instance is used once. */
final class Checker {

    private static final int AT_ONCE = 500;
    private static final Pattern PLACE = Pattern.compile("(\\d{1,18}),".repeat(6) + "(\\d{1,9}):(.*)", Pattern.DOTALL);

    /** A message's place in the tree. */
    private record Totals(long parent, long run, long depth, long system, long user, long tokens) {

        /**
         * Whether it continues its parent or begins a branch. Its own type determines the values that it sets itself.
         */
        boolean continues(long seq, @Nullable Totals before, @Nullable ChatMessageType type) {
            long system = before == null ? 0 : before.system;
            long user = before == null ? 0 : before.user;
            return run == (before != null && parent == seq - 1 ? before.run : seq)
                    && depth == (before == null ? 1 : before.depth + 1)
                    && (type == null || this.system == (type == ChatMessageType.SYSTEM ? seq : system))
                    && (type == null || this.user == (type == ChatMessageType.USER ? seq : user));
        }
    }

    private final MemoryKey key;
    private final Function<Request, Reply> memory;
    private final List<Damage> damage = new ArrayList<>();
    private final BitSet unsound = new BitSet();
    private final List<String> unreadable = new ArrayList<>();
    private final List<String> badViews = new ArrayList<>();
    private final Map<String, String> badNames = new LinkedHashMap<>();
    private long newestSound;
    private @Nullable String newestSoundId;
    private @Nullable String headId;

    Checker(MemoryKey key, Function<Request, Reply> memory) {
        this.key = key;
        this.memory = memory;
    }

    List<Damage> check() {
        Reply beside = beside();
        List<Damage> found = check(beside);
        // A memory that was erased or evicted between the requests is sound.
        return found.isEmpty() || beside().number(2) >= beside.number(2) ? found : new Checker(key, memory).check();
    }

    private Reply beside() {
        return memory.apply(new Request("beside"));
    }

    private List<Damage> check(Reply beside) {
        long count = beside.number(2);
        long head = beside.number(3);
        Totals previous = null;
        for (long first = 1; first <= count; first += AT_ONCE) {
            for (Reply row : raw(first, first + AT_ONCE - 1)) {
                previous = message(row, previous, head);
            }
        }
        if (head > count || (head > 0 && headId == null)) {
            add(Damage.Kind.HEAD, head, null, "the head, message " + head + ", is missing");
        }
        for (Reply view : beside.list(4).lists()) {
            view(view.number(0), view.text(1));
        }
        for (Reply name : beside.list(5).lists()) {
            if (isUnsound(name.number(1))) {
                badNames.put(name.text(0), name.text(1));
            }
        }
        for (Reply row : memory.apply(new Request("details").with("parts", List.of("SUMMARIES")))
                .list(3)
                .lists()) {
            summary(row);
        }
        return List.copyOf(damage);
    }

    private List<Reply> raw(long first, long last) {
        return memory.apply(new Request("raw").with("first", first).with("last", last))
                .lists();
    }

    private @Nullable Totals message(Reply row, @Nullable Totals previous, long head) {
        long seq = row.number(0);
        String id = row.nullableText(2);
        Totals place = place(row.text(1));
        if (place == null || id == null) {
            add(Damage.Kind.SEQUENCE, seq, null, "message " + seq + " is missing");
            unsound.set((int) seq);
            return null;
        }
        if (seq == head) {
            headId = id;
        }
        boolean sound = !isUnsound(place.parent);
        ChatMessageType type = null;
        boolean isMarked = false;
        try {
            LoggedMessage read = Contents.message(key, seq, id, null, place.tokens, row.text(3), row.nullableText(4));
            isMarked = Outcome.UNREADABLE.equals(read.outcome());
            type = isMarked ? null : read.message().type();
        } catch (UnreadableDataException e) {
            unreadable.add(Long.toString(seq));
        }
        if (isMarked || type == null) {
            add(Damage.Kind.MESSAGE, seq, id, "the message cannot be read");
        }
        if (row.number(5) != seq) {
            add(Damage.Kind.SEQUENCE, seq, id, "the id of message " + seq + " leads elsewhere");
            sound = false;
        }
        if (place.parent >= seq || !place.continues(seq, parent(seq, place, previous), type)) {
            add(Damage.Kind.TREE, seq, id, "message " + seq + " does not continue its parent, message " + place.parent);
            sound = false;
        }
        if (sound) {
            newestSound = seq;
            newestSoundId = id;
        } else {
            unsound.set((int) seq);
        }
        return place;
    }

    /** Usually the message before it. */
    private @Nullable Totals parent(long seq, Totals place, @Nullable Totals previous) {
        if (place.parent == 0 || place.parent == seq - 1) {
            return place.parent == 0 ? null : previous;
        }
        List<Reply> row = raw(place.parent, place.parent);
        return row.isEmpty() ? null : place(row.get(0).text(1));
    }

    private static @Nullable Totals place(String text) {
        Matcher place = PLACE.matcher(text);
        return !place.matches()
                ? null
                : new Totals(
                        Long.parseLong(place.group(1)),
                        Long.parseLong(place.group(2)),
                        Long.parseLong(place.group(3)),
                        Long.parseLong(place.group(4)),
                        Long.parseLong(place.group(5)),
                        Long.parseLong(place.group(6)));
    }

    private void view(long seq, String text) {
        View view;
        try {
            view = Contents.view(key, seq, Long.toString(seq), text);
        } catch (UnreadableDataException e) {
            add(Damage.Kind.VIEW, seq, null, "the view cannot be read");
            badViews.add(Long.toString(seq));
            return;
        }
        boolean isGone = false;
        boolean isUnsound = isUnsound(seq);
        for (long named : sequences(List.copyOf(view.names()))) {
            isGone |= named == 0;
            isUnsound |= isUnsound(named);
        }
        if (isGone) {
            add(Damage.Kind.VIEW, seq, null, "the view names a missing message");
        }
        if (isGone || isUnsound) {
            badViews.add(Long.toString(seq));
        }
    }

    private void summary(Reply row) {
        String covers = null;
        try {
            covers = Contents.summary(key, row.number(0), row.text(1)).coversUpTo();
        } catch (UnreadableDataException e) {
            add(Damage.Kind.SUMMARY, null, null, "version " + row.number(0) + " of the summary cannot be read");
        }
        if (covers != null && sequences(List.of(covers)).contains(0L)) {
            add(Damage.Kind.SUMMARY, null, covers, "the summary covers up to a missing message");
        }
    }

    private List<Long> sequences(List<String> ids) {
        return memory.apply(new Request("sequences")
                        .with("ids", ids.stream().map(Text::id).toList()))
                .numbers();
    }

    private boolean isUnsound(long seq) {
        return seq > 0 && unsound.get((int) seq);
    }

    private void add(Damage.Kind kind, @Nullable Long seq, @Nullable String id, String problem) {
        if (damage.size() < Damage.MAX_REPORTED) {
            damage.add(new Damage(kind, seq, id, problem));
        }
    }

    /** Returns null if the memory was changed meanwhile. */
    @Nullable
    Repair repair() {
        Reply beside = beside();
        check(beside);
        long head = beside.number(3);
        boolean movesHead = head > 0 && (isUnsound(head) || headId == null);
        String after = movesHead ? newestSoundId : headId;
        if (movesHead || !unreadable.isEmpty() || !badViews.isEmpty() || !badNames.isEmpty()) {
            Request request = new Request("repair")
                    .with("epoch", beside.number(0))
                    .with("revision", beside.number(1))
                    .with("count", beside.number(2))
                    .with("head", movesHead ? (Long) newestSound : null)
                    .with("mark", NotesText.of(Outcome.UNREADABLE))
                    .with("unreadable", unreadable)
                    .with("views", badViews)
                    .with("names", badNames);
            if (!memory.apply(request).is("done")) {
                return null;
            }
        }
        return new Repair(List.copyOf(damage), headId, after, badViews.size(), 0, badNames.size());
    }
}

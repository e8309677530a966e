package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.backend.Entry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Sorts messages of other programs so that each parent comes before its children. Messages that are already in such an
 * order keep it. If parents form a cycle, the first message of the cycle becomes its beginning.
 */
final class ParentsFirst {

    private final List<Entry> entries;
    private final Map<String, Integer> places = new HashMap<>();
    private final boolean[] placed;
    private final List<Entry> sorted;

    private ParentsFirst(List<Entry> entries) {
        this.entries = entries;
        this.placed = new boolean[entries.size()];
        this.sorted = new ArrayList<>(entries.size());
        for (int i = 0; i < entries.size(); i++) {
            places.put(entries.get(i).id(), i);
        }
    }

    static List<Entry> sorted(List<Entry> entries) {
        ParentsFirst work = new ParentsFirst(entries);
        for (int i = 0; i < entries.size(); i++) {
            Integer parent = work.parent(i);
            if (parent == null || work.placed[parent]) {
                work.add(i);
            } else {
                work.place(i);
            }
        }
        return work.sorted;
    }

    /** Places an entry behind its waiting ancestors. A chain of ancestors may be as long as the list. */
    private void place(int entry) {
        Deque<Integer> waiting = new ArrayDeque<>();
        Set<Integer> chain = new HashSet<>();
        for (Integer at = entry; at != null && !placed[at]; at = parent(at)) {
            if (!chain.add(at)) {
                openCircle(waiting, at);
                break;
            }
            waiting.push(at);
        }
        waiting.forEach(this::add);
    }

    private void add(int entry) {
        if (!placed[entry]) {
            placed[entry] = true;
            sorted.add(entries.get(entry));
        }
    }

    /** Of a cycle, only the messages behind its first one keep waiting. */
    private static void openCircle(Deque<Integer> waiting, int begin) {
        int first = waiting.stream()
                .mapToInt(Integer::intValue)
                .takeWhile(at -> at != begin)
                .reduce(begin, Math::min);
        while (waiting.element() != first) {
            waiting.pop();
        }
    }

    private @Nullable Integer parent(int entry) {
        String parent = entries.get(entry).parentId();
        return parent == null ? null : places.get(parent);
    }
}

package io.github.keepsake4j.memories;

import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks which memories belong to the messages that were read of a conversation. Usually these messages and earlier
 * results are sufficient: the ancestors of a message never change, so a result for a message is also valid for the
 * messages behind it. Otherwise the log is read. Thread-safe.
 *
 * <p>While a view is in force, such as after {@code clear()}, a memory must belong to messages behind the view or in
 * it, so that no hidden text is shown.
 */
final class BranchFilter {

    private static final int CONVERSATIONS = 1_000;

    private final Function<MemoryKey, MessageLog> logs;
    private final RecentlyUsed<MemoryKey, Known> known = new RecentlyUsed<>(CONVERSATIONS);

    /**
     * The known results about the last messages of memories.
     *
     * @param epoch the epoch in which it holds
     * @param end the newest message of the branch for which it holds
     * @param on those on the branch
     * @param off the messages that are not on it and are older than its end
     * @param firsts the sequences of the first messages of memories
     */
    private record Known(long epoch, String end, Set<String> on, Set<String> off, Map<String, Long> firsts) {}

    BranchFilter(Function<MemoryKey, MessageLog> logs) {
        this.logs = logs;
    }

    /** Returns the memories of an overview that belong to the messages that were read, with the summary first. */
    List<MadeMemory> of(MemoryKey key, Tail tail, Overview overview) {
        Optional<LoggedMessage> end = tail.messages().stream().max(Comparator.comparingLong(LoggedMessage::sequence));
        if (end.isEmpty()) {
            // If no message is shown, no memory is: the conversation was erased or cleared, or has not begun.
            return List.of();
        }
        Look look = new Look(key, tail, end.get().id());
        List<MadeMemory> shown = new ArrayList<>();
        for (MadeMemory.Kind kind : List.of(MadeMemory.Kind.CHUNK, MadeMemory.Kind.FACT)) {
            List<MadeMemory> memories = overview.memories().stream()
                    .filter(memory -> memory.kind() == kind)
                    .toList();
            List<MadeMemory> path = memories.stream()
                    .filter(memory -> !overview.byHand().contains(memory.id()))
                    .toList();
            look.upToNewest(path);
            memories.stream().filter(look::isShown).forEach(shown::add);
            MadeMemory summary = overview.summary();
            if (kind == MadeMemory.Kind.CHUNK && summary != null && look.isSummaryShown(summary, path)) {
                shown.add(0, summary);
            }
        }
        known.put(key, look.known());
        return shown;
    }

    /** One check of the messages that were read. */
    private final class Look {

        private final MemoryKey key;
        private final Tail tail;
        private final String end;
        private final Set<String> read = new HashSet<>();
        private final Set<String> on = new HashSet<>();
        private final Set<String> off = new HashSet<>();
        private final Set<String> knownOn;
        private final Set<String> knownOff;
        private final Map<String, Long> firsts = new HashMap<>();
        private final @Nullable Known before;

        Look(MemoryKey key, Tail tail, String end) {
            this.key = key;
            this.tail = tail;
            this.end = end;
            Stream.concat(tail.messages().stream(), tail.oldest().stream()).forEach(message -> read.add(message.id()));
            Known last = known.get(key);
            before = last != null && last.epoch() == tail.epoch() ? last : null;
            if (before == null) {
                knownOn = Set.of();
                knownOff = Set.of();
                return;
            }
            boolean isBehind = read.contains(before.end())
                    || before.end().equals(tail.messages().get(0).parentId());
            knownOn = isBehind ? before.on() : Set.of();
            knownOff = isBehind ? before.off() : Set.of();
            firsts.putAll(before.firsts());
        }

        /** A view may show messages of any branch, so its results are not valid for other reads. */
        Known known() {
            if (tail.view() == null) {
                return new Known(tail.epoch(), end, Set.copyOf(on), Set.copyOf(off), Map.of());
            }
            return before == null
                    ? new Known(tail.epoch(), end, Set.of(), Set.of(), Map.copyOf(firsts))
                    : new Known(before.epoch(), before.end(), before.on(), before.off(), Map.copyOf(firsts));
        }

        /**
         * Checks memories whose passages follow one another. All passages before one on the branch are on the branch
         * too.
         */
        void upToNewest(List<MadeMemory> path) {
            List<String> lasts = path.stream()
                    .map(memory -> memory.source().lastMessageId())
                    .filter(Objects::nonNull)
                    .toList();
            if (lasts.isEmpty()) {
                return;
            }
            // Usually it is the newest one. Otherwise the branch leaves the path at an earlier passage.
            int onPath = isOn(lasts.get(lasts.size() - 1)) ? lasts.size() : 0;
            int offPath = onPath == 0 ? lasts.size() : onPath;
            while (onPath < offPath - 1) {
                int middle = (onPath + offPath) / 2;
                if (isOn(lasts.get(middle - 1))) {
                    onPath = middle;
                } else {
                    offPath = middle;
                }
            }
            on.addAll(lasts.subList(0, onPath));
            off.addAll(lasts.subList(onPath, lasts.size()));
        }

        boolean isShown(MadeMemory memory) {
            String last = memory.source().lastMessageId();
            return last == null || (isOn(last) && isVisible(memory));
        }

        /** A summary covers all messages before its end. */
        boolean isSummaryShown(MadeMemory summary, List<MadeMemory> path) {
            if (tail.view() != null) {
                return false;
            }
            String last = summary.source().lastMessageId();
            String newest =
                    path.isEmpty() ? null : path.get(path.size() - 1).source().lastMessageId();
            return last == null || (newest != null && on.contains(newest)) || isOn(last);
        }

        private boolean isOn(String last) {
            if (on.contains(last) || off.contains(last)) {
                return on.contains(last);
            }
            boolean isOn = read.contains(last) || knownOn.contains(last) || (!isKnownOff(last) && asked(last));
            (isOn ? on : off).add(last);
            return isOn;
        }

        private boolean isKnownOff(String last) {
            boolean isWhole =
                    tail.complete() && tail.view() == null && tail.summary() == null && tail.missingParent() == null;
            return isWhole || knownOff.contains(last);
        }

        private boolean asked(String last) {
            try {
                logs.apply(key).read(key, ReadQuery.newest(1).endingIn(end).after(last));
                return true;
            } catch (UnknownMessageException e) {
                // It is on another branch, or the conversation was erased.
                return false;
            }
        }

        private boolean isVisible(MadeMemory memory) {
            View view = tail.view();
            List<String> ids = memory.source().messageIds();
            if (view == null || read.containsAll(ids)) {
                return true;
            }
            Long first = firsts.get(ids.get(0));
            if (first == null) {
                first = Reads.message(logs.apply(key), key, ids.get(0))
                        .map(LoggedMessage::sequence)
                        .orElse(0L);
                firsts.put(ids.get(0), first);
            }
            return first > view.anchorSequence();
        }
    }
}

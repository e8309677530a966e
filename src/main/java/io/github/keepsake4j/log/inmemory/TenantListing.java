package io.github.keepsake4j.log.inmemory;

import io.github.keepsake4j.backend.ActivityCursor;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The memories of one tenant, numbered in order of creation, and in order of activity. A number is a cursor that stays
 * valid.
 */
final class TenantListing {

    private final AtomicLong last = new AtomicLong();
    private final ConcurrentNavigableMap<Long, StoredMemory> memories = new ConcurrentSkipListMap<>();
    private final ConcurrentNavigableMap<ActivityCursor, StoredMemory> active = new ConcurrentSkipListMap<>();

    /** Adds a memory and returns its place. */
    ActivityCursor add(StoredMemory memory, Instant activeAt) {
        ActivityCursor place = new ActivityCursor(activeAt, last.incrementAndGet());
        memories.put(place.number(), memory);
        active.put(place, memory);
        return place;
    }

    /** Moves a memory to another time and returns its new place. */
    ActivityCursor move(StoredMemory memory, ActivityCursor from, Instant activeAt) {
        ActivityCursor place = new ActivityCursor(activeAt, from.number());
        active.put(place, memory);
        active.remove(from);
        return place;
    }

    /** Removes a memory. It has no place then. */
    @Nullable
    ActivityCursor remove(ActivityCursor place) {
        memories.remove(place.number());
        active.remove(place);
        return null;
    }

    MemoryPage page(ListQuery query) {
        return query.activeFirst()
                ? page(
                        query,
                        active.headMap(ActivityCursor.of(query), false),
                        StoredMemory::listedAs,
                        ActivityCursor::cursor)
                : page(query, memories.headMap(query.cursorAsNumber(), false), StoredMemory::listedAs, String::valueOf);
    }

    private static <P> MemoryPage page(
            ListQuery query,
            ConcurrentNavigableMap<P, StoredMemory> below,
            BiFunction<StoredMemory, P, Optional<MemoryInfo>> listedAs,
            Function<P, String> cursor) {
        List<MemoryInfo> page = new ArrayList<>();
        List<DailyUsage> usage = new ArrayList<>();
        P edge = null;
        for (Map.Entry<P, StoredMemory> entry : below.descendingMap().entrySet()) {
            Optional<MemoryInfo> info = listedAs.apply(entry.getValue(), entry.getKey());
            List<DailyUsage> used = query.usage() == null ? List.of() : usage(entry.getValue(), query.usage());
            if (info.filter(query::matches).isEmpty() || (query.usage() != null && used.isEmpty())) {
                continue;
            }
            if (edge != null && page.size() == query.limit()) {
                return new MemoryPage(
                        query.ordered(page), List.of(), usage, Optional.of(query.startingAt(cursor.apply(edge))));
            }
            page.add(info.get());
            usage.addAll(used);
            edge = entry.getKey();
        }
        return new MemoryPage(query.ordered(page), List.of(), usage, Optional.empty());
    }

    private static List<DailyUsage> usage(StoredMemory memory, ListQuery.Days days) {
        return memory.read(tree -> tree.usage(days.from(), days.toExclusive()));
    }
}

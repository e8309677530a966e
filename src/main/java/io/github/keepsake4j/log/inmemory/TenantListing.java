package io.github.keepsake4j.log.inmemory;

import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/** The memories of one tenant, numbered in order of creation. A number is a cursor that stays valid. */
final class TenantListing {

    private final AtomicLong last = new AtomicLong();
    private final ConcurrentNavigableMap<Long, StoredMemory> memories = new ConcurrentSkipListMap<>();

    long add(StoredMemory memory) {
        long number = last.incrementAndGet();
        memories.put(number, memory);
        return number;
    }

    void remove(long number) {
        memories.remove(number);
    }

    List<DailyUsage> usage(LocalDate from, LocalDate toExclusive) {
        return memories.values().stream()
                .flatMap(memory -> memory.read(tree -> tree.usage(from, toExclusive)).stream())
                .sorted(Comparator.comparing(DailyUsage::day))
                .toList();
    }

    MemoryPage page(ListQuery query) {
        List<MemoryInfo> page = new ArrayList<>();
        long edge = 0;
        for (Map.Entry<Long, StoredMemory> entry :
                memories.headMap(query.cursorAsNumber(), false).descendingMap().entrySet()) {
            Optional<MemoryInfo> info = entry.getValue().listedAs(entry.getKey());
            if (info.isEmpty()) {
                continue;
            }
            if (page.size() == query.limit()) {
                return new MemoryPage(page, Optional.of(new ListQuery(query.limit(), Long.toString(edge))));
            }
            page.add(info.get());
            edge = entry.getKey();
        }
        return new MemoryPage(page, Optional.empty());
    }
}

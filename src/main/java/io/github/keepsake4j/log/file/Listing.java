package io.github.keepsake4j.log.file;

import io.github.keepsake4j.backend.ActivityCursor;
import io.github.keepsake4j.backend.AppendRules;
import io.github.keepsake4j.backend.MemoryTree;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryPage.Damaged;
import io.github.keepsake4j.log.MemoryTooLargeException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Creates the pages of a tenant's list. Reads the first line and the end of each memory. */
record Listing(FileMessageLog log, Path directory, TenantList list, Map<String, Names> files, Disk.Opener opener) {

    /** The time by which a file may be older than its newest message, since the system's clock for files is coarse. */
    private static final Duration COARSE = Duration.ofMillis(20);

    /** One memory of a page: its entry, or the reason why it cannot be read. */
    private record Listed(
            ActivityCursor place, @Nullable MemoryInfo info, @Nullable Damaged damaged, List<DailyUsage> usage) {}

    /** A file that a list names, and the time when it was last written. */
    private record Candidate(long number, String hash, @Nullable Names names, Instant writtenAt) {}

    MemoryPage page(ListQuery query) throws IOException {
        return query.activeFirst() ? byActivity(query) : byCreation(query);
    }

    private MemoryPage byCreation(ListQuery query) throws IOException {
        List<Listed> page = new ArrayList<>();
        for (Map.Entry<Long, String> entry : list.before(query.cursorAsNumber()).entrySet()) {
            Listed shown = shown(candidate(entry.getKey(), entry.getValue()), query);
            if (shown != null) {
                page.add(shown);
            }
            if (page.size() > query.limit()) {
                break;
            }
        }
        return page(query, page, shown -> Long.toString(shown.place().number()));
    }

    /**
     * A file is at least as new as its newest message. So the files are opened from the newest on, until a page of
     * memories is more active than all remaining ones can be.
     */
    private MemoryPage byActivity(ListQuery query) throws IOException {
        ActivityCursor first = ActivityCursor.of(query);
        List<Candidate> candidates = new ArrayList<>();
        for (Map.Entry<Long, String> entry : list.before(Long.MAX_VALUE).entrySet()) {
            candidates.add(candidate(entry.getKey(), entry.getValue()));
        }
        candidates.sort(Comparator.comparing(Candidate::writtenAt).reversed());
        PriorityQueue<Listed> best = new PriorityQueue<>(Comparator.comparing(Listed::place));
        for (Candidate candidate : candidates) {
            if (best.size() > query.limit()
                    && candidate.writtenAt().isBefore(CachedMemory.LATEST_TIME)
                    && candidate
                            .writtenAt()
                            .plus(COARSE)
                            .isBefore(best.element().place().activeAt())) {
                break;
            }
            Listed shown = shown(candidate, query);
            if (shown != null && shown.place().compareTo(first) < 0) {
                best.add(shown);
                if (best.size() > query.limit() + 1) {
                    best.remove();
                }
            }
        }
        List<Listed> page = new ArrayList<>(best);
        page.sort(Comparator.comparing(Listed::place).reversed());
        return page(query, page, shown -> shown.place().cursor());
    }

    private static MemoryPage page(ListQuery query, List<Listed> found, Function<Listed, String> cursor) {
        List<Listed> page = found.subList(0, Math.min(found.size(), query.limit()));
        List<MemoryInfo> infos =
                page.stream().map(Listed::info).flatMap(Stream::ofNullable).toList();
        return new MemoryPage(
                query.ordered(infos),
                page.stream().map(Listed::damaged).flatMap(Stream::ofNullable).toList(),
                page.stream().flatMap(shown -> shown.usage().stream()).toList(),
                found.size() > page.size()
                        ? Optional.of(query.startingAt(cursor.apply(page.get(page.size() - 1))))
                        : Optional.empty());
    }

    private Candidate candidate(long number, String hash) throws IOException {
        Names names = files.get(hash);
        try {
            Instant writtenAt = names == null
                    ? Instant.EPOCH
                    : Files.getLastModifiedTime(names.data()).toInstant();
            return new Candidate(number, hash, names, writtenAt);
        } catch (NoSuchFileException e) {
            // It was erased meanwhile.
            return new Candidate(number, hash, null, Instant.EPOCH);
        }
    }

    /**
     * Returns the entry of a memory, or null if it was erased, or the query does not ask for it. A memory that cannot be
     * read does not hide the others.
     */
    private @Nullable Listed shown(Candidate candidate, ListQuery query) throws IOException {
        ListQuery.Days days = query.usage();
        Names names = candidate.names();
        if (names == null) {
            return query.metadata() == null ? removed(candidate) : null;
        }
        try {
            List<DailyUsage> usage = days == null ? List.of() : usage(names, days);
            MemoryInfo info = days != null && usage.isEmpty() ? null : info(names);
            if (info == null || !query.matches(info)) {
                return null;
            }
            Instant last = info.lastMessageAt();
            return new Listed(
                    new ActivityCursor(last == null ? info.storedAt() : last, candidate.number()), info, null, usage);
        } catch (UnreadableDataException | MemoryTooLargeException e) {
            // Its metadata are unknown, so a list by metadata does not name it.
            Path file = directory.getFileName().resolve(names.data().getFileName());
            return query.metadata() == null
                    ? damaged(candidate, file.toString(), String.valueOf(e.getMessage()))
                    : null;
        } catch (FileNotFoundException e) {
            return query.metadata() == null ? removed(candidate) : null;
        }
    }

    private @Nullable Listed removed(Candidate candidate) throws IOException {
        return isRemoved(candidate.hash()) ? damaged(candidate, candidate.hash(), "its file was removed") : null;
    }

    /** Returns whether a memory whose file is missing was neither erased nor interrupted during its creation. */
    private boolean isRemoved(String hash) throws IOException {
        return !Files.exists(directory.resolve(hash + Names.TOMBSTONE))
                && !Names.in(directory, Names.DATA + ".new").containsKey(hash)
                && !Names.in(directory).containsKey(hash)
                && list.refresh()
                && list.has(hash);
    }

    private List<DailyUsage> usage(Names names, ListQuery.Days days) throws IOException {
        return hasMessagesSince(names, days.from())
                ? ask(names, tree -> tree.usage(days.from(), days.toExclusive()))
                        .orElse(List.of())
                : List.of();
    }

    private boolean hasMessagesSince(Names names, LocalDate day) throws IOException {
        try (Disk data = opener.open(names.data())) {
            Totals totals = Totals.last(data);
            return totals == null
                    || (totals.last() != null && !AppendRules.day(totals.last()).isBefore(day));
        } catch (FileNotFoundException e) {
            return false;
        }
    }

    private static Listed damaged(Candidate candidate, String name, String problem) {
        return new Listed(
                new ActivityCursor(candidate.writtenAt(), candidate.number()),
                null,
                new Damaged(name, null, problem),
                List.of());
    }

    private @Nullable MemoryInfo info(Names names) throws IOException {
        try (Disk data = opener.open(names.data())) {
            Header header = CachedMemory.header(names, data);
            Totals totals = Totals.last(data);
            if (totals != null) {
                return totals.info(header, data);
            }
        } catch (BadLineException e) {
            // The title is not at the place that the end names, so the file must be read.
        }
        return ask(names, MemoryTree::info).flatMap(Function.identity()).orElse(null);
    }

    /** Reads from a memory; empty if it no longer has a file. */
    private <T> Optional<T> ask(Names names, Function<MemoryTree, T> question) throws IOException {
        return log.askFile(names, "memory " + names.hash(), question);
    }
}

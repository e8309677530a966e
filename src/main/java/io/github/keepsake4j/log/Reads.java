package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Short forms of common calls. Each is one call of the log, except {@link #onBranch}, {@link #usage} and {@link #erase}. */
public final class Reads {

    private static final Logger LOG = LoggerFactory.getLogger(Reads.class);

    /** How many messages are read at once on the way back to the current branch. */
    private static final int BACK = 200;

    private Reads() {}

    /**
     * Finds out which messages are before a place. It is one call for the head, two for a place on the current branch, and
     * two for each {@value #BACK} messages behind the one where another branch leaves it.
     *
     * @param log the log
     * @param key the memory
     * @param end the place: the head, a beginning, or the message before it
     * @param sequences sequences of messages
     * @return those of the messages that are before the place; empty if the memory does not have the place any longer
     */
    public static Set<Long> onBranch(MessageLog log, MemoryKey key, Parent end, Collection<Long> sequences) {
        if (end instanceof Parent.Head) {
            return log.onBranch(key, sequences);
        }
        long lowest = sequences.stream().reduce(Long.MAX_VALUE, Math::min);
        Set<Long> before = new HashSet<>();
        String last = end instanceof Parent.Of of ? of.id() : null;
        for (int most = 1; last != null; most = BACK) {
            List<LoggedMessage> read = endingIn(log, key, last, most);
            Set<Long> places = read.stream().map(LoggedMessage::sequence).collect(Collectors.toSet());
            before.addAll(places);
            Set<Long> current = log.onBranch(
                    key, Stream.concat(sequences.stream(), places.stream()).toList());
            long meeting = places.stream().filter(current::contains).reduce(0L, Math::max);
            current.stream().filter(place -> place <= meeting).forEach(before::add);
            boolean isDone = read.isEmpty() || meeting > 0 || read.get(0).sequence() < lowest;
            last = isDone ? null : read.get(0).parentId();
        }
        before.retainAll(Set.copyOf(sequences));
        return before;
    }

    private static List<LoggedMessage> endingIn(MessageLog log, MemoryKey key, String id, int most) {
        try {
            return log.read(key, ReadQuery.newest(most).endingIn(id)).messages();
        } catch (UnknownMessageException e) {
            // The memory was erased meanwhile.
            return List.of();
        }
    }

    /**
     * Finds messages of one memory by their ids.
     *
     * @param log the log
     * @param key the memory
     * @param ids the ids
     * @return the messages that exist, in order of sequence
     */
    public static List<LoggedMessage> messages(MessageLog log, MemoryKey key, Collection<String> ids) {
        return found(log, key, Selection.ofIds(Map.of(key, ids))).stream()
                .map(Found::message)
                .toList();
    }

    /**
     * Finds a message by its id.
     *
     * @param log the log
     * @param key the memory
     * @param id the id
     * @return the message, or empty if it does not exist
     */
    public static Optional<LoggedMessage> message(MessageLog log, MemoryKey key, String id) {
        return messages(log, key, List.of(id)).stream().findFirst();
    }

    /**
     * Reads how messages of one memory were made.
     *
     * @param log the log
     * @param key the memory
     * @param ids the messages' ids
     * @return for each id, the notes, or {@link Made#NOTHING} if there are none
     * @throws UnknownMessageException if a message is not in the memory
     */
    public static Map<String, Made> made(MessageLog log, MemoryKey key, Collection<String> ids) {
        Map<String, Made> made = new HashMap<>();
        for (Found found : found(log, key, Selection.ofIds(Map.of(key, ids)).withMade())) {
            made.put(found.message().id(), found.made() == null ? Made.NOTHING : found.made());
        }
        for (String id : ids) {
            if (!made.containsKey(id)) {
                throw UnknownMessageException.notThere(key, "messageId", id);
            }
        }
        return made;
    }

    private static List<Found> found(MessageLog log, MemoryKey key, Selection selection) {
        return log.find(selection).getOrDefault(key, List.of());
    }

    /**
     * Reads the entry of one memory in a list.
     *
     * @param log the log
     * @param key the memory
     * @return the entry, or null if the memory was never written or was erased
     */
    public static @Nullable MemoryInfo info(MessageLog log, MemoryKey key) {
        return log.details(key, Set.of(MemoryDetails.Part.INFO)).info();
    }

    /**
     * Reads the position of a memory.
     *
     * @param log the log
     * @param key the memory
     * @return the head, the epoch and the revision
     */
    public static Position position(MessageLog log, MemoryKey key) {
        return log.read(key, ReadQuery.newest(0)).position();
    }

    /**
     * Returns whether a memory is in a log.
     *
     * @param log the log
     * @param key the memory
     * @return whether it exists; it may be damaged
     */
    public static boolean isThere(MessageLog log, MemoryKey key) {
        try {
            return info(log, key) != null;
        } catch (UnreadableDataException e) {
            // A damaged memory exists. A check reports the damage.
            return true;
        }
    }

    /**
     * Erases a memory. If several calls erase it at the same time, one of them returns true.
     *
     * @param log the log
     * @param key the memory
     * @return whether it existed and this call erased it
     */
    public static boolean erase(MessageLog log, MemoryKey key) {
        Long epoch = null;
        try {
            // First, so that an erasure after this read is noticed.
            epoch = position(log, key).epoch();
        } catch (UnreadableDataException e) {
            // A damaged memory is erased too. Whether another call does it at the same time is not known.
        }
        boolean isThere = isThere(log, key);
        long erased = log.erase(key);
        return isThere && (epoch == null || erased == epoch + 1);
    }

    /**
     * Lists the memories of a tenant, page by page.
     *
     * @param log the log
     * @param tenant the tenant's id
     * @param first asks for the first page
     * @return the pages; each is read when it is requested
     */
    public static Iterable<MemoryPage> pages(MessageLog log, String tenant, ListQuery first) {
        return () -> Stream.iterate(log.list(tenant, first), Objects::nonNull, page -> page.next()
                        .map(next -> log.list(tenant, next))
                        .orElse(null))
                .iterator();
    }

    /**
     * Reads all summaries of a memory, including those that newer ones have replaced.
     *
     * @param log the log
     * @param key the memory
     * @return the summaries, in the order in which they were stored
     */
    public static List<Summary> summaries(MessageLog log, MemoryKey key) {
        return log.details(key, Set.of(MemoryDetails.Part.SUMMARIES)).summaries();
    }

    /**
     * Reads how many tokens the answers of a tenant's memories used, page by page. A memory that cannot be read is left out,
     * with a warning.
     *
     * @param log the log
     * @param tenant the tenant's id
     * @param from the first day, in UTC
     * @param toExclusive the day after the last day
     * @return one sum for each memory and day with usage, in order of days; in no particular order within a day
     * @throws InvalidInputException if the id breaks a rule, or the days are in the wrong order
     */
    public static List<DailyUsage> usage(MessageLog log, String tenant, LocalDate from, LocalDate toExclusive) {
        List<DailyUsage> usage = new ArrayList<>();
        ListQuery first = ListQuery.first(ListQuery.MAX_LIMIT).withUsage(from, toExclusive);
        for (MemoryPage page : pages(log, tenant, first)) {
            usage.addAll(page.usage());
            page.damaged()
                    .forEach(memory ->
                            LOG.warn("Memory {} cannot be read, so its tokens are not counted", memory.name()));
        }
        usage.sort(Comparator.comparing(DailyUsage::day));
        return List.copyOf(usage);
    }
}

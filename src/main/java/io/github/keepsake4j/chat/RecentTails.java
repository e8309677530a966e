package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.codec.KeptMessage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.view.ViewReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A cache of the newest parts of branches that were read recently. The next read of such a branch reads only its newest
 * messages, if they follow the cached ones: messages do not change, and a {@link Position} shows whether there were
 * only appends. So each read costs one statement, as without the cache, but returns only a few messages: those that this
 * process has appended and the one before them, as long as no other one appends. They are read and not taken from the append, because only the
 * log knows what it has stored. Bounded by the length of the texts, so it never fills the heap. Thread-safe.
 */
final class RecentTails {

    /** The least number of messages of a read if others may have appended: a turn with some tools. */
    private static final int FEWEST = 10;

    /** The number of messages to read, as a multiple of the new messages of the last read. */
    private static final int MARGIN = 2;

    private final RecentlyUsed<MemoryKey, Kept> tails = new RecentlyUsed<>(KeptMessage.ROOM, Kept::size);

    /**
     * Reads as {@link ViewReader#read} does.
     *
     * @param log where to read
     * @param key the memory
     * @param query the bounds
     * @return the result of that method, with new instances of messages
     */
    Tail read(MessageLog log, MemoryKey key, ReadQuery query) {
        if (!isServed(query)) {
            return ViewReader.read(log, key, query);
        }
        Kept kept = tails.get(key);
        int own = kept == null ? 0 : kept.own.get();
        if (kept != null && kept.mayServe(query, own)) {
            Tail newest = log.read(key, query.atMost(kept.next(own)));
            Kept longer = kept.followedBy(newest, query, own);
            if (longer != null) {
                tails.put(key, longer);
                return longer.given(newest);
            }
        }
        Tail tail = ViewReader.read(log, key, query);
        Kept read = tail.view() == null ? Kept.of(tail, kept, own) : null;
        if (read != null) {
            tails.put(key, read);
        } else {
            tails.remove(key);
        }
        return tail;
    }

    /** Records that this process has appended messages. This only decides how many the next read requests. */
    void appended(MemoryKey key, int messages) {
        Kept kept = tails.get(key);
        if (kept != null) {
            kept.own.addAndGet(messages);
        }
    }

    private static boolean isServed(ReadQuery query) {
        // In a small window, nearly all messages are new, so a cache has no benefit.
        return query.maxMessages() / MARGIN >= FEWEST
                && query.from() == null
                && query.after() == null
                && query.reference() == null
                && query.oldest() == 0;
    }

    /** Returns the index at which a read within bounds begins, out of messages with these tokens. */
    static int begin(int size, IntToLongFunction tokens, ReadQuery query) {
        int from = size;
        long sum = 0;
        while (from > 0 && size - from < query.maxMessages() && sum < query.maxTokens()) {
            sum += tokens.applyAsLong(--from);
        }
        return from;
    }

    /**
     * A message.
     *
     * @param row all but the message itself
     * @param message the message
     */
    private record Entry(LoggedMessage row, KeptMessage message) {

        /** Replaces the message, which a caller has. */
        private static final ChatMessage NONE = SystemMessage.from("kept");

        static Entry of(LoggedMessage logged) {
            return new Entry(logged.withMessage(NONE), KeptMessage.of(logged.message()));
        }

        static boolean areOf(List<LoggedMessage> messages) {
            return messages.stream().map(LoggedMessage::message).allMatch(KeptMessage::canKeep);
        }

        /** Returns whether this still equals the log. */
        boolean isOf(LoggedMessage logged) {
            return row.equals(logged.withMessage(NONE)) && message.isOf(logged.message());
        }

        long size() {
            int asked = row.asked() == null ? 0 : 2 * row.asked().text().length();
            return message.size() + row.id().length() + asked;
        }

        LoggedMessage given() {
            return row.withMessage(message.instance());
        }
    }

    /** A tail without a view. Not a record, because comparing two of them takes long. */
    private static final class Kept {

        private final Position position;
        private final List<Entry> entries;
        private final @Nullable Summary summary;
        private final boolean complete;
        private final @Nullable String missingParent;
        private final long tokens;
        private final long size;

        /** How many messages this process has appended since. */
        private final AtomicInteger own = new AtomicInteger();

        /** How many messages were new when this was read, or -1 if no other process has appended any so far. */
        private final int added;

        Kept(Tail of, List<Entry> entries, boolean complete, @Nullable String missingParent, int added) {
            this.position = of.position();
            this.entries = entries;
            this.summary = of.summary();
            this.complete = complete;
            this.missingParent = missingParent;
            long sum = 0;
            long length = summary == null ? 0 : summary.text().length();
            for (Entry entry : entries) {
                sum += entry.row().tokens();
                length += entry.size();
            }
            this.tokens = sum;
            this.size = Math.max(KeptMessage.LEAST_ROOM, length);
            this.added = added;
        }

        /** Returns how many messages were new in a read, or -1 if this process has appended all that ever were. */
        private static int added(@Nullable Kept before, int found, int own) {
            boolean isAlone = before == null || (before.added < 0 && found <= own);
            return isAlone ? -1 : found;
        }

        /** Returns how many messages the next read requests. */
        int next(int appended) {
            return added < 0 && appended > 0 ? appended + 1 : Math.max(FEWEST, MARGIN * added);
        }

        /** Returns the cache entry for a whole read, or null if it cannot be cached. */
        static @Nullable Kept of(Tail tail, @Nullable Kept before, int own) {
            List<LoggedMessage> messages = tail.messages();
            if (messages.isEmpty() || !Entry.areOf(messages)) {
                return null;
            }
            List<Entry> entries = new ArrayList<>(messages.size());
            long length = 0;
            for (LoggedMessage message : messages) {
                Entry entry = Entry.of(message);
                entries.add(entry);
                length += entry.size();
                if (length > KeptMessage.ROOM) {
                    return null;
                }
            }
            int found = before == null ? 0 : messages.size() - ViewReader.behind(messages, before.position.head());
            return new Kept(tail, entries, tail.complete(), tail.missingParent(), added(before, found, own));
        }

        long size() {
            return size;
        }

        /** Returns whether the entry is sufficient for a read, and whether much less must be read. */
        boolean mayServe(ReadQuery query, int appended) {
            boolean isEnough = complete || entries.size() >= query.maxMessages() || tokens >= query.maxTokens();
            return isEnough && query.maxMessages() / MARGIN >= next(appended);
        }

        /**
         * Returns the cache entry after a read of the newest messages, as far back as a query reads, or null if the
         * messages are not sufficient.
         */
        @Nullable
        Kept followedBy(Tail newest, ReadQuery query, int appended) {
            // In the same revision there is no view either, unless a backup was restored.
            boolean isUnchanged = newest.view() == null
                    && newest.position().isSameRevision(position)
                    && Objects.equals(newest.summary(), summary);
            List<LoggedMessage> read = newest.messages();
            int begin = ViewReader.behind(read, position.head());
            if (!isUnchanged || begin < 0 || !Entry.areOf(read) || !endsWith(read.subList(0, begin))) {
                return null;
            }
            List<Entry> longer = new ArrayList<>(entries.size() + read.size() - begin);
            longer.addAll(entries);
            read.subList(begin, read.size()).forEach(message -> longer.add(Entry.of(message)));
            int first = begin(longer.size(), at -> longer.get(at).row().tokens(), query);
            List<Entry> within = first > 0 ? List.copyOf(longer.subList(first, longer.size())) : longer;
            return new Kept(
                    newest,
                    within,
                    complete && first == 0,
                    first > 0 ? null : missingParent,
                    added(this, read.size() - begin, appended));
        }

        /**
         * Returns whether the newest of the cached messages are these. After a restored backup, an equal position can
         * belong to other messages.
         */
        private boolean endsWith(List<LoggedMessage> messages) {
            int both = Math.min(entries.size(), messages.size());
            return IntStream.rangeClosed(1, both)
                    .allMatch(back -> entries.get(entries.size() - back).isOf(messages.get(messages.size() - back)));
        }

        /** Returns the tail that the read would have returned without the cache. */
        Tail given(Tail newest) {
            List<LoggedMessage> messages = new ArrayList<>(entries.size());
            entries.forEach(entry -> messages.add(entry.given()));
            return new Tail(
                    position,
                    messages,
                    List.of(),
                    among(messages, newest.system()),
                    among(messages, newest.user()),
                    null,
                    summary,
                    complete,
                    missingParent);
        }

        /** Returns the instance among the messages, if it is among them. */
        private static @Nullable LoggedMessage among(List<LoggedMessage> messages, @Nullable LoggedMessage one) {
            int at = one == null ? -1 : ViewReader.indexOf(messages, one.id());
            return at < 0 ? one : messages.get(at);
        }
    }
}

package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.ContextTurn;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports messages that leave the view to a listener. A named branch of the memory ends in the newest reported message;
 * it is moved after the listener returned. All work, including the selection of the next view, is done on the executor,
 * by at most one job for each branch of a memory. Thread-safe.
 */
final class LeavingMessages {

    /** The branch that marks how far was told. */
    static final String MARK = "keepsake.left";

    /** The maximum number of messages in one report. */
    static final int MOST = 200;

    /** The maximum number of branches whose progress is cached. */
    private static final int BRANCHES = 10_000;

    private static final Logger LOG = LoggerFactory.getLogger(LeavingMessages.class);

    private final Function<MemoryKey, MessageLog> logs;
    private final Executor executor;
    private final @Nullable LeavingViewListener listener;
    private final Map<BranchKey, Check> pending = new ConcurrentHashMap<>();
    private final RecentlyUsed<BranchKey, Told> told = new RecentlyUsed<>(BRANCHES);

    /** A branch of a memory; its name is null for the current one. */
    private record BranchKey(MemoryKey key, @Nullable String branch) {

        /** The name of the mark. Branches whose names are too long for separate marks share one. */
        String mark() {
            String name = branch == null ? MARK : MARK + " " + branch;
            return name.getBytes(StandardCharsets.UTF_8).length <= Ids.MAX_BYTES ? name : MARK;
        }
    }

    /** The messages of the next view. */
    private record Check(long epoch, Supplier<Context> next) {}

    /** The newest reported message in an epoch. */
    private record Told(long epoch, String newest) {}

    LeavingMessages(Function<MemoryKey, MessageLog> logs, Executor executor, @Nullable LeavingViewListener listener) {
        this.logs = logs;
        this.executor = executor;
        this.listener = listener;
    }

    /**
     * Reports the messages that the next view leaves out to the listener, in the background. Neither waits nor reads
     * nor throws.
     */
    void check(MemoryKey key, @Nullable String branch, Tail tail, Supplier<Context> next) {
        if (listener == null) {
            return;
        }
        BranchKey place = new BranchKey(key, branch);
        if (pending.put(place, new Check(tail.epoch(), next)) != null) {
            // A running job looks again at its end.
            return;
        }
        try {
            executor.execute(() -> work(listener, place));
        } catch (RuntimeException | Error e) {
            // It was shut down, which means that the application is ending. The next read checks again.
            pending.remove(place);
            LOG.debug("Memory {}: the executor refused to tell what left the view ({})", key, name(e));
        }
    }

    private void work(LeavingViewListener to, BranchKey place) {
        Check check;
        do {
            check = pending.get(place);
            if (check == null) {
                return;
            }
            try {
                tell(to, place, check);
            } catch (ErasedException | UnknownMessageException | StorageClosedException e) {
                LOG.debug("Memory {}: the messages that left the view no longer exist ({})", place.key(), name(e));
            } catch (RuntimeException e) {
                LOG.warn(
                        "Memory {}: messages that left the view could not be reported; they are reported after the "
                                + "next read ({})",
                        place.key(),
                        name(e));
            } catch (Error e) {
                pending.remove(place);
                throw e;
            }
        } while (!pending.remove(place, check));
    }

    /** An exception's message may contain text of the conversation. */
    private static String name(Throwable e) {
        return e.getClass().getName();
    }

    private void tell(LeavingViewListener to, BranchKey place, Check check) {
        String newest = newestLeft(check.next().get());
        if (newest == null || new Told(check.epoch(), newest).equals(told.get(place))) {
            return;
        }
        MessageLog log = logs.apply(place.key());
        Map<String, String> ends =
                log.details(place.key(), Set.of(MemoryDetails.Part.BRANCHES)).branches();
        String mark = ends.getOrDefault(place.mark(), ends.get(MARK));
        String before = mark == null ? null : commonAncestor(log, place.key(), newest, mark);
        if (!newest.equals(before)) {
            tell(to, place, check.epoch(), newest, before);
        }
        told.put(place, new Told(check.epoch(), newest));
    }

    /** Returns the message before the turns that are shown and not only pinned, or null if there is none. */
    private static @Nullable String newestLeft(Context next) {
        return next.turns().stream()
                .filter(turn -> turn.standing() != ContextTurn.Standing.BEGINNING
                        && !turn.cut().whole()
                        && !turn.messages().isEmpty())
                .map(ContextTurn::user)
                .min(Comparator.comparingLong(LoggedMessage::sequence))
                .map(LoggedMessage::parentId)
                .orElse(null);
    }

    /** Reports a part of a branch from its oldest message on, in pages, and marks each page. */
    private void tell(LeavingViewListener to, BranchKey place, long epoch, String newest, @Nullable String before) {
        MessageLog log = logs.apply(place.key());
        // Only the pages' ends are kept, since a branch without reports may be long.
        Deque<String> ends = new ArrayDeque<>();
        Tail page = null;
        for (String end = newest; end != null; ) {
            page = page(log, place.key(), end, before);
            ends.push(end);
            end = page.complete() || page.messages().isEmpty()
                    ? null
                    : page.messages().get(0).parentId();
        }
        while (!ends.isEmpty()) {
            String end = ends.pop();
            Tail next = page == null ? page(log, place.key(), end, before) : page;
            page = null;
            List<LoggedMessage> messages = next.messages().stream()
                    .filter(message -> message.message().type() != ChatMessageType.SYSTEM)
                    .toList();
            if (!messages.isEmpty()) {
                to.leaving(place.key(), messages);
            }
            log.change(place.key(), new Change.MoveBranch(place.mark(), end, epoch));
        }
    }

    private static Tail page(MessageLog log, MemoryKey key, String end, @Nullable String before) {
        return log.read(key, ReadQuery.newest(MOST).endingIn(end).after(before));
    }

    /** Returns the newest common message of two branches, or null if there is none. */
    private static @Nullable String commonAncestor(MessageLog log, MemoryKey key, String one, String other) {
        try {
            // Usually one branch continues from the reported messages.
            log.read(key, ReadQuery.newest(0).endingIn(one).after(other));
            return other;
        } catch (UnknownMessageException e) {
            Ancestors left = new Ancestors(log, key, one);
            Ancestors right = new Ancestors(log, key, other);
            LoggedMessage a = left.next();
            LoggedMessage b = right.next();
            while (a != null && b != null && !a.id().equals(b.id())) {
                if (a.sequence() > b.sequence()) {
                    a = left.next();
                } else {
                    b = right.next();
                }
            }
            return a == null || b == null ? null : a.id();
        }
    }

    /** A message and all before it on its branch, newest first, read in pages. */
    private static final class Ancestors {

        private final MessageLog log;
        private final MemoryKey key;
        private final Deque<LoggedMessage> page = new ArrayDeque<>();
        private @Nullable String next;

        Ancestors(MessageLog log, MemoryKey key, String newest) {
            this.log = log;
            this.key = key;
            this.next = newest;
        }

        @Nullable
        LoggedMessage next() {
            if (page.isEmpty() && next != null) {
                Tail read = page(log, key, next, null);
                read.messages().forEach(page::push);
                next = read.complete() || read.messages().isEmpty()
                        ? null
                        : read.messages().get(0).parentId();
            }
            return page.poll();
        }
    }
}

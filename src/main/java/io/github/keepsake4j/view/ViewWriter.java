package io.github.keepsake4j.view;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.base.KeyLocks;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.log.UnknownParentException;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.view.ListEdit.Item;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the log show a list that a caller sets, in one step. The step is a compare-and-set on the position that the
 * caller saw. If another writer was first, the list is compared again with the messages that the memory shows. Messages
 * that the caller did not know are kept behind the list. Messages that are appended under the head in the meantime
 * never prevent the step.
 *
 * <p>After a conflict, the threads of one writer set the list of a memory one after the other. Otherwise the thread that
 * was first knows the newest position, so it is first again and again, where a store makes writes wait for each other.
 * Thread-safe.
 */
public final class ViewWriter {

    private static final Logger LOG = LoggerFactory.getLogger(ViewWriter.class);

    /**
     * The maximum number of conflicts with other writers that set a list, move the head or branch between a read and
     * the step.
     */
    private static final int MAX_CONFLICTS = 100;

    /** The longest wait for the other threads that set the list of the same memory. One of them may wait for a server. */
    private static final Duration MAX_WAIT = Duration.ofSeconds(10);

    /** The number of messages that the read after a conflict requests beyond the list's size. */
    private static final int MARGIN = 32;

    private final Function<MemoryKey, MessageLog> logs;
    private final BiFunction<MemoryKey, Append, AppendResult> appender;
    private final BiFunction<MemoryKey, Tail, Tail> meter;
    private final Function<ChatMessage, NewMessage> prepare;
    private final HandedOut handedOut = new HandedOut();
    /**
     * The ids under which instances were stored or shown, to tell a caller the id of a message in hand. Unlike
     * {@link #handedOut}, they have no say in what a list means that a caller sets.
     */
    private final WeakInstances<Told> told = new WeakInstances<>();

    private final KeyLocks<MemoryKey> conflicting = new KeyLocks<>();

    private record Told(MemoryKey key, String id, int hash) {}

    /**
     * Creates a writer. Does no I/O.
     *
     * @param logs returns the log that keeps a memory
     * @param appender appends to that log
     * @param meter counts a read and returns it
     * @param prepare prepares a message for an append
     */
    public ViewWriter(
            Function<MemoryKey, MessageLog> logs,
            BiFunction<MemoryKey, Append, AppendResult> appender,
            BiFunction<MemoryKey, Tail, Tail> meter,
            Function<ChatMessage, NewMessage> prepare) {
        this.logs = logs;
        this.appender = appender;
        this.meter = meter;
        this.prepare = prepare;
    }

    /**
     * Records the messages that a read returns, so that a list with the same instances is recognized.
     *
     * @param key the memory
     * @param reading what the memory shows
     * @param messages the messages that the caller receives: the first ones of the reading
     */
    public void handOut(MemoryKey key, Reading reading, List<ChatMessage> messages) {
        handedOut.add(key, reading, messages);
    }

    /**
     * Returns whether an instance was returned by a read of a memory and is unchanged.
     *
     * @param key the memory
     * @param epoch the epoch in which it was returned
     * @param message the instance
     * @return whether it was returned and is unchanged
     */
    public boolean isHandedOut(MemoryKey key, long epoch, ChatMessage message) {
        return handedOut.holds(key, epoch, message);
    }

    /**
     * Records an instance that was stored, or that was shown to a caller that sets no lists, so that its id can be
     * returned.
     *
     * @param key the memory
     * @param message the instance
     * @param id the stored message's id
     */
    public void tellId(MemoryKey key, ChatMessage message, String id) {
        told.clean();
        Told newest = new Told(key, id, HandedOut.changeable(message));
        told.change(message, before -> Stream.concat(before.stream(), Stream.of(newest))
                .distinct()
                .toList());
    }

    /**
     * Returns the ids of the stored messages of an instance that a read returned, that was set, or that was appended.
     * There are several if the same instance was appended several times. The messages may have been erased since.
     *
     * @param key the memory
     * @param message the instance
     * @return the ids; empty if the instance is not known, or was changed in place
     */
    public Set<String> idsOf(MemoryKey key, ChatMessage message) {
        int hash = HandedOut.changeable(message);
        Set<String> found = new HashSet<>(handedOut.ids(key, message));
        told.get(message).stream()
                .filter(each -> each.key().equals(key) && each.hash() == hash)
                .forEach(each -> found.add(each.id()));
        return found;
    }

    /**
     * A list to set.
     *
     * @param messages the messages
     * @param keepsSummary whether the shown summary is kept
     * @param summary otherwise, the last message that the summary at the beginning of the list covers, or null for no
     * summary
     * @param epoch the epoch that the caller works in, or null for the one in force
     * @param current reads the messages that the memory shows, for a list without recognized instances
     * @param outbox the messages of the caller's last call, if that call failed
     */
    public record Request(
            List<ChatMessage> messages,
            boolean keepsSummary,
            @Nullable String summary,
            @Nullable Long epoch,
            Supplier<ShownView> current,
            Outbox outbox) {

        /** Leaves out the messages, so that the result may be logged. */
        @Override
        public String toString() {
            return "Request[messages=" + messages.size() + ", epoch=" + epoch + "]";
        }
    }

    /**
     * Sets the list that a memory shows.
     *
     * @param key the memory
     * @param request the list
     * @param seen what the caller has seen, or null for the newest read that returned a message of the list
     * @return what the caller has seen after this call
     * @throws ErasedException if the list contains messages from before an erasure
     * @throws StorageUnavailableException if other writers were first 100 times
     */
    public Reading set(MemoryKey key, Request request, @Nullable Reading seen) {
        try {
            return set(new Step(key, request, seen));
        } catch (ErasedException e) {
            if (seen != null || request.epoch() != null || !handedOut.forgetOwn(key, request.messages())) {
                throw e;
            }
            // An application's own messages, such as a constant, may begin the memory again.
            return set(new Step(key, request, null));
        }
    }

    private Reading set(Step step) {
        boolean waits = conflicting.isUsed(step.key);
        Reading done = waits ? null : step.asSeen();
        return done != null ? done : conflicting.lockedIfWithin(step.key, MAX_WAIT, waits ? step::run : step::compared);
    }

    /**
     * Empties the list of messages that a memory shows. Messages that arrive in the meantime remain shown.
     *
     * @param key the memory
     * @param epoch the epoch that the caller works in, or null for the one in force
     * @return what the caller has seen after this call; null if the memory has no messages
     * @throws StorageUnavailableException if other writers were first 100 times
     */
    public @Nullable Reading clear(MemoryKey key, @Nullable Long epoch) {
        return conflicting.<@Nullable Reading>lockedIfWithin(
                key, MAX_WAIT, () -> clear(logs.apply(key), key, epoch, appender, meter));
    }

    /**
     * Empties the list of messages that a memory of a log shows, for callers that set no lists.
     *
     * @param log the log
     * @param key the memory
     * @throws StorageUnavailableException if other writers were first 100 times
     */
    public static void clear(MessageLog log, MemoryKey key) {
        clear(log, key, null, log::append, (any, tail) -> tail);
    }

    private static @Nullable Reading clear(
            MessageLog log,
            MemoryKey key,
            @Nullable Long epoch,
            BiFunction<MemoryKey, Append, AppendResult> appender,
            BiFunction<MemoryKey, Tail, Tail> meter) {
        for (int conflicts = 0; conflicts <= MAX_CONFLICTS; conflicts++) {
            Tail tail = meter.apply(key, log.read(key, ReadQuery.newest(1)));
            Position position = tail.position();
            String head = position.head();
            if (head == null) {
                return null;
            }
            long newest = tail.messages().get(0).sequence();
            View view = tail.view();
            if (view != null && view.showsNothing() && head.equals(view.anchor())) {
                return Reading.empty(position, newest);
            }
            Append empty = Append.viewOnly(View.of(head, List.of())).sinceRevisionOf(position);
            try {
                AppendResult result = appender.apply(key, epoch == null ? empty : empty.inEpoch(epoch));
                return Reading.empty(result.position(), newest);
            } catch (HeadConflictException | UnknownMessageException e) {
                LOG.debug("Memory {}: another writer was first; emptying it is tried again", key);
            }
        }
        throw tooManyConflicts(key);
    }

    private static StorageUnavailableException tooManyConflicts(MemoryKey key) {
        return new StorageUnavailableException(
                "Memory " + key + ": other writers were first " + MAX_CONFLICTS + " times. Retry the call", null);
    }

    /** One call that sets a list. */
    private final class Step {
        private final MemoryKey key;
        private final MessageLog log;
        private final Request request;
        private final List<ChatMessage> list;

        /** For each message of the list its stored message, or null. */
        private final @Nullable StoredPosition[] places;

        /** For each new message of the list the message as it is sent. */
        private final @Nullable NewMessage[] prepared;

        /**
         * Whether a message of the list was sent before and the list also contains the instance of it that a read
         * returned.
         */
        private final boolean[] omitted;

        /** The places of the list whose instances a read returned as messages that no longer exist. */
        private final BitSet lost = new BitSet();

        /** What the caller has seen. */
        private final Reading saw;

        /** Whether it was read during this call. */
        private final boolean fresh;

        /** The sequence up to which the caller knows all messages. */
        private long known;

        private List<StoredPosition> running;
        private @Nullable String summary;

        Step(MemoryKey key, Request request, @Nullable Reading seen) {
            this.key = key;
            this.log = logs.apply(key);
            this.request = request;
            this.list = request.messages();
            this.prepared = new NewMessage[list.size()];
            this.omitted = new boolean[list.size()];
            HandedOut.Recognized recognized = handedOut.recognize(key, list);
            this.places = recognized.places();
            Reading given = seen != null ? seen : recognized.saw();
            this.fresh = given == null;
            this.saw = given != null ? given : matchEqual(request.current().get());
            this.known = saw.newest();
            this.running = saw.running();
            this.summary = request.keepsSummary() ? saw.summary() : request.summary();
            long epoch = saw.position().epoch();
            if (request.epoch() != null && request.epoch() != epoch) {
                throw new ErasedException(key, request.epoch(), epoch);
            }
            if (handedOut.holdsErased(key, epoch, list)) {
                throw new ErasedException(key, epoch - 1, epoch);
            }
            findUnanswered();
        }

        Reading run() {
            Reading done = asSeen();
            return done != null ? done : compared();
        }

        /** Sets the list if nothing has changed since the caller's read. Otherwise returns null. */
        @Nullable
        Reading asSeen() {
            ListEdit edit = edit();
            if (edit.isShownBy(saw)) {
                if (fresh || isStillThere()) {
                    return done(saw);
                }
            } else if (!holdsNewer()) {
                Append append = edit.exactly(saw);
                AppendResult result = send(append);
                if (result != null) {
                    return done(saw.after(edit, append, result));
                }
            }
            return null;
        }

        /** Sets the list after a comparison with the messages that the memory shows now. */
        Reading compared() {
            for (int conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
                Tail now = meter.apply(key, ViewReader.since(log, key, known, list.size() + MARGIN));
                if (now.epoch() != saw.position().epoch()) {
                    throw new ErasedException(key, saw.position().epoch(), now.epoch());
                }
                Reading base = Reading.of(now);
                ListEdit edit = edit();
                ListEdit whole = edit.followedBy(saw.unknownOf(now.messages(), known));
                if (whole.isShownBy(base)) {
                    boolean isAllKnown = whole.items().size() == edit.items().size();
                    return done(isAllKnown ? saw.seenAgain(base) : saw.showing(edit, edit.known()));
                }
                Append append = whole.withView(base);
                AppendResult result = send(append);
                if (result != null) {
                    return done(saw.showing(edit, edit.places(append, result)));
                }
            }
            throw tooManyConflicts(key);
        }

        private Reading done(Reading now) {
            request.outbox().answered();
            List<ChatMessage> set = new ArrayList<>(list.size());
            BitSet given = new BitSet();
            for (int i = 0; i < omitted.length; i++) {
                if (!omitted[i]) {
                    given.set(set.size(), lost.get(i));
                    set.add(list.get(i));
                }
            }
            handedOut.set(key, now, set, given);
            return now;
        }

        /** Matches the messages of a list that was decoded elsewhere. Equal messages are the same message, in order. */
        private Reading matchEqual(ShownView current) {
            ShownIndex index = new ShownIndex(current);
            int from = 0;
            for (int i = 0; i < places.length; i++) {
                int at = index.find(list.get(i), from);
                if (at >= 0) {
                    places[i] = current.reading().shown().get(at);
                    from = at + 1;
                }
            }
            return current.reading();
        }

        private ListEdit edit() {
            List<Item> items = new ArrayList<>(list.size());
            String question = null;
            for (int i = 0; i < places.length; i++) {
                StoredPosition place = places[i];
                boolean begins = place == null && list.get(i) instanceof UserMessage;
                question = begins ? null : place != null ? place.question() : question;
                if (!omitted[i]) {
                    // A new answer belongs to the turn of the question before it.
                    items.add(
                            place != null ? Item.of(place) : Item.of(prepared(i).ofTurn(question)));
                }
                if (list.get(i) instanceof AiMessage ai && !ai.hasToolExecutionRequests()) {
                    // What follows an answer is no answer to its question.
                    question = null;
                }
            }
            return new ListEdit(items, summary).followedBy(running);
        }

        private NewMessage prepared(int at) {
            NewMessage message = prepared[at];
            if (message == null) {
                message = prepare.apply(list.get(at));
                prepared[at] = message;
            }
            return message;
        }

        private boolean isStillThere() {
            Position now = meter.apply(key, log.read(key, ReadQuery.newest(0))).position();
            String head = saw.position().head();
            // If the head has moved, the old head must still exist. Otherwise the store was restored to an older
            // state.
            return now.equals(saw.position())
                    || (now.isSameRevision(saw.position())
                            && (head == null || Reads.message(log, key, head).isPresent()));
        }

        /** Appends. Returns null if the list must be compared again. */
        private @Nullable AppendResult send(Append append) {
            try {
                AppendResult result = appender.apply(key, append);
                if (!result.replayed()) {
                    return result;
                }
                // An earlier attempt whose answer was lost has arrived. It may have been for another list.
                findStored();
            } catch (MessageIdConflictException e) {
                findStored();
            } catch (UnknownMessageException | UnknownParentException e) {
                forgetLost();
            } catch (HeadConflictException e) {
                LOG.debug("Memory {}: another writer was first; the list is compared again", key);
            } catch (KeepsakeException e) {
                if (e.isRetryable()) {
                    request.outbox().sent(append.messages());
                }
                throw e;
            }
            return null;
        }

        /** Gives the messages of a failed call the ids that they had. Those that are stored are not sent again. */
        private void findUnanswered() {
            List<NewMessage> taken = new ArrayList<>();
            for (int i = 0; i < prepared.length; i++) {
                NewMessage sent = places[i] == null ? request.outbox().find(list.get(i), taken) : null;
                if (sent != null) {
                    prepared[i] = sent;
                    taken.add(sent);
                }
            }
            if (!taken.isEmpty()) {
                findStored();
            }
        }

        private void findStored() {
            Map<String, Integer> sent = new HashMap<>();
            Set<String> recognized = new HashSet<>();
            for (int i = 0; i < prepared.length; i++) {
                StoredPosition place = places[i];
                NewMessage message = prepared[i];
                if (place != null) {
                    recognized.add(place.id());
                } else if (message != null) {
                    sent.put(message.id(), i);
                }
            }
            for (LoggedMessage stored : Reads.messages(log, key, sent.keySet())) {
                int at = Objects.requireNonNull(sent.get(stored.id()));
                places[at] = StoredPosition.of(stored);
                omitted[at] = !recognized.add(stored.id());
            }
        }

        /**
         * Returns whether the list contains a message that the caller's read did not know. That read then does not show
         * where the message is.
         */
        private boolean holdsNewer() {
            return Arrays.stream(places).anyMatch(place -> place != null && place.sequence() > known);
        }

        /**
         * Finds out which messages still exist. If the store was restored to an older state, the others are new
         * again, and so are the messages that were appended since then. A parent may also be missing because it was
         * never imported.
         */
        private void forgetLost() {
            Map<String, LoggedMessage> there = new HashMap<>();
            Reads.messages(log, key, named()).forEach(message -> there.put(message.id(), message));
            boolean isTakenBack = saw.position().head() != null
                    && !there.containsKey(saw.position().head());
            long newest = 0;
            for (int i = 0; i < places.length; i++) {
                StoredPosition place = places[i];
                if (place != null && there.containsKey(place.id())) {
                    places[i] = place.in(there);
                    newest = Math.max(newest, place.sequence());
                } else if (place != null) {
                    places[i] = null;
                    isTakenBack = true;
                    lost.set(i, handedOut.forget(key, list.get(i), place.id()));
                }
            }
            running = running.stream()
                    .filter(place -> there.containsKey(place.id()))
                    .map(place -> place.in(there))
                    .toList();
            summary = summary != null && there.containsKey(summary) ? summary : null;
            if (isTakenBack) {
                known = newest;
            }
        }

        private Set<String> named() {
            Set<String> named =
                    new HashSet<>(Arrays.asList(summary, saw.position().head()));
            Stream.concat(Arrays.stream(places), running.stream())
                    .filter(Objects::nonNull)
                    .forEach(place -> named.addAll(Arrays.asList(place.id(), place.parentId())));
            named.remove(null);
            return named;
        }
    }
}

package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A memory that is written. Each step adds only missing parts, so that all steps can be repeated, also while another copy
 * takes the same steps. If the memory is erased meanwhile, a step is refused.
 *
 * @param log the log to write to
 * @param key the memory
 * @param epoch the epoch in which all is written
 */
record MemoryTarget(MessageLog log, MemoryKey key, long epoch) {

    static MemoryTarget of(MessageLog log, MemoryKey key) {
        return new MemoryTarget(log, key, Reads.position(log, key).epoch());
    }

    /** Returns whether the memory was erased before. Nothing is copied or imported into it then. */
    boolean isErased() {
        return epoch > Position.NONE.epoch();
    }

    @Nullable
    LoggedMessage newest() {
        List<LoggedMessage> newest = log.history(key, HistoryQuery.newest(1)).messages();
        return newest.isEmpty() ? null : newest.get(0);
    }

    /** Sets the outcomes of existing messages that have other outcomes. */
    void setOutcomes(List<LoggedMessage> messages) {
        Map<String, LoggedMessage> there = new HashMap<>();
        Reads.messages(log, key, messages.stream().map(LoggedMessage::id).toList())
                .forEach(message -> there.put(message.id(), message));
        for (LoggedMessage message : messages) {
            LoggedMessage known = there.get(message.id());
            if (known != null && !Objects.equals(known.outcome(), message.outcome())) {
                log.change(key, new Change.SetOutcome(message.id(), message.outcome(), epoch));
            }
        }
    }

    /** Appends each run of messages of which each is the parent of the next. */
    void append(List<Moved> messages) {
        List<NewMessage> batch = new ArrayList<>();
        Parent parent = Parent.root();
        String before = null;
        for (Moved message : messages) {
            if (batch.isEmpty() || !Objects.equals(message.parentId(), before)) {
                append(parent, batch);
                batch = new ArrayList<>();
                parent = Parent.behind(message.parentId());
            }
            batch.add(message.message());
            before = message.message().id();
        }
        append(parent, batch);
    }

    private void append(Parent parent, List<NewMessage> batch) {
        if (batch.isEmpty()) {
            return;
        }
        try {
            log.append(key, Append.under(parent, batch).asImport().inEpoch(epoch));
        } catch (MessageIdConflictException e) {
            // Another copy may have appended the beginning of the batch.
            List<String> ids = batch.stream().map(NewMessage::id).toList();
            List<String> stored = Reads.messages(log, key, ids).stream()
                    .map(LoggedMessage::id)
                    .toList();
            int there = stored.size();
            if (there == 0 || there == ids.size() || !stored.equals(ids.subList(0, there))) {
                throw e;
            }
            append(parent, batch.subList(0, there));
            append(Parent.of(ids.get(there - 1)), batch.subList(there, ids.size()));
        }
    }

    /** Adds the rest when all messages are there. */
    void complete(BesideMessages beside) {
        putSummaries(beside.summaries());
        setViews(beside.views());
        beside.branches().forEach((name, end) -> log.change(key, new Change.MoveBranch(name, end, epoch)));
        String head = beside.head();
        if (head != null && !head.equals(Reads.position(log, key).head())) {
            log.change(key, new Change.MoveHead(head, epoch));
        }
        describe(beside);
        log.flush(key);
    }

    private void putSummaries(List<Summary> summaries) {
        int done = Reads.summaries(log, key).size();
        for (int i = done; i < summaries.size(); i++) {
            log.change(key, new Change.PutSummary(summaries.get(i).withVersion(i + 1), epoch));
        }
    }

    private void setViews(List<View> views) {
        Map<String, View> there = new HashMap<>();
        log.details(key, Set.of(MemoryDetails.Part.VIEWS)).views().forEach(view -> there.put(view.anchor(), view));
        for (View view : views) {
            View known = there.get(view.anchor());
            if (known == null || !isSame(known, view)) {
                set(
                        Objects.requireNonNull(view.anchor()),
                        View.of(null, view.runs()).behindSummary(view.summary()));
            }
        }
    }

    /** A view applies to the branches through its anchor, so it is set while that is the head. */
    private void set(String anchor, View view) {
        for (int tries = 1; ; tries++) {
            log.change(key, new Change.MoveHead(anchor, epoch));
            try {
                log.append(key, Append.viewOnly(view).expectingHead(anchor).inEpoch(epoch));
                return;
            } catch (HeadConflictException e) {
                // Another copy has moved the head. Without pauses of any length, both could do so again and again.
                if (tries == MemoryCopy.MOST_PASSES) {
                    throw e;
                }
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(1_000_000L << Math.min(tries, 6)));
            }
        }
    }

    private static boolean isSame(View one, View other) {
        return one.runs().equals(other.runs()) && Objects.equals(one.summary(), other.summary());
    }

    private void describe(BesideMessages beside) {
        if (!isDescribedAs(beside)) {
            log.change(key, Change.Describe.as(beside.title(), beside.metadata()));
            refuseIfErased(() -> {
                if (isDescribedAs(beside)) {
                    log.change(key, Change.Describe.as(null, Map.of()));
                }
            });
        }
    }

    private boolean isDescribedAs(BesideMessages beside) {
        MemoryInfo there = Reads.info(log, key);
        return there != null
                && Objects.equals(there.title(), beside.title())
                && there.metadata().equals(beside.metadata());
    }

    /** Changes a part of the metadata. */
    void mergeMetadata(Map<String, @Nullable String> changes) {
        log.change(key, Change.Describe.merging(changes));
        Map<String, @Nullable String> none = new HashMap<>(changes);
        none.replaceAll((name, value) -> null);
        refuseIfErased(() -> log.change(key, Change.Describe.merging(none)));
    }

    /** A description names no epoch. So a description that was set after an erasure is removed again. */
    private void refuseIfErased(Runnable undo) {
        long now = Reads.position(log, key).epoch();
        if (now == epoch) {
            return;
        }
        undo.run();
        MemoryInfo there = Reads.info(log, key);
        boolean isShell =
                there != null && there.title() == null && there.metadata().isEmpty() && there.messages() == 0;
        if (isShell && now == epoch + 1) {
            // It would still be in lists.
            log.erase(key);
        }
        throw new ErasedException(key, epoch, now);
    }
}

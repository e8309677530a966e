package io.github.keepsake4j.transfer;

import dev.langchain4j.data.message.ChatMessageType;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Seen;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One pass of the copy of one memory. Each step does what the target lacks, so that a pass can be repeated. */
final class OneMemory {

    /** The maximum number of messages that are read, and appended, at once. */
    private static final int PAGE = 500;

    private final MessageLog source;
    private final MessageLog target;
    private final MemoryKey key;
    private final Consumer<MemoryCopy.Progress> listener;

    OneMemory(MessageLog source, MessageLog target, MemoryKey key, Consumer<MemoryCopy.Progress> listener) {
        this.source = source;
        this.target = target;
        this.key = key;
        this.listener = listener;
    }

    void copy() {
        // All that names messages is read before them, so that what it names is copied.
        MemoryDetails details = source.details(key);
        if (details.info() == null) {
            return;
        }
        List<Summary> summaries = source.summaries(key);
        String head = source.read(key, ReadQuery.newest(0)).head();
        copyMessages(details.info(), summaries);
        Position position = target.read(key, ReadQuery.newest(0)).position();
        copySummaries(summaries, position.epoch());
        copyViews(details.views());
        details.branches().forEach((name, end) -> target.moveBranch(key, name, end, position.epoch()));
        copyDescription(details.info());
        if (head != null && !head.equals(target.read(key, ReadQuery.newest(0)).head())) {
            target.moveHead(key, head, null);
        }
        target.flush(key);
    }

    private void copyMessages(MemoryInfo info, List<Summary> summaries) {
        LoggedMessage last = newest(target);
        Numbers numbers = new Numbers(summaries);
        long from = 0;
        if (last != null) {
            from = source.find(key, List.of(last.id())).stream()
                    .findFirst()
                    .orElseThrow(() -> otherMessages(last))
                    .sequence();
        }
        Optional<HistoryQuery> next = Optional.of(new HistoryQuery(PAGE, from, true));
        while (next.isPresent()) {
            HistoryPage page = source.history(key, next.get());
            append(page.messages(), numbers);
            LoggedMessage newest = newest(target);
            listener.accept(new MemoryCopy.Progress(key, newest == null ? 0 : newest.sequence(), info.messages()));
            next = page.next();
        }
    }

    private KeepsakeException otherMessages(LoggedMessage last) {
        return new KeepsakeException(
                "Memory " + key + " has messages in the target that the source has not, such as " + last.id()
                        + ". Erase it in the target, or copy it into an empty log",
                null);
    }

    private @Nullable LoggedMessage newest(MessageLog log) {
        List<LoggedMessage> newest = log.history(key, HistoryQuery.newest(1)).messages();
        return newest.isEmpty() ? null : newest.get(0);
    }

    /** Appends each run of messages of which each is the parent of the next. */
    private void append(List<LoggedMessage> messages, Numbers numbers) {
        List<NewMessage> batch = new ArrayList<>();
        Parent parent = Parent.root();
        String before = null;
        for (LoggedMessage message : messages) {
            if (batch.isEmpty() || !Objects.equals(message.parentId(), before)) {
                append(parent, batch);
                batch = new ArrayList<>();
                parent = message.parentId() == null ? Parent.root() : Parent.of(message.parentId());
            }
            batch.add(copy(message, numbers));
            before = message.id();
        }
        append(parent, batch);
    }

    private void append(Parent parent, List<NewMessage> batch) {
        if (!batch.isEmpty()) {
            target.append(key, Append.under(parent, batch).asImport());
        }
    }

    private NewMessage copy(LoggedMessage message, Numbers numbers) {
        NewMessage copy = new NewMessage(
                        message.id(), message.message(), message.tokens(), message.tokenCounter(), message.createdAt())
                .withOutcome(message.outcome());
        Made made = made(source, key, message);
        return made == null
                ? copy
                : copy.withSeen(made.seen() == null ? null : numbers.of(made.seen()))
                        .withUsage(made.usage())
                        .withRequest(made.request());
    }

    /** Returns what is kept beside a message, which only answers have. */
    static @Nullable Made made(MessageLog log, MemoryKey key, LoggedMessage message) {
        return message.message().type() == ChatMessageType.AI
                ? log.made(key, message.id()).orElse(null)
                : null;
    }

    private void copySummaries(List<Summary> summaries, long epoch) {
        int done = target.summaries(key).size();
        for (Summary summary : summaries.subList(Math.min(done, summaries.size()), summaries.size())) {
            target.putSummary(key, summary, epoch);
        }
    }

    private void copyViews(List<View> views) {
        Map<String, View> there = new HashMap<>();
        target.details(key).views().forEach(view -> there.put(view.anchor(), view));
        for (View view : views) {
            View known = there.get(view.anchor());
            if (known == null || !isSame(known, view)) {
                // A view applies to the branches through its anchor, so it is set where that is the head.
                target.moveHead(key, Objects.requireNonNull(view.anchor()), null);
                target.append(key, Append.viewOnly(View.of(null, view.runs()).behindSummary(view.summary())));
            }
        }
    }

    private static boolean isSame(View one, View other) {
        return one.runs().equals(other.runs()) && Objects.equals(one.summary(), other.summary());
    }

    private void copyDescription(MemoryInfo info) {
        MemoryInfo there = target.details(key).info();
        boolean isSame = there != null
                && Objects.equals(there.title(), info.title())
                && there.metadata().equals(info.metadata());
        if (!isSame) {
            target.describe(key, info.title(), info.metadata());
        }
    }

    /**
     * The numbers that messages and summaries have in a log that has counted them from 1 without gaps. In another log, the first
     * ones may have been dropped.
     */
    final class Numbers {

        private final Map<Long, Long> versions = new HashMap<>();
        private final long before;

        Numbers(List<Summary> summaries) {
            List<LoggedMessage> first =
                    source.history(key, HistoryQuery.oldest(1)).messages();
            before = first.isEmpty() ? 0 : first.get(0).sequence() - 1;
            for (Summary summary : summaries) {
                versions.put(summary.version(), versions.size() + 1L);
            }
        }

        Seen of(Seen seen) {
            return new Seen(
                    seen.shown().stream()
                            .map(range -> new Seen.Range(range.first() - before, range.last() - before))
                            .toList(),
                    seen.shortened().stream().map(sequence -> sequence - before).toList(),
                    versions.getOrDefault(seen.summary(), 0L),
                    seen.altered());
        }
    }
}

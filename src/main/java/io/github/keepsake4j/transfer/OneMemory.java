package io.github.keepsake4j.transfer;

import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.Optional;
import java.util.function.Consumer;

/** One pass of the copy of one memory, which can be repeated. */
final class OneMemory {

    private final MessageLog source;
    private final MemoryTarget target;
    private final MemoryKey key;
    private final Consumer<MemoryCopy.Progress> listener;

    OneMemory(MessageLog source, MemoryTarget target, MemoryKey key, Consumer<MemoryCopy.Progress> listener) {
        this.source = source;
        this.target = target;
        this.key = key;
        this.listener = listener;
    }

    /** Copies what the target lacks, and returns whether the source has the memory. */
    boolean copy() {
        // All that names messages is read before them, so that what it names is copied.
        BesideMessages beside = BesideMessages.read(source, key);
        if (beside != null) {
            LoggedMessage last = target.newest();
            long behind = last == null ? 0 : sequence(last);
            copyOutcomes(behind);
            new MemorySource(source, key, beside.summaries()).read(behind, page -> {
                target.append(page);
                LoggedMessage newest = target.newest();
                listener.accept(
                        new MemoryCopy.Progress(key, newest == null ? 0 : newest.sequence(), beside.messages()));
            });
            target.complete(beside);
        }
        return beside != null;
    }

    /** The outcome of a message may change when it was copied already. */
    private void copyOutcomes(long upTo) {
        Optional<HistoryQuery> next =
                upTo == 0 ? Optional.empty() : Optional.of(HistoryQuery.oldest(MemorySource.PAGE));
        while (next.isPresent()) {
            HistoryPage page = source.history(key, next.get());
            target.setOutcomes(page.messages().stream()
                    .filter(message -> message.sequence() <= upTo)
                    .toList());
            next = page.next().filter(more -> more.sequence() < upTo);
        }
    }

    private long sequence(LoggedMessage last) {
        return Reads.message(source, key, last.id())
                .map(LoggedMessage::sequence)
                .orElseThrow(() -> new MemoryCopy.UncopiedException(
                        "Memory " + key + " has messages in the target that the source has not, such as " + last.id()
                                + ". Erase it in the target, or copy it into an empty log"));
    }
}

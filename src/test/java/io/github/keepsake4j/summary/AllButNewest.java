package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** A plan that folds all but the newest messages, in tasks of a few messages. */
record AllButNewest(MessageLog log, MemoryKey key, int keep, int atOnce) implements Supplier<Optional<SummaryTask>> {

    AllButNewest(MessageLog log, MemoryKey key, int keep) {
        this(log, key, keep, Integer.MAX_VALUE);
    }

    @Override
    public Optional<SummaryTask> get() {
        Tail tail = log.read(key, ReadQuery.wholeBranch().upToSummary());
        List<LoggedMessage> messages = tail.messages();
        int fold = Math.min(messages.size() - keep, atOnce);
        return fold <= 0
                ? Optional.empty()
                : Optional.of(new SummaryTask(tail.epoch(), tail.summary(), messages.subList(0, fold)));
    }
}

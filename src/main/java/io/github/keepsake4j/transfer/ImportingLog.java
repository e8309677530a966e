package io.github.keepsake4j.transfer;

import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.Change;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.ForwardingMessageLog;
import io.github.keepsake4j.log.Found;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.HistoryPage;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MemoryDetails;
import io.github.keepsake4j.log.MessageIdConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.log.Selection;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.message.Branch;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.tokens.TokenCounter;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A log that imports the conversations of another store, as {@link ImportSource#importingInto} describes. */
final class ImportingLog extends ForwardingMessageLog {

    private static final Logger LOG = LoggerFactory.getLogger(ImportingLog.class);

    /** The maximum number of conversations whose imports are cached. */
    private static final int CONVERSATIONS = 10_000;

    /** The number of tries of an import. A try fails only if another process has appended something. */
    private static final int MOST_TRIES = 100;

    private final ImportSource source;
    private final TokenCounter counter;
    private final RecentlyUsed<ConversationKey, Taken> taken = new RecentlyUsed<>(CONVERSATIONS);

    /** The state of the other store at the last check. */
    private record Taken(int size, int hash) {}

    /**
     * Creates a log.
     *
     * @param log keeps the messages
     * @param source reads the other store
     * @param counter counts imported messages
     */
    ImportingLog(MessageLog log, ImportSource source, TokenCounter counter) {
        super(log);
        this.source = Objects.requireNonNull(source, "source");
        this.counter = Objects.requireNonNull(counter, "counter");
    }

    /** Returns the inner log, for a memory whose first use has imported the other store's messages. */
    private MessageLog used(MemoryKey key) {
        if (key instanceof ConversationKey conversation && taken.get(conversation) == null) {
            take(conversation, source.messages(conversation));
        }
        return log();
    }

    /** Returns the inner log, for a memory that has all messages of the other store. */
    private MessageLog current(MemoryKey key) {
        if (key instanceof ConversationKey conversation && taken.get(conversation) != null) {
            List<ImportSource.ImportedMessage> messages;
            try {
                messages = source.messages(conversation);
            } catch (RuntimeException e) {
                LOG.warn(
                        "Memory {}: the store to import from failed, so its new messages are not imported ({})",
                        key,
                        e.getClass().getName());
                return log();
            }
            take(conversation, messages);
        }
        return used(key);
    }

    private void take(ConversationKey key, List<ImportSource.ImportedMessage> messages) {
        Taken now = new Taken(messages.size(), messages.hashCode());
        if (now.equals(taken.get(key))) {
            return;
        }
        for (int tries = 1; !messages.isEmpty(); tries++) {
            try {
                Position position = Reads.position(log(), key);
                if (position.epoch() == Position.NONE.epoch()) {
                    new Intake(log(), counter, key, position).take(messages);
                }
                break;
            } catch (ErasedException e) {
                break;
            } catch (HeadConflictException | MessageIdConflictException e) {
                if (tries == MOST_TRIES) {
                    throw e;
                }
            }
        }
        taken.put(key, now);
    }

    @Override
    public AppendResult append(MemoryKey key, Append append) {
        return used(key).append(key, append);
    }

    @Override
    public Tail read(MemoryKey key, ReadQuery query) {
        return current(key).read(key, query);
    }

    @Override
    public Map<MemoryKey, List<Found>> find(Selection selection) {
        selection.ids().keySet().forEach(this::used);
        selection.sequences().keySet().forEach(this::current);
        Map<MemoryKey, List<Found>> found = new HashMap<>(super.find(selection));
        // The other store may have got the missing messages since the last check.
        Map<MemoryKey, Set<String>> grown = new HashMap<>();
        selection.ids().forEach((key, ids) -> {
            if (found.getOrDefault(key, List.of()).size() < ids.size() && hasGrown(key)) {
                grown.put(key, ids);
            }
        });
        if (!grown.isEmpty()) {
            found.putAll(super.find(new Selection(grown, Map.of(), selection.made())));
        }
        return found;
    }

    private boolean hasGrown(MemoryKey key) {
        if (!(key instanceof ConversationKey conversation)) {
            return false;
        }
        Taken before = taken.get(conversation);
        MessageLog unused = current(key);
        return !Objects.equals(before, taken.get(conversation));
    }

    @Override
    public Set<Long> onBranch(MemoryKey key, Collection<Long> sequences) {
        return current(key).onBranch(key, sequences);
    }

    @Override
    public HistoryPage history(MemoryKey key, HistoryQuery query) {
        return current(key).history(key, query);
    }

    @Override
    public List<Branch> branches(MemoryKey key) {
        return current(key).branches(key);
    }

    @Override
    public <R> R change(MemoryKey key, Change<R> change) {
        return used(key).change(key, change);
    }

    /** Reads the other store again only if its conversation may have changed. */
    @Override
    public MemoryDetails details(MemoryKey key, Set<MemoryDetails.Part> parts) {
        boolean grows = parts.contains(MemoryDetails.Part.INFO) || parts.contains(MemoryDetails.Part.VIEWS);
        return (grows ? current(key) : used(key)).details(key, parts);
    }

    /** Removes no tombstone: without it, an erased conversation would be imported again. */
    @Override
    public long removeTombstones(String tenant, Instant erasedBefore) {
        return super.removeTombstones(tenant, Instant.EPOCH);
    }
}

package io.github.keepsake4j;

import io.github.keepsake4j.chat.ChatMemories;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Reads;
import io.github.keepsake4j.memories.background.BackgroundCreators;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.recall.MessageSearch;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All memories of one tenant. Obtained from {@link Keepsake#tenant}. Thread-safe. */
public final class Tenant {

    private static final Logger LOG = LoggerFactory.getLogger(Tenant.class);
    private static final int PAGE = 100;

    private final String id;
    private final MemoryIds ids;
    private final ChatMemories memories;
    private final List<MessageLog> logs;
    private final @Nullable MessageSearch search;
    private final @Nullable BackgroundCreators creators;

    Tenant(
            MemoryIds ids,
            ChatMemories memories,
            MessageLog log,
            MessageLog nodeLog,
            @Nullable MessageSearch search,
            @Nullable BackgroundCreators creators) {
        this.id = ids.tenant();
        this.ids = ids;
        this.memories = memories;
        this.logs = nodeLog == log ? List.of(log) : List.of(log, nodeLog);
        this.search = search;
        this.creators = creators;
    }

    /**
     * The result of an erasure.
     *
     * @param conversations the number of conversations that were erased
     * @param nodes the number of memories of nodes that were erased
     * @param messages the number of messages in them, as far as they could be counted
     * @param failed the number of memories that could not be erased, or whose metadata could not be read; the log names
     * them
     */
    public record Erased(long conversations, long nodes, long messages, long failed) {}

    /**
     * Returns a handle for one of the tenant's conversations, as {@link Keepsake#conversation} does for the configured
     * tenant. Does no I/O.
     *
     * @param memoryId a String, number or UUID, or a {@link MemoryKey} of this tenant
     * @return the handle
     * @throws InvalidInputException if the id is of another type or tenant, or breaks a rule
     */
    public Conversation conversation(Object memoryId) {
        MemoryKey key = ids.key(memoryId);
        if (!key.tenant().equals(id)) {
            throw new InvalidInputException("memory id", "must be of tenant " + MemoryKey.encode(id) + ", is " + key);
        }
        return memories.conversation(key, key);
    }

    /**
     * Lists the tenant's conversations in the message log, newest first, as {@link Keepsake#conversations} does.
     *
     * @param query the page to return
     * @return the page
     */
    public MemoryPage conversations(ListQuery query) {
        MemoryPage page = logs.get(0).list(id, InvalidInputException.given("query", query));
        return new MemoryPage(
                page.memories().stream()
                        .filter(info -> info.key() instanceof ConversationKey)
                        .toList(),
                page.damaged().stream()
                        .filter(damaged -> !(damaged.key() instanceof NodeKey))
                        .toList(),
                page.usage().stream()
                        .filter(usage -> usage.key() instanceof ConversationKey)
                        .toList(),
                page.next());
    }

    /**
     * Reads how many tokens the answers in the tenant's memories used, including nodes' memories. Tokens are known for
     * answers of AI services whose turns are bound; see {@link Keepsake#attach}.
     *
     * @param from the first day, in UTC
     * @param toExclusive the day after the last day
     * @return one sum for each memory and day with usage, in order of days
     * @throws io.github.keepsake4j.message.InvalidInputException if the days are in the wrong order
     */
    public List<DailyUsage> usage(LocalDate from, LocalDate toExclusive) {
        return logs.stream()
                .flatMap(log -> Reads.usage(log, id, from, toExclusive).stream())
                .sorted(Comparator.comparing(DailyUsage::day))
                .toList();
    }

    /**
     * Erases everything of the tenant: conversations and nodes' memories in the message log and the node log, with all
     * that belongs to them, their index entries, and long-term memories. This cannot be undone. Tombstones without
     * content remain. A conversation that begins during the call may remain or be erased. Conversations that an import
     * source has and that were not imported yet remain in it. If this method throws, or the process ends, a further
     * call erases the rest.
     *
     * @return the result
     * @throws KeepsakeException if a store cannot be reached; retryable
     */
    public Erased erase() {
        Erased erased = each(null);
        endErasures();
        if (search != null) {
            search.removeErased(id);
        }
        if (creators != null) {
            creators.store().discussions(id, key -> {
                if (Reads.info(logs.get(0), key) == null) {
                    creators.store().erase(key);
                }
            });
        }
        return erased;
    }

    /**
     * Erases all conversations and nodes' memories whose metadata have a text under a name, such as those of one user.
     * A conversation is erased with the memories of its nodes. Otherwise this does the same as {@link #erase()}.
     * Reads the list of all memories of the tenant.
     *
     * @param name a name of the metadata
     * @param value the text
     * @return the result
     * @throws KeepsakeException if a store cannot be reached; retryable
     */
    public Erased eraseWhere(String name, String value) {
        InvalidInputException.given("name", name);
        InvalidInputException.given("value", value);
        Erased erased = each(info -> value.equals(info.metadata().get(name)));
        endErasures();
        return erased;
    }

    /** Erases the memories that are chosen, or all of them, even damaged ones. */
    private Erased each(@Nullable Predicate<MemoryInfo> chosen) {
        Run run = new Run();
        for (MessageLog log : logs) {
            for (MemoryPage page : Reads.pages(log, id, ListQuery.first(PAGE))) {
                if (chosen == null) {
                    page.memories().forEach(info -> run.erase(log, info.key(), info.messages()));
                } else {
                    page.memories().stream().filter(chosen).forEach(info -> run.erase(log, info, chosen));
                }
                page.damaged().forEach(damaged -> run.erase(log, damaged, chosen == null));
            }
        }
        return new Erased(run.conversations, run.nodes, run.messages, run.failed);
    }

    /** One erasure of several memories. Used by one thread. */
    private final class Run {

        private long conversations;
        private long nodes;
        private long messages;
        private long failed;

        /** The nodes' memories that went with their conversations. A page that was read before may still have them. */
        private final Set<NodeKey> gone = new HashSet<>();

        /** The list may be old, so the memory's entry is read again. */
        void erase(MessageLog log, MemoryInfo listed, Predicate<MemoryInfo> chosen) {
            Optional<MemoryInfo> now = info(log, listed.key(), listed);
            if (now.filter(chosen).isPresent()) {
                erase(log, listed.key(), now.get().messages());
            }
        }

        /** Returns a memory's entry, or another one if the memory cannot be read. */
        private Optional<MemoryInfo> info(MessageLog log, MemoryKey key, @Nullable MemoryInfo otherwise) {
            try {
                return Optional.ofNullable(Reads.info(log, key));
            } catch (UnreadableDataException e) {
                return Optional.ofNullable(otherwise);
            }
        }

        void erase(MessageLog log, MemoryPage.Damaged damaged, boolean anyway) {
            if (damaged.key() == null || !anyway) {
                failed(damaged.name(), damaged.problem());
            } else {
                erase(log, damaged.key(), 0);
            }
        }

        /** Erases the nodes first: if the process ends, the conversation is still listed. */
        void erase(MessageLog log, MemoryKey key, long count) {
            try {
                if (key instanceof ConversationKey conversation) {
                    for (MessageLog each : logs) {
                        for (NodeKey node : each.nodes(conversation)) {
                            long messages = info(each, node, null)
                                    .map(MemoryInfo::messages)
                                    .orElse(0L);
                            eraseOne(each, node, messages);
                            gone.add(node);
                        }
                    }
                }
                if (!(key instanceof NodeKey node && gone.contains(node))) {
                    eraseOne(log, key, count);
                }
            } catch (KeepsakeException e) {
                if (e.isRetryable()) {
                    throw e;
                }
                failed(key.toString(), e.toString());
            }
        }

        private void eraseOne(MessageLog log, MemoryKey key, long count) {
            removeFromIndex(key);
            boolean isErased = Reads.erase(log, key);
            // Again, because it may have been indexed meanwhile.
            removeFromIndex(key);
            if (isErased) {
                conversations += key instanceof NodeKey ? 0 : 1;
                nodes += key instanceof NodeKey ? 1 : 0;
                messages += count;
            }
        }

        private void failed(String memory, String why) {
            LOG.warn("Memory {} is not erased ({})", memory, why);
            failed++;
        }
    }

    private void removeFromIndex(MemoryKey key) {
        if (search != null) {
            search.remove(key);
        }
    }

    @Override
    public String toString() {
        return "Tenant[" + MemoryKey.encode(id) + "]";
    }

    /** Ends erasures that a crash interrupted. No tombstone is that old. */
    private void endErasures() {
        logs.forEach(log -> log.removeTombstones(id, Instant.EPOCH));
    }
}

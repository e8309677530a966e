package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.backend.ActivityCursor;
import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.log.DailyUsage;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MemoryInfo;
import io.github.keepsake4j.log.MemoryPage;
import io.github.keepsake4j.log.MemoryPage.Damaged;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.UnreadableDataException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads a tenant's list, and then each memory on it, because the memories are in other slots. Thread-safe. */
record Listing(MemoryScript script, TenantList tenants, Writer writer, ListedMetadata declared) {

    private static final Logger LOG = LoggerFactory.getLogger(Listing.class);

    /** The largest number of stale entries that are removed for one page. The page is then shorter. */
    private static final int GONE = 500;

    /** The source of a page: returns the entries behind an entry, and the cursor of an entry. */
    private record Order(
            Function<TenantList.@Nullable Entry, List<TenantList.Entry>> behind,
            Function<TenantList.Entry, String> cursor) {}

    MemoryPage list(String tenant, ListQuery query) {
        Ids.check("tenant", tenant);
        script.requireOpen("list of tenant " + tenant);
        declared.check(query);
        ListQuery.Metadata metadata = query.metadata();
        if (metadata != null) {
            return page(query, byMetadata(tenant, query, Keys.list(metadata.name(), metadata.value())));
        }
        return page(query, query.activeFirst() ? byActivity(tenant, query) : byCreation(tenant, query));
    }

    private Order byMetadata(String tenant, ListQuery query, String list) {
        String id = (query.activeFirst() ? "a" : "n") + list;
        Order all = query.activeFirst() ? byActivity(tenant, query) : byCreation(tenant, query);
        String first = query.cursor() == null
                ? null
                : query.activeFirst() ? top(ActivityCursor.of(query)) : Text.hex(query.cursorAsNumber());
        return new Order(
                behind -> listed(
                        tenant,
                        id,
                        behind == null ? first : query.activeFirst() ? behind.place() : Text.hex(behind.number()),
                        atOnce(query)),
                all.cursor);
    }

    /** Puts all memories of the tenant on the lists first, if some are from before the names were declared. */
    private List<TenantList.Entry> listed(String tenant, String list, @Nullable String behind, int limit) {
        String failure =
                "list of tenant " + tenant + ": processes with other listedMetadata changed the lists during each try";
        return MemoryScript.untilDone(failure, () -> {
            List<TenantList.Entry> found = tenants.listed(tenant, list, behind, limit);
            if (found == null) {
                String token = Ids.next();
                tenants.fill("fill", tenant, token);
                tenants.all(tenant).forEach(entry -> relist(entry.key()));
                tenants.fill("complete", tenant, token);
            }
            return Optional.ofNullable(found);
        });
    }

    private void relist(MemoryKey key) {
        try {
            writer.relist(key);
        } catch (UnreadableDataException e) {
            LOG.debug("Memory {} is on no list by metadata: it cannot be read", key);
        }
    }

    private static String top(ActivityCursor cursor) {
        return Text.stamp(cursor.activeAt()) + Text.hex(cursor.number());
    }

    private Order byActivity(String tenant, ListQuery query) {
        ActivityCursor first = ActivityCursor.of(query);
        String top = query.cursor() == null ? null : top(first);
        tenants.flush(tenant);
        return new Order(
                behind -> tenants.lessActive(tenant, behind == null ? top : behind.place(), atOnce(query)),
                entry -> new ActivityCursor(Text.ofStamp(entry.active()), entry.number()).cursor());
    }

    private Order byCreation(String tenant, ListQuery query) {
        long first = query.cursorAsNumber();
        return new Order(
                behind -> tenants.before(tenant, behind == null ? first : behind.number(), atOnce(query)),
                entry -> Long.toString(entry.number()));
    }

    /** One more than the page has, to find out whether there is another page. */
    private static int atOnce(ListQuery query) {
        return Math.min(MemoryScript.CHUNK, query.limit() + 1);
    }

    private MemoryPage page(ListQuery query, Order order) {
        List<MemoryInfo> page = new ArrayList<>();
        List<Damaged> damaged = new ArrayList<>();
        List<DailyUsage> usage = new ArrayList<>();
        TenantList.Entry edge = null;
        int gone = 0;
        List<TenantList.Entry> part = order.behind.apply(null);
        while (!part.isEmpty()) {
            for (TenantList.Entry entry : part) {
                boolean isFull = page.size() + damaged.size() == query.limit() || gone == GONE;
                if (edge != null && isFull) {
                    ListQuery next = query.startingAt(order.cursor.apply(edge));
                    return new MemoryPage(query.ordered(page), damaged, usage, Optional.of(next));
                }
                edge = entry;
                try {
                    Reply info = info(entry, query.usage() != null);
                    if (info == null) {
                        gone++;
                        continue;
                    }
                    List<DailyUsage> used = usage(entry.key(), info, query.usage());
                    MemoryInfo found = Contents.info(entry.key(), info);
                    if ((query.usage() == null || !used.isEmpty()) && query.matches(found)) {
                        page.add(found);
                        usage.addAll(used);
                    }
                } catch (UnreadableDataException e) {
                    damaged.add(new Damaged(entry.key().canonical(), entry.key(), String.valueOf(e.getMessage())));
                }
            }
            part = order.behind.apply(part.get(part.size() - 1));
        }
        return new MemoryPage(query.ordered(page), damaged, usage, Optional.empty());
    }

    private static List<DailyUsage> usage(MemoryKey key, Reply info, ListQuery.@Nullable Days days) {
        List<DailyUsage> usage = new ArrayList<>();
        for (Reply day : info.list(9).lists()) {
            LocalDate date = LocalDate.ofEpochDay(day.number(0));
            if (days != null && !date.isBefore(days.from()) && date.isBefore(days.toExclusive())) {
                usage.add(new DailyUsage(key, date, new Usage(day.number(1), day.number(2), day.number(3))));
            }
        }
        return usage;
    }

    /** Returns null if the memory was erased, has expired, or was registered and never created. */
    private @Nullable Reply info(TenantList.Entry entry, boolean withUsage) {
        MemoryKey key = entry.key();
        // A list does not count as a use of a memory, so it does not renew the time to live.
        Reply reply = script.run("list of memory " + key, key, new Request("info").with("usage", withUsage));
        if (reply.is("none")) {
            disown(entry);
            return null;
        }
        return reply.number(1) == entry.number() ? reply : null;
    }

    /**
     * Removes the entry of a memory that does not exist: it has expired, or its erasure or creation was interrupted. If
     * the memory is being created, its number is refused first, so that it is registered again.
     */
    private void disown(TenantList.Entry entry) {
        // Counts as a use, so that the remaining tombstone has a time to live.
        Request request = script.use("disown").with("number", entry.number());
        if (script.run("list of memory " + entry.key(), entry.key(), request).is("done")) {
            tenants.remove(entry.key(), entry.number());
        }
    }

    /** The list names the memories, so only those of the conversation are read. A damaged memory exists too. */
    List<NodeKey> nodes(ConversationKey conversation) {
        String tenant = conversation.tenant();
        script.requireOpen("list of tenant " + tenant);
        return tenants.all(tenant)
                .filter(entry -> entry.key() instanceof NodeKey node
                        && node.conversationId().equals(conversation.conversationId())
                        && isThere(entry))
                .map(entry -> (NodeKey) entry.key())
                .toList();
    }

    private boolean isThere(TenantList.Entry entry) {
        try {
            return info(entry, false) != null;
        } catch (UnreadableDataException e) {
            return true;
        }
    }
}

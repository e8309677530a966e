package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.base.DaemonThreads;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lists of the tenants, which are in other slots than their memories. Changes of the order by activity are
 * collected for some seconds and sent in the background, so that an append is one command. Thread-safe.
 */
final class TenantList implements AutoCloseable {

    /** A registered memory. */
    record Entry(long number, String active, MemoryKey key) {

        /** Sorts as the place by activity does. */
        String place() {
            return active + Text.hex(number);
        }
    }

    /** The largest delay of the order by activity, if Redis answers. */
    static final Duration LAG = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(TenantList.class);
    private static final int AT_ONCE = 500;

    private final Commands commands;
    private final Keys keys;

    /** The changes to send, by tenant and by the memory's hash. Guarded by itself. */
    private final Map<String, Map<String, JsonObject>> pending = new HashMap<>();

    private final ListedMetadata declared;
    private final Duration lag;
    private final ScheduledThreadPoolExecutor timer;

    TenantList(Commands commands, Keys keys, ListedMetadata declared, Duration lag) {
        this.commands = commands;
        this.keys = keys;
        this.declared = declared;
        this.lag = lag;
        this.timer = new ScheduledThreadPoolExecutor(1, DaemonThreads.named("keepsake-redis-lists"));
        timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /**
     * Registers a memory that is about to be created, or finds its number. The number is higher than that of an erased
     * memory. The memory is put on the lists of its metadata too, which are those that it will have.
     */
    long register(MemoryKey key, String active, long above, Map<String, String> metadata) {
        Request request = new Request("register")
                .with("hash", Keys.hash(key))
                .with("key", key.canonical())
                .with("active", active)
                .with("above", above)
                .with("names", names())
                .with("described", !metadata.isEmpty())
                .with("lists", lists(metadata));
        return run("registration of memory " + key, key.tenant(), request).number(0);
    }

    /** Puts a memory on the lists of its metadata, or on these too. */
    void relist(MemoryKey key, long number, Map<String, String> metadata, boolean more) {
        Request request = new Request("relist")
                .with("hash", Keys.hash(key))
                .with("number", number)
                .with("more", more)
                .with("names", names())
                .with("lists", lists(metadata));
        run("lists of memory " + key, key.tenant(), request);
    }

    /** Records that the lists of the declared names are filled, or, with the same token, that all memories are on them. */
    void fill(String operation, String tenant, String token) {
        run(
                "list of tenant " + tenant,
                tenant,
                new Request(operation).with("names", names()).with("token", token));
    }

    /** Returns the declared names. Sets with equal names are equal texts. */
    private @Nullable String names() {
        return declared.names().isEmpty()
                ? null
                : declared.names().stream().map(MemoryKey::encode).collect(Collectors.joining(" "));
    }

    private @Nullable List<String> lists(Map<String, String> metadata) {
        List<String> lists = new ArrayList<>();
        declared.listed(metadata).forEach((name, value) -> lists.add(Keys.list(name, value)));
        return lists.isEmpty() ? null : lists;
    }

    /** Removes an erased memory, unless it was registered again since. */
    void remove(MemoryKey key, long number) {
        forget(key);
        Request request = new Request("remove").with("hash", Keys.hash(key)).with("number", number);
        run("erasure of memory " + key, key.tenant(), request);
    }

    /** Moves a memory that had no message from one time to another, which may be earlier. */
    void begin(MemoryKey key, long number, String from, String active) {
        touch(key.tenant(), List.of(touched(key, number, from, active)));
    }

    /** Records that a memory is to be moved to the front. */
    void touchSoon(MemoryKey key, long number, String active) {
        synchronized (pending) {
            boolean isFirst = pending.isEmpty();
            pending.computeIfAbsent(key.tenant(), any -> new LinkedHashMap<>())
                    .put(Keys.hash(key), touched(key, number, null, active));
            if (isFirst && !timer.isShutdown()) {
                flushLater();
            }
        }
    }

    /** Sends the records of a tenant. */
    void flush(String tenant) {
        Map<String, JsonObject> noted;
        synchronized (pending) {
            noted = pending.remove(tenant);
        }
        if (noted == null) {
            return;
        }
        try {
            List<JsonObject> all = List.copyOf(noted.values());
            for (int from = 0; from < all.size(); from += AT_ONCE) {
                touch(tenant, all.subList(from, Math.min(all.size(), from + AT_ONCE)));
            }
        } catch (RuntimeException e) {
            synchronized (pending) {
                noted.forEach(pending.computeIfAbsent(tenant, any -> new LinkedHashMap<>())::putIfAbsent);
            }
            throw e;
        }
    }

    /** Returns a page behind a number. */
    List<Entry> before(String tenant, long number, int limit) {
        return page(tenant, new Request("page").with("number", number).with("limit", limit));
    }

    /** Returns all memories, newest first, page by page. */
    Stream<Entry> all(String tenant) {
        return Stream.iterate(
                        before(tenant, Long.MAX_VALUE, MemoryScript.CHUNK),
                        part -> !part.isEmpty(),
                        part -> before(tenant, part.get(part.size() - 1).number(), MemoryScript.CHUNK))
                .flatMap(List::stream);
    }

    /** Returns a page behind a {@link Entry#place}, or the first one. */
    List<Entry> lessActive(String tenant, @Nullable String place, int limit) {
        return page(
                tenant,
                new Request("page").with("behind", place == null ? "" : place).with("limit", limit));
    }

    /** Returns a page of a list by metadata behind a place, or the first one. Null if the list may miss memories. */
    @Nullable
    List<Entry> listed(String tenant, String list, @Nullable String place, int limit) {
        Request request = new Request("page")
                .with("list", list)
                .with("names", names())
                .with("behind", place == null ? "" : place)
                .with("limit", limit);
        List<Reply> rows = run("list of tenant " + tenant, tenant, request).lists();
        return rows.size() == 1 && rows.get(0).number(0) < 0 ? null : entries(rows);
    }

    private List<Entry> page(String tenant, Request request) {
        return entries(run("list of tenant " + tenant, tenant, request).lists());
    }

    private static List<Entry> entries(List<Reply> rows) {
        return rows.stream()
                .map(row -> new Entry(row.number(0), row.text(1), MemoryKey.parse(row.text(3))))
                .toList();
    }

    private void flushLater() {
        // The result is not awaited: the task logs its failures itself.
        Future<?> unused = timer.schedule(this::flushOrRetry, lag.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void flushOrRetry() {
        List<String> tenants;
        synchronized (pending) {
            tenants = new ArrayList<>(pending.keySet());
        }
        for (String tenant : tenants) {
            try {
                flush(tenant);
            } catch (StorageUnavailableException e) {
                LOG.debug("The order by activity of tenant {} is sent later", tenant, e);
            } catch (RuntimeException e) {
                LOG.warn("The order by activity of tenant {} cannot be sent", tenant, e);
            }
        }
        synchronized (pending) {
            if (!pending.isEmpty() && !timer.isShutdown()) {
                flushLater();
            }
        }
    }

    private void forget(MemoryKey key) {
        synchronized (pending) {
            Map<String, JsonObject> noted = pending.get(key.tenant());
            if (noted != null) {
                noted.remove(Keys.hash(key));
            }
        }
    }

    private static JsonObject touched(MemoryKey key, long number, @Nullable String from, String active) {
        return new JsonObject()
                .with("hash", Keys.hash(key))
                .with("key", key.canonical())
                .with("number", Long.toString(number))
                .with("active", active)
                .withPresent("from", from);
    }

    private void touch(String tenant, List<JsonObject> touched) {
        run("list of tenant " + tenant, tenant, new Request("touch").with("memories", touched));
    }

    private Reply run(String what, String tenant, Request request) {
        return commands.run(LuaScript.TENANT, what, keys.tenant(tenant), request.arguments());
    }

    /** Sends the records once. */
    @Override
    public void close() {
        timer.shutdownNow();
        flushOrRetry();
    }
}

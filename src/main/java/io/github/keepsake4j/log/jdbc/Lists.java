package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.Session;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The lists on which memories are: the one of their tenant, and one for each value of a metadata name that has lists. The
 * database keeps these names. The first query by a name puts the memories from before on its lists. Thread-safe.
 */
final class Lists {

    /** The number of memories that are put on the lists of a new name in one transaction. */
    private static final int PAGE = 500;

    private static final String WHAT = "lists by metadata";

    private final Connections connections;
    private final Dialect dialect;
    private final MessageCodec codec;
    private final ListedMetadata declared;
    private final LongSupplier now;

    /** The names, after they were read. */
    private volatile @Nullable ListedMetadata names;

    /** The names whose lists have all memories. */
    private final Set<String> complete = ConcurrentHashMap.newKeySet();

    Lists(Connections connections, Dialect dialect, MessageCodec codec, ListedMetadata declared, LongSupplier now) {
        this.connections = connections;
        this.dialect = dialect;
        this.codec = codec;
        this.declared = declared;
        this.now = now;
    }

    /** Returns the list of all memories of a tenant. */
    static long ofTenant(String tenant) {
        return id(MemoryKey.encode(tenant));
    }

    private static long ofValue(String tenant, String name, String value) {
        return id(MemoryKey.encode(tenant) + "/" + MemoryKey.encode(name) + "/" + MemoryKey.encode(value));
    }

    /** Returns 63 bits of a hash, but not 0, which has no negative. */
    private static long id(String ascii) {
        byte[] hash = Ids.sha256().digest(ascii.getBytes(StandardCharsets.US_ASCII));
        return Math.max(1, ByteBuffer.wrap(hash).getLong() & Long.MAX_VALUE);
    }

    /** Returns the lists of a memory. */
    static List<Long> of(MemoryKey key, Map<String, String> metadata, ListedMetadata names) {
        List<Long> lists = new ArrayList<>();
        lists.add(ofTenant(key.tenant()));
        names.listed(metadata).forEach((name, value) -> lists.add(ofValue(key.tenant(), name, value)));
        return lists;
    }

    /** Returns the list that a query reads, by its order. */
    long of(String tenant, ListQuery query) {
        if (query.metadata() != null) {
            names().check(query);
            complete(query.metadata().name());
        }
        return id(tenant, query);
    }

    static long id(String tenant, ListQuery query) {
        ListQuery.Metadata metadata = query.metadata();
        long list = metadata == null ? ofTenant(tenant) : ofValue(tenant, metadata.name(), metadata.value());
        return query.activeFirst() ? list : -list;
    }

    /** Puts a memory on the lists of its metadata, and on no others. Does nothing for a tombstone. */
    void set(Session session, MemoryKey key, byte[] hash, ListedMetadata known) throws SQLException {
        // Locks the row, so that its metadata stay as they are.
        session.first(dialect.sql().lockMemory(), row -> true, hash);
        String json = metadata(session, hash);
        Object lists = dialect.array(of(key, readable(json), known));
        if (json != null && !isOn(session, hash, lists)) {
            dialect.takeOffLists(session, hash);
            session.update(Sql.SET_LISTS, lists, hash);
            session.update(dialect.sql().putOnLists(), lists, hash);
        }
    }

    /** Returns whether a memory is on the lists of its metadata. True also for a tombstone. */
    boolean isListed(Session session, MemoryKey key, byte[] hash, ListedMetadata known) throws SQLException {
        String json = metadata(session, hash);
        return json == null || isOn(session, hash, dialect.array(of(key, readable(json), known)));
    }

    private boolean isOn(Session session, byte[] hash, Object lists) throws SQLException {
        return session.first(Sql.HAS_LISTS, row -> true, hash, lists) != null
                && session.first(dialect.sql().missingOnLists(), row -> true, hash) == null;
    }

    private static @Nullable String metadata(Session session, byte[] hash) throws SQLException {
        return session.first(Sql.METADATA, row -> row.getString("metadata"), hash);
    }

    /** Returns the names that have lists. Not to be called in a transaction. */
    ListedMetadata names() {
        ListedMetadata known = names;
        return known == null ? load() : known;
    }

    /** Adds the declared names before their lists are complete, so that each process that begins later maintains these. */
    private synchronized ListedMetadata load() {
        ListedMetadata known = names;
        if (known == null) {
            Map<String, Long> there = stored();
            if (!there.keySet().containsAll(declared.names())) {
                for (String name : declared.names()) {
                    connections.write(WHAT, session -> session.update(Sql.ADD_LISTED_NAME, name, 0L));
                }
                there = stored();
            }
            known = new ListedMetadata(there.keySet());
            there.forEach((name, listedAt) -> {
                if (listedAt > 0) {
                    complete.add(name);
                }
            });
            names = known;
        }
        return known;
    }

    private Map<String, Long> stored() {
        Map<String, Long> stored = new HashMap<>();
        connections.single(
                WHAT,
                session -> session.list(
                        Sql.LISTED_NAMES, row -> stored.put(Rows.text(row, "name"), Rows.number(row, "listed_at"))));
        return stored;
    }

    /**
     * Puts all memories on the lists of a name, if this was not done before. Repeats it if another process has added a name
     * meanwhile, because the memories were then taken off its lists.
     */
    private synchronized void complete(String name) {
        if (!complete.contains(name)) {
            ListedMetadata all;
            do {
                all = new ListedMetadata(stored().keySet());
                names = all;
                putOnLists(all);
            } while (!stored().keySet().equals(all.names()));
            connections.write(WHAT, session -> session.update(Sql.SET_LISTED, now.getAsLong(), name));
            complete.add(name);
        }
    }

    private void putOnLists(ListedMetadata all) {
        byte[] behind = new byte[0];
        while (true) {
            byte[] from = behind;
            Map<MemoryKey, byte[]> others = new LinkedHashMap<>();
            List<byte[]> page = connections.single(
                    WHAT, session -> session.list(Sql.DESCRIBED, row -> seen(row, all, others), from, PAGE));
            if (page.isEmpty()) {
                return;
            }
            if (!others.isEmpty()) {
                connections.write(WHAT, session -> {
                    for (Map.Entry<MemoryKey, byte[]> each : others.entrySet()) {
                        set(session, each.getKey(), each.getValue(), all);
                    }
                    return others.size();
                });
            }
            behind = page.get(page.size() - 1);
        }
    }

    /** Returns the key of a row, and collects the memory if it has other lists. Leaves out a row whose ids cannot be read. */
    private byte[] seen(ResultSet row, ListedMetadata all, Map<MemoryKey, byte[]> others) throws SQLException {
        byte[] hash = Objects.requireNonNull(row.getBytes("memory_key"));
        MemoryKey key;
        try {
            key = Memory.key(row);
        } catch (KeepsakeException e) {
            return hash; // check() reports it.
        }
        // Either database's text of an array, without its brackets and spaces.
        String lists = Objects.toString(row.getString("lists"), "").replaceAll("[^0-9,]", "");
        if (!lists.equals(of(key, readable(row.getString("metadata")), all).stream()
                .map(String::valueOf)
                .collect(Collectors.joining(",")))) {
            others.put(key, hash);
        }
        return hash;
    }

    private Map<String, String> readable(@Nullable String json) {
        try {
            return json == null ? Map.of() : codec.decodeStrings(json);
        } catch (UnreadableDataException e) {
            return Map.of(); // check() reports it.
        }
    }
}

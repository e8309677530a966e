package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.Session;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The lists on which memories are: the one of their tenant, and one for each value of a metadata name that has lists. The
 * database keeps these names. A name that is declared for the first time gets its lists on first use. Thread-safe.
 */
final class Lists {

    /** The number of memories that are put on the lists of a new name in one transaction. */
    private static final int PAGE = 500;

    private final Connections connections;
    private final Dialect dialect;
    private final MessageCodec codec;
    private final ListedMetadata declared;
    private final LongSupplier now;

    /** The names, after they were read. */
    private volatile @Nullable ListedMetadata names;

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

    /** Returns the lists of a memory. Not to be called in a transaction, since the first call may read and change the database. */
    List<Long> of(MemoryKey key, Map<String, String> metadata) {
        return of(key, metadata, metadata.isEmpty() ? ListedMetadata.NONE : names());
    }

    private static List<Long> of(MemoryKey key, Map<String, String> metadata, ListedMetadata names) {
        List<Long> lists = new ArrayList<>();
        lists.add(ofTenant(key.tenant()));
        names.listed(metadata).forEach((name, value) -> lists.add(ofValue(key.tenant(), name, value)));
        return lists;
    }

    /** Returns the list that a query reads, by its order. */
    long of(String tenant, ListQuery query) {
        if (query.metadata() != null) {
            names().check(query);
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
        String json = session.first(Sql.METADATA, row -> row.getString("metadata"), hash);
        if (json != null) {
            Object lists = dialect.array(of(key, readable(json), known));
            dialect.takeOffLists(session, hash);
            session.update(Sql.SET_LISTS, lists, hash);
            session.update(dialect.sql().putOnLists(), lists, hash);
        }
    }

    /** Returns the names that have lists. Not to be called in a transaction. */
    ListedMetadata names() {
        ListedMetadata known = names;
        return known == null ? load() : known;
    }

    private synchronized ListedMetadata load() {
        if (names == null) {
            Set<String> there = Set.copyOf(connections.single(
                    "lists by metadata", session -> session.list(Sql.LISTED_NAMES, row -> Rows.text(row, "name"))));
            Set<String> all = new TreeSet<>(there);
            all.addAll(declared.names());
            ListedMetadata both = new ListedMetadata(all);
            if (all.size() > there.size()) {
                listAll(both);
                declared.names()
                        .forEach(name -> connections.write(
                                "lists by metadata",
                                session -> session.update(Sql.ADD_LISTED_NAME, name, now.getAsLong())));
            }
            names = both;
        }
        return Objects.requireNonNull(names);
    }

    private void listAll(ListedMetadata all) {
        byte[] behind = new byte[0];
        List<MemoryKey> page;
        do {
            byte[] from = behind;
            page = connections.write("lists by metadata", session -> {
                List<MemoryKey> found = session.list(Sql.DESCRIBED, Memory::key, from, PAGE);
                for (MemoryKey key : found) {
                    byte[] hash = Rows.hash(key);
                    set(session, key, hash, all);
                }
                return found;
            });
            behind = page.isEmpty() ? behind : Rows.hash(page.get(page.size() - 1));
        } while (page.size() == PAGE);
    }

    private Map<String, String> readable(String json) {
        try {
            return codec.decodeStrings(json);
        } catch (UnreadableDataException e) {
            return Map.of(); // check() reports it.
        }
    }
}

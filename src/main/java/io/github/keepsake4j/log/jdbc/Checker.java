package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.backend.NotesText;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Damage;
import io.github.keepsake4j.log.Made;
import io.github.keepsake4j.log.Repair;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.Connections;
import io.github.keepsake4j.sql.DamagedException;
import io.github.keepsake4j.sql.NamedSql;
import io.github.keepsake4j.sql.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks and repairs one memory. Rows are read in pages and without a lock, so that other writers need not wait. Of
 * each page, only the damage is kept, and one bit for each message whose path to its root is not sound. A message whose
 * place is sound but whose content cannot be read does not break a path: a repair marks it.
 */
final class Checker {

    private static final int PAGE = 100;
    private static final int CHUNK = 1 << 16;
    private static final int MAX_ROUNDS = 10;

    /** Checks a row. */
    private interface RowCheck {
        void check(Session session, ResultSet row) throws SQLException;
    }

    private final Connections connections;
    private final Dialect dialect;
    private final MessageCodec codec;
    private final Lists lists;
    private final ListedMetadata names;
    private final MemoryKey key;
    private final byte[] hash;

    private final List<Damage> damage = new ArrayList<>();
    private final Map<Long, BitSet> unsound = new HashMap<>();
    /** The keys as they are stored. They may not be numbers. */
    private final List<Object> badViews = new ArrayList<>();

    private final List<Object> badSummaries = new ArrayList<>();
    private final List<Object> badReferences = new ArrayList<>();
    private final List<Long> unreadable = new ArrayList<>();
    private final List<Long> badNotes = new ArrayList<>();
    private @Nullable Memory memory;
    private long newest;
    private long newestSound;
    private long tokens;
    private boolean repeatedWrongly;
    private boolean listedWrongly;

    Checker(Connections connections, Dialect dialect, MessageCodec codec, Lists lists, MemoryKey key) {
        this.connections = connections;
        this.dialect = dialect;
        this.codec = codec;
        this.lists = lists;
        this.names = lists.names();
        this.key = key;
        this.hash = Rows.hash(key);
    }

    List<Damage> check() {
        for (int round = 0; !scan() && round < MAX_ROUNDS; round++) {
            damage.clear();
        }
        return List.copyOf(damage);
    }

    Repair repair(long now) {
        for (int round = 0; round < MAX_ROUNDS; round++) {
            check();
            if (damage.isEmpty()) {
                return unchanged();
            }
            Optional<Repair> repair = connections.write("repair of memory " + key, session -> mend(session, now));
            if (repair.isPresent()) {
                return repair.get();
            }
        }
        throw new UnreadableDataException(
                "repair of memory " + key + ": the stored data is damaged, and other writers changed it during "
                        + "each try. Stop the writers and repeat the repair",
                null);
    }

    /** Reads everything. Returns false if the memory was erased meanwhile. */
    private boolean scan() {
        damage.clear();
        unsound.clear();
        badViews.clear();
        badSummaries.clear();
        badReferences.clear();
        unreadable.clear();
        badNotes.clear();
        newest = 0;
        newestSound = 0;
        tokens = 0;
        repeatedWrongly = false;
        listedWrongly = false;
        Memory before = find();
        pages(dialect.sql().checkMessages(), "seq", Long.MIN_VALUE, Long.MAX_VALUE, this::message);
        // The row is read after the messages. It counts messages that were appended meanwhile, which are read then.
        memory = find();
        long last = memory == null ? 0 : memory.lastSeq();
        if (newest < last) {
            pages(dialect.sql().checkMessages(), "seq", newest, last, this::message);
        }
        checkMemory(last);
        repeatedWrongly = !single(session -> dialect.hasRepeatedWell(session, hash));
        if (repeatedWrongly) {
            add(Damage.Kind.HEAD, null, headId(), "what the memory's row repeats of the head's branch is not so");
        }
        listedWrongly = !single(session -> lists.isListed(session, key, hash, names));
        if (listedWrongly) {
            add(Damage.Kind.HEAD, null, headId(), "the memory is not on the lists of its tenant and its metadata");
        }
        pages(Sql.CHECK_VIEWS, "anchor_seq", Long.MIN_VALUE, Long.MAX_VALUE, this::view);
        pages(Sql.CHECK_SUMMARIES, "version", Long.MIN_VALUE, Long.MAX_VALUE, this::summary);
        single(session -> session.list(Sql.REFERENCES, this::reference, hash, hash));
        return before == null || memory == null || before.epoch() == memory.epoch();
    }

    /** Each page is a statement of its own, so that no snapshot stays open. */
    private void pages(NamedSql sql, String order, long behind, long upTo, RowCheck check) {
        long from = behind;
        int found = PAGE;
        while (found == PAGE) {
            long after = from;
            List<Long> page = single(session -> session.list(
                    sql,
                    row -> {
                        check.check(session, row);
                        return row.getLong(order);
                    },
                    hash,
                    after,
                    upTo,
                    PAGE));
            found = page.size();
            from = page.isEmpty() ? from : page.get(page.size() - 1);
        }
    }

    private void message(Session session, ResultSet row) throws SQLException {
        long seq = row.getLong("seq");
        boolean sound = false;
        Damage.Kind kind = Damage.Kind.TREE;
        String problem = null;
        try {
            Node node = Node.underParent(row);
            if (!row.getBoolean("has_runs")) {
                throw new DamagedException("the runs below message " + seq + " differ from those of its parent");
            }
            kind = Damage.Kind.MESSAGE;
            // By column names, because that way refuses numbers that are not whole.
            Rows.number(row, "created_at");
            Rows.text(row, "token_counter");
            sound = node.parentSeq() == null || !isUnsound(node.parentSeq());
            problem = content(row, node);
        } catch (DamagedException e) {
            problem = e.problem();
        }
        // Only now: SQLite converts a value that is read as a text, which would hide that it is not a text.
        String id = row.getString("id");
        if (seq != newest + 1) {
            add(Damage.Kind.SEQUENCE, seq, id, "the message before it, number " + (seq - 1) + ", is missing");
        }
        if (problem != null) {
            add(kind, seq, id, problem);
        }
        newest = seq > Memory.MAX ? newest : Math.max(newest, seq);
        long own = row.getLong("tokens");
        tokens += own >= 0 && own <= Integer.MAX_VALUE ? own : 0;
        if (sound) {
            newestSound = seq;
        } else {
            unsound.computeIfAbsent(seq / CHUNK, chunk -> new BitSet()).set((int) Math.floorMod(seq, (long) CHUNK));
        }
    }

    /** Checks the columns of a row other than its place. Returns the problem, or null. */
    private @Nullable String content(ResultSet row, Node node) throws SQLException {
        String problem = "the message cannot be read";
        try {
            LoggedMessage message = Rows.messageByName(key, codec, row);
            if (Outcome.UNREADABLE.equals(message.outcome())) {
                return problem;
            }
            node.checkType(message);
        } catch (KeepsakeException e) {
            unreadable.add(node.seq());
            return problem;
        }
        try {
            Made unused = NotesText.made(Rows.nullableText(row, "made"));
            Rows.nullableText(row, "bad_request");
            return null;
        } catch (KeepsakeException e) {
            badNotes.add(node.seq());
            return "what is kept about how it was made cannot be read";
        }
    }

    private boolean isUnsound(long seq) {
        BitSet chunk = unsound.get(seq / CHUNK);
        return chunk != null && chunk.get((int) Math.floorMod(seq, (long) CHUNK));
    }

    private void checkMemory(long last) {
        String problem = memory == null ? "a column of the memory's row has another type" : memory.problem();
        if (problem != null) {
            add(Damage.Kind.HEAD, memory == null ? null : memory.headSeq(), headId(), problem);
        }
        if (newest < last) {
            add(Damage.Kind.SEQUENCE, last, null, "messages are missing behind number " + newest);
        }
        if (memory != null && memory.tokens() != tokens) {
            add(Damage.Kind.MEMORY, null, null, "the sum of the messages' tokens is not the memory's");
        }
    }

    private void view(Session session, ResultSet row) throws SQLException {
        long anchor = row.getLong("anchor_seq");
        String problem = null;
        String id = null;
        try {
            id = Rows.nullableText(row, "anchor");
            Rows.number(row, "anchor_seq");
            View view = Rows.view(key, Rows.text(row, "view"), id, anchor);
            for (String name : view.names()) {
                Long seq = session.first(Sql.SEQUENCE_BY_ID, found -> found.getLong("seq"), hash, name);
                if (seq == null || isUnsound(seq)) {
                    problem = "the view names message " + name + ", which is missing or not sound";
                }
            }
        } catch (KeepsakeException e) {
            problem = "the view cannot be read, or its message is missing";
        }
        if (problem != null) {
            add(Damage.Kind.VIEW, anchor, id, problem);
            badViews.add(row.getObject("anchor_seq"));
        }
    }

    private void summary(Session session, ResultSet row) throws SQLException {
        try {
            Rows.summary(codec, row);
            long version = Rows.number(row, "version");
            if (version < 1 || version > Memory.MAX) {
                throw new DamagedException("its version is out of range");
            }
        } catch (KeepsakeException e) {
            add(Damage.Kind.SUMMARY, row.getLong("covers_seq"), row.getString("covers"), "the summary cannot be read");
            badSummaries.add(row.getObject("version"));
        }
    }

    /** The number of names is small, since an application gives them, so they are read at once. */
    private boolean reference(ResultSet row) throws SQLException {
        boolean sound;
        try {
            Long there = Rows.nullableNumber(row, "there");
            sound = there != null && Rows.nullableText(row, "name") != null && !isUnsound(there);
        } catch (DamagedException e) {
            // The name is no text.
            sound = false;
        }
        if (!sound) {
            Object name = row.getObject("name");
            long seq = row.getLong("seq");
            add(
                    Damage.Kind.REFERENCE,
                    seq,
                    row.getString("id"),
                    "a named branch has no name, or ends in message " + seq + ", which is missing or not sound");
            if (name != null) {
                badReferences.add(name);
            }
        }
        return true;
    }

    private void add(Damage.Kind kind, @Nullable Long seq, @Nullable String id, String problem) {
        if (damage.size() < Damage.MAX_REPORTED) {
            damage.add(new Damage(kind, seq, id, problem));
        }
    }

    private <T> T single(Connections.Work<T> work) {
        return connections.single("check of memory " + key, work);
    }

    private @Nullable Memory find() {
        return single(this::find).orElse(null);
    }

    /** Repairs the damage that was found, or does nothing if the memory's row has changed since. */
    private Optional<Repair> mend(Session session, long now) throws SQLException {
        session.list(dialect.sql().lockMemory(), row -> true, hash);
        Memory current = find(session).orElse(null);
        if (!Objects.equals(current, memory)) {
            return Optional.empty();
        }
        boolean isRowSound = current != null && current.problem() == null && current.tokens() == tokens;
        Long head = current == null ? null : current.headSeq();
        boolean isHeadSound = (current == null || head == null) ? isRowSound : isHead(session, current, head);
        if (isRowSound
                && isHeadSound
                && !repeatedWrongly
                && !listedWrongly
                && badViews.isEmpty()
                && badSummaries.isEmpty()
                && badReferences.isEmpty()
                && unreadable.isEmpty()
                && badNotes.isEmpty()) {
            return Optional.of(unchanged());
        }
        Memory row = current == null ? Memory.NONE : current;
        // A missing row is created again. An existing row keeps its ids.
        Memory.create(session, dialect, key, hash, Memory.NO_METADATA, List.of(Lists.ofTenant(key.tenant())), now);
        if (listedWrongly) {
            lists.set(session, key, hash, names);
        }
        Long sound = newestSound == 0 ? null : (Long) newestSound;
        long epoch = inRange(row.epoch(), 1);
        session.update(
                dialect.sql().mend(),
                isHeadSound ? head : sound,
                hash,
                epoch,
                inRange(row.revision(), 1) + 1,
                inRange(row.lastSeq(), newest),
                tokens);
        for (Long seq : unreadable) {
            session.update(Sql.MARK_UNREADABLE, NotesText.of(Outcome.UNREADABLE), hash, seq);
        }
        for (Long seq : badNotes) {
            session.update(Sql.DROP_MADE, seq, hash);
        }
        for (Object anchor : badViews) {
            session.update(Sql.DROP_VIEW, hash, anchor, hash, epoch);
        }
        for (Object version : badSummaries) {
            session.update(Sql.DROP_SUMMARY, version, hash, hash, epoch);
        }
        for (Object name : badReferences) {
            session.update(Sql.DROP_REFERENCE, name, hash, hash, epoch);
        }
        dialect.recount(session, hash);
        String mended =
                Memory.find(session, dialect.sql().memory(), hash).sound().headId();
        return Optional.of(
                new Repair(damage, headId(), mended, badViews.size(), badSummaries.size(), badReferences.size()));
    }

    private boolean isHead(Session session, Memory current, long head) throws SQLException {
        String id = session.first(Sql.NODE_BY_SEQ, row -> row.getString("id"), hash, hash, head);
        return id != null && id.equals(current.headId()) && !isUnsound(head);
    }

    private static long inRange(long value, long least) {
        return value < least || value > Memory.MAX ? least : value;
    }

    private Repair unchanged() {
        return new Repair(damage, headId(), headId(), 0, 0, 0);
    }

    private @Nullable String headId() {
        return memory == null ? null : memory.headId();
    }

    /** The memory's row as it is stored, or empty if it cannot be read. */
    private Optional<Memory> find(Session session) throws SQLException {
        try {
            return Optional.of(Memory.find(session, dialect.sql().memory(), hash));
        } catch (DamagedException e) {
            return Optional.empty();
        }
    }
}

package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.AppendRules;
import io.github.keepsake4j.backend.ListedMetadata;
import io.github.keepsake4j.backend.NotesText;
import io.github.keepsake4j.backend.RecordJson;
import io.github.keepsake4j.codec.MessageCodec;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.UnknownParentException;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.Ids;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.Session;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One append in several statements, inside a transaction that holds the memory's lock: nothing can happen between its
 * checks and its writes. SQLite appends like this because its statements are very cheap, and a distributed PostgreSQL
 * because it does not allow one statement that checks and writes.
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record SteppedAppender(Session session, Dialect dialect, MemoryKey key, byte[] hash, MessageCodec codec) {

    /**
     * Appends.
     *
     * @param texts the messages of the batch as JSON, encoded before the lock was taken
     * @param names the metadata names by which a memory that the append creates is listed
     * @param now the store's time in microseconds
     */
    AppendResult append(Append append, List<String> texts, ListedMetadata names, long now) throws SQLException {
        Memory memory = dialect.locked(session, hash);
        if (!texts.isEmpty() && memory.lastSeq() == 0) {
            // There may have been no row to lock. This is undone if the append is refused.
            List<Long> lists = Lists.of(key, append.metadata(), names);
            Memory.create(session, dialect, key, hash, codec.encodeStrings(append.metadata()), lists, now);
            memory = dialect.locked(session, hash);
        }
        AppendRules.checkEpoch(key, append.epoch(), memory.epoch());
        Reference named = Reference.find(session, hash, append.reference());
        Long endSeq = named == null ? memory.headSeq() : (Long) named.seq();
        String endId = named == null ? memory.headId() : named.id();
        Position position = new Position(memory.epoch(), memory.revision(), endId);
        if (AppendRules.isReplay(key, append, stored(append))) {
            return new AppendResult(endId, position, 0, true);
        }
        AppendRules.checkPosition(key, append, position);

        Node parent = texts.isEmpty() ? null : parent(append.parent(), memory, endSeq, append.importing());
        // Only an import may name a missing parent: its name is kept for reads to report.
        String parentId = parent != null ? parent.id() : append.parent() instanceof Parent.Of of ? named(of) : null;
        checkView(append);
        if (texts.isEmpty() && endId == null) {
            throw AppendRules.noMessages(key);
        }
        String head = texts.isEmpty() ? endId : insert(append, texts, memory, parent, parentId, now);
        long revision = memory.revision();
        if (AppendRules.raisesRevision(append, parentId, endId)) {
            session.update(Sql.BUMP_REVISION, hash);
            revision++;
        }
        if (append.view() != null) {
            setView(append.view().resolved(endId), head);
        }
        if (append.view() != null || !(append.parent() instanceof Parent.Head)) {
            dialect.recount(session, hash);
        }
        long lastSequence = texts.isEmpty() ? 0 : memory.lastSeq() + texts.size();
        return new AppendResult(endId, new Position(memory.epoch(), revision, head), lastSequence, false);
    }

    /** Looks up only the messages of the view, each by its index. */
    private void checkView(Append append) throws SQLException {
        Set<String> names = new HashSet<>(append.namedByView());
        if (append.view() != null && append.view().anchor() != null) {
            names.add(append.view().anchor());
        }
        Set<String> there = new HashSet<>();
        for (String id : names) {
            if (Node.byId(session, hash, id) != null) {
                there.add(id);
            }
        }
        AppendRules.checkView(key, append, there::contains);
    }

    private Map<String, LoggedMessage> stored(Append append) throws SQLException {
        Map<String, LoggedMessage> stored = new HashMap<>();
        for (NewMessage message : append.messages()) {
            LoggedMessage there =
                    session.first(Sql.MESSAGE_BY_ID, row -> Rows.message(key, codec, row), hash, message.id());
            if (there != null) {
                stored.put(there.id(), there);
            }
        }
        return stored;
    }

    private String insert(
            Append append,
            List<String> texts,
            Memory memory,
            @Nullable Node parent,
            @Nullable String firstParentId,
            long now)
            throws SQLException {
        String parentId = firstParentId;
        long seq = memory.lastSeq();
        long tokens = 0;
        long latest = Long.MIN_VALUE;
        Node node = parent;
        for (int i = 0; i < texts.size(); i++) {
            NewMessage message = append.messages().get(i);
            node = Node.child(
                    node,
                    ++seq,
                    message.id(),
                    parentId,
                    message.tokens(),
                    message.message().type());
            long time = message.createdAt() == null ? now : Rows.micros(message.createdAt());
            latest = Math.max(latest, time);
            session.update(
                    dialect.sql().insertMessage(),
                    hash,
                    node.seq(),
                    message.id(),
                    node.parentSeq(),
                    parentId,
                    texts.get(i),
                    message.tokens(),
                    message.tokenCounter(),
                    time,
                    node.runStart(),
                    node.depth(),
                    node.pathTokens(),
                    node.systemSeq(),
                    node.userSeq(),
                    dialect.runsBelow(session, hash, node),
                    NotesText.of(message.outcome()),
                    NotesText.of(message.made()),
                    message.made().request());
            parentId = message.id();
            tokens += message.tokens();
        }
        String last = append.messages().get(texts.size() - 1).id();
        if (append.reference() == null) {
            session.update(dialect.sql().advanceMemory(), hash, seq, last, tokens, latest);
        } else {
            session.update(Sql.ADVANCE_BESIDE_HEAD, seq, tokens, latest, latest, hash);
            session.update(Sql.PUT_REFERENCE, hash, append.reference(), seq, last);
        }
        moveToFront(memory.lastSeq() == 0 ? append.messages().get(0) : null, latest, now);
        for (Map.Entry<LocalDate, Usage> day :
                AppendRules.usageByDay(append, Rows.time(now)).entrySet()) {
            Usage used = day.getValue();
            session.update(
                    Sql.ADD_USAGE,
                    hash,
                    day.getKey().toEpochDay(),
                    key.tenant(),
                    used.input(),
                    used.output(),
                    used.cached());
        }
        return last;
    }

    /** Moves the memory on its lists by activity. Its first message sets its age, if it is the first. */
    private void moveToFront(@Nullable NewMessage first, long latest, long now) throws SQLException {
        if (first != null) {
            long begin = first.createdAt() == null ? now : Rows.micros(first.createdAt());
            session.update(Sql.BEGIN, begin, hash, begin);
        }
        session.update(dialect.sql().move(), hash, latest, first != null);
        session.update(Sql.SET_ACTIVE_AT, latest, hash, first != null, latest);
    }

    private @Nullable Node parent(Parent parent, Memory memory, @Nullable Long end, boolean importing)
            throws SQLException {
        if (parent instanceof Parent.Of of) {
            if (of.id().equals(Ids.BEFORE_IN_TIME)) {
                return Node.bySeq(session, hash, memory.lastSeq());
            }
            Node named = Node.byId(session, hash, of.id());
            if (named == null && !importing) {
                throw new UnknownParentException(key, of.id());
            }
            return named;
        }
        return parent instanceof Parent.Root || end == null ? null : Node.bySeq(session, hash, end);
    }

    private static @Nullable String named(Parent.Of parent) {
        return parent.id().equals(Ids.BEFORE_IN_TIME) ? null : parent.id();
    }

    private void setView(View view, @Nullable String head) throws SQLException {
        String anchor = view.anchor() == null ? head : view.anchor();
        if (anchor == null) {
            throw AppendRules.noMessages(key);
        }
        Node node = Node.existing(session, key, hash, "view anchor", anchor);
        session.update(Sql.PUT_VIEW, hash, node.seq(), node.id(), RecordJson.write(view));
    }
}

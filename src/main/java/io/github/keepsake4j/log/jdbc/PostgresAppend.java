package io.github.keepsake4j.log.jdbc;

import dev.langchain4j.data.message.ChatMessageType;
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
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.sql.KeyColumns;
import io.github.keepsake4j.sql.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * One append: {@link PostgresSql#APPEND}, or, under the head of a memory that is known to have messages, the shorter
 * {@link PostgresSql#APPEND_ONE}, {@link PostgresSql#APPEND_ONE_AND_VIEW} and {@link PostgresSql#APPEND_MANY}, or, for a
 * memory that is not known to have any, {@link PostgresSql#APPEND_FIRST}. Each
 * statement makes the whole append or nothing. If it made nothing, a second statement finds the reason, by the rules of
 * every store. The second statement may see a newer state than the first one. If nothing prevents the append in that
 * state, it is sent again.
 */
record PostgresAppend(
        MemoryKey key,
        KnownMemory known,
        Append append,
        Columns columns,
        ListedMetadata names,
        long now,
        MessageCodec codec) {

    /** The number of tries. A try fails only if another writer was first. */
    private static final int MAX_ROUNDS = 100;

    private static final String UNIQUE_VIOLATION = "23505";

    /** A message by its place. */
    private record Link(long seq, String id) {}

    AppendResult run(Session session) throws SQLException {
        for (int round = 0; round < MAX_ROUNDS; round++) {
            AppendResult done = tryOnce(session);
            if (done != null) {
                return done;
            }
        }
        throw new StorageUnavailableException(
                "append to memory " + key + ": other writers were first in each try. Retry the append", null);
    }

    /**
     * Appends one message under the head of a distributed memory. Returns nothing for any other append, if a condition
     * is not met, or if an id is used. The append is then made in several statements, which find the reason.
     */
    Optional<AppendResult> runDistributed(Session session) throws SQLException {
        if (!known.begun
                || !(append.parent() instanceof Parent.Head)
                || append.view() != null
                || columns.hasNotes
                || columns.size() != 1) {
            return Optional.empty();
        }
        try {
            return Optional.ofNullable(session.firstOfSeveral(PostgresSql.APPEND_ONE_DISTRIBUTED, this::result, one()));
        } catch (SQLException e) {
            if (!UNIQUE_VIOLATION.equals(e.getSQLState())) {
                throw e;
            }
            return Optional.empty();
        }
    }

    private @Nullable AppendResult tryOnce(Session session) throws SQLException {
        String parent = append.parent() instanceof Parent.Of of ? of.id() : null;
        Long lastSeq = null;
        if (Ids.BEFORE_IN_TIME.equals(parent)) {
            Link newest = session.first(
                    PostgresSql.NEWEST_MESSAGE, row -> new Link(row.getLong("seq"), row.getString("id")), known.hash);
            parent = newest == null ? null : newest.id();
            lastSeq = newest == null ? 0 : newest.seq();
        }
        AppendResult done = null;
        try {
            if (known.begun && append.parent() instanceof Parent.Head && columns.size() > 0) {
                done = underHead(session, append.view());
            } else if (isFirst()) {
                done = session.first(PostgresSql.APPEND_FIRST, this::result, first());
            }
            if (done == null) {
                @Nullable Object[] all = parameters(parent, lastSeq);
                done = columns.hasNotes
                        ? session.first(PostgresSql.APPEND_WITH_NOTES, this::result, with(all, columns.notes()))
                        : session.first(PostgresSql.APPEND, this::result, all);
            }
        } catch (SQLException e) {
            if (!UNIQUE_VIOLATION.equals(e.getSQLState())) {
                throw e;
            }
        }
        return done != null ? done : classify(session, parent);
    }

    /** Returns whether the memory may have no row, and the append needs no other one than that. */
    private boolean isFirst() {
        return !known.begun
                && append.parent() instanceof Parent.Head
                && columns.size() > 0
                && !columns.hasNotes
                && append.view() == null
                && !append.importing()
                && (append.epoch() == null || append.epoch() == Memory.NONE.epoch())
                && (append.revision() == null || append.revision() == Memory.NONE.revision())
                && append.expectedHead() == null;
    }

    private @Nullable Object[] first() {
        return with(
                with(new @Nullable Object[] {known.hash}, described()),
                with(
                        new @Nullable Object[] {
                            columns.lastId(),
                            columns.tokens,
                            columns.latestTime(),
                            columns.lastPlaceOf(columns.systemPlaces),
                            columns.lastPlaceOf(columns.userPlaces)
                        },
                        columns.parameters(null)));
    }

    /** What a new row says of the memory. */
    private @Nullable Object[] described() {
        KeyColumns ids = KeyColumns.of(key);
        return new @Nullable Object[] {
            ids.tenant(),
            ids.app(),
            ids.conversation(),
            ids.node(),
            codec.encodeStrings(append.metadata()),
            Lists.of(key, append.metadata(), names).toArray(Long[]::new),
            now
        };
    }

    /** Returns null if the memory has changed since it was seen, or if only the general append can do this. */
    private @Nullable AppendResult underHead(Session session, @Nullable View view) throws SQLException {
        if (columns.hasNotes) {
            return view == null ? underHeadWithNotes(session) : null;
        }
        if (view == null) {
            return columns.size() == 1
                    ? session.first(PostgresSql.APPEND_ONE, this::result, one())
                    : session.first(PostgresSql.APPEND_MANY, this::result, many(null));
        }
        return columns.size() == 1 && view.anchor() == null
                ? session.first(
                        PostgresSql.APPEND_ONE_AND_VIEW, this::result, with(one(), RecordJson.write(view), named()))
                : null;
    }

    private @Nullable AppendResult underHeadWithNotes(Session session) throws SQLException {
        if (columns.size() > 1) {
            return session.first(
                    PostgresSql.APPEND_MANY_WITH_NOTES,
                    this::result,
                    with(with(many(null), columns.notes()), key.tenant()));
        }
        @Nullable Object[] noted = with(one(), columns.outcomes[0], columns.made[0], columns.requests[0]);
        return columns.used.get(0).length == 0
                ? session.first(PostgresSql.APPEND_ONE_WITH_NOTES, this::result, noted)
                : session.first(
                        PostgresSql.APPEND_ONE_WITH_USAGE,
                        this::result,
                        with(with(noted, columns.usedOnDay()), key.tenant()));
    }

    private String[] named() {
        return append.namedByView().toArray(String[]::new);
    }

    private AppendResult result(ResultSet row) throws SQLException {
        return new AppendResult(
                row.getString("prev_head_id"),
                new Position(row.getLong("epoch"), row.getLong("revision"), row.getString("head_id")),
                columns.size() == 0 ? 0 : row.getLong("last_seq"),
                false);
    }

    private @Nullable Object[] one() {
        NewMessage message = append.messages().get(0);
        return with(
                underHead(
                        message.message().type() == ChatMessageType.SYSTEM,
                        message.message().type() == ChatMessageType.USER),
                message.tokenCounter(),
                columns.messages[0]);
    }

    private @Nullable Object[] many(@Nullable String parent) {
        return with(
                underHead(columns.lastPlaceOf(columns.systemPlaces), columns.lastPlaceOf(columns.userPlaces)),
                columns.parameters(parent));
    }

    /** In the order of {@link PostgresSql#UNDER_HEAD_PARAMETERS}. */
    private @Nullable Object[] underHead(@Nullable Object system, @Nullable Object user) {
        return new @Nullable Object[] {
            known.hash,
            append.epoch(),
            append.revision(),
            !append.expectsHead(),
            append.expectedHead(),
            columns.lastId(),
            columns.tokens,
            columns.latestTime(),
            system,
            user
        };
    }

    private @Nullable Object[] parameters(@Nullable String parent, @Nullable Long lastSeq) {
        View view = append.view();
        boolean underHead = append.parent() instanceof Parent.Head || columns.size() == 0;
        String namedParent = underHead ? null : parent;
        return with(
                with(many(namedParent), described()),
                lastSeq,
                underHead,
                namedParent,
                append.importing(),
                view == null ? null : view.anchor(),
                view == null ? null : RecordJson.write(view),
                named());
    }

    private static @Nullable Object[] with(@Nullable Object[] first, @Nullable Object... more) {
        @Nullable Object[] all = Arrays.copyOf(first, first.length + more.length);
        System.arraycopy(more, 0, all, first.length, more.length);
        return all;
    }

    /** Throws the error that stops the append, or returns the outcome of a replay, or null if nothing prevents it. */
    private @Nullable AppendResult classify(Session session, @Nullable String parent) throws SQLException {
        List<String> named = new ArrayList<>(append.namedByView());
        if (append.view() != null && append.view().anchor() != null) {
            named.add(append.view().anchor());
        }
        Set<String> namedThere = new HashSet<>();
        Map<String, LoggedMessage> stored = new HashMap<>();
        boolean[] hasParent = new boolean[1];
        Memory memory = session.list(
                        PostgresSql.CLASSIFY,
                        row -> {
                            hasParent[0] = row.getBoolean("has_parent");
                            namedThere.addAll(Arrays.asList(
                                    (String[]) row.getArray("named").getArray()));
                            if (row.getString("id") != null) {
                                LoggedMessage message = Rows.messageByName(key, codec, row);
                                stored.put(message.id(), message);
                            }
                            return Memory.of(row, "memory_tokens");
                        },
                        known.hash,
                        parent,
                        named.toArray(String[]::new),
                        columns.ids)
                .get(0)
                .sound();
        AppendRules.checkEpoch(key, append.epoch(), memory.epoch());
        if (AppendRules.isReplay(key, append, stored)) {
            return new AppendResult(memory.headId(), memory.position(), 0, true);
        }
        AppendRules.checkPosition(key, append, memory.position());
        if (parent != null && columns.size() > 0 && !hasParent[0] && !append.importing()) {
            throw new UnknownParentException(key, parent);
        }
        AppendRules.checkView(key, append, namedThere::contains);
        if (columns.size() == 0 && memory.headId() == null) {
            throw AppendRules.noMessages(key);
        }
        return null;
    }

    /** The batch by columns, as {@code unnest} takes it. Places count from 1; 0 means none so far. */
    static final class Columns {

        private final String[] ids;
        private final String[] messages;
        private final String[] counters;
        private final Integer[] tokenCounts;
        private final Long[] tokensSoFar;
        private final Long[] times;
        private final Long[] systemPlaces;
        private final Long[] userPlaces;
        private final @Nullable String[] outcomes;
        private final @Nullable String[] made;
        private final @Nullable String[] requests;
        private final List<Long[]> used;

        /** Whether a message has notes. */
        private final boolean hasNotes;

        private final long tokens;

        Columns(Append append, List<String> texts, long now) {
            List<NewMessage> batch = append.messages();
            int size = batch.size();
            ids = new String[size];
            messages = texts.toArray(String[]::new);
            counters = new String[size];
            tokenCounts = new Integer[size];
            tokensSoFar = new Long[size];
            times = new Long[size];
            systemPlaces = new Long[size];
            userPlaces = new Long[size];
            outcomes = new @Nullable String[size];
            made = new @Nullable String[size];
            requests = new @Nullable String[size];
            boolean notes = false;
            long sum = 0;
            long system = 0;
            long user = 0;
            for (int i = 0; i < size; i++) {
                NewMessage message = batch.get(i);
                ChatMessageType type = message.message().type();
                sum += message.tokens();
                system = type == ChatMessageType.SYSTEM ? i + 1 : system;
                user = type == ChatMessageType.USER ? i + 1 : user;
                ids[i] = message.id();
                counters[i] = message.tokenCounter();
                tokenCounts[i] = message.tokens();
                tokensSoFar[i] = sum;
                times[i] = message.createdAt() == null ? now : Rows.micros(message.createdAt());
                systemPlaces[i] = system;
                userPlaces[i] = user;
                outcomes[i] = NotesText.of(message.outcome());
                made[i] = NotesText.of(message.made());
                requests[i] = message.made().request();
                notes |= outcomes[i] != null || made[i] != null || requests[i] != null;
            }
            tokens = sum;
            hasNotes = notes;
            used = notes ? used(append, now) : List.of();
        }

        /** The days, and the tokens of input, output and cache on them. */
        private static List<Long[]> used(Append append, long now) {
            SortedMap<LocalDate, Usage> sums = AppendRules.usageByDay(append, Rows.time(now));
            return List.of(
                    sums.keySet().stream().map(LocalDate::toEpochDay).toArray(Long[]::new),
                    sums.values().stream().map(Usage::input).toArray(Long[]::new),
                    sums.values().stream().map(Usage::output).toArray(Long[]::new),
                    sums.values().stream().map(Usage::cached).toArray(Long[]::new));
        }

        int size() {
            return ids.length;
        }

        /** In the order in which the statements name them. */
        @Nullable
        Object[] notes() {
            return with(new @Nullable Object[] {outcomes, made, requests}, used.toArray());
        }

        /** The first day, and the tokens of input, output and cache on it. */
        Object[] usedOnDay() {
            return used.stream().map(each -> each[0]).toArray();
        }

        /** In the order in which the statements name them. */
        @Nullable
        Object[] parameters(@Nullable String firstParent) {
            return new @Nullable Object[] {
                (long) size(),
                ids,
                parents(firstParent),
                messages,
                counters,
                tokenCounts,
                tokensSoFar,
                times,
                systemPlaces,
                userPlaces
            };
        }

        @Nullable
        String lastId() {
            return ids.length == 0 ? null : ids[ids.length - 1];
        }

        @Nullable
        Long latestTime() {
            return ids.length == 0 ? null : Collections.max(List.of(times));
        }

        @Nullable
        Long lastPlaceOf(Long[] places) {
            return places.length == 0 || places[places.length - 1] == 0 ? null : places[places.length - 1];
        }

        /** Each message follows the one before it; the parent of the first one may be known only in the database. */
        @Nullable
        String[] parents(@Nullable String first) {
            @Nullable String[] parents = new @Nullable String[ids.length];
            for (int i = 0; i < ids.length; i++) {
                parents[i] = i == 0 ? first : ids[i - 1];
            }
            return parents;
        }
    }
}

package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.NamedSql;
import java.util.List;

/** The statements that only SQLite accepts or needs. */
final class SqliteSql {

    /** {@link #MEMORY}, as a part of other statements too. */
    static final String MEMORY_ROW =
            """
            SELECT CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.epoch END AS epoch, CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.revision END AS revision,
                   CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.last_seq END AS last_seq, CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.tokens END AS tokens, m.head_seq, m.head_id,
                   CASE
                     WHEN EXISTS (SELECT 1 FROM keepsake_message x
                                  WHERE x.memory_key = given.memory_key AND x.seq > COALESCE(m.last_seq, 0)
                                    AND x.seq <= 1152921504606846976)
                       THEN 'there are messages that its row does not know of'
                     WHEN m.head_seq IS NOT NULL AND NOT EXISTS (
                         SELECT 1 FROM keepsake_message h
                         WHERE h.memory_key = given.memory_key AND h.seq = m.head_seq AND h.id = m.head_id)
                       THEN 'the head is not there'
                   END AS damage
            FROM (SELECT :memory_key AS memory_key) given
            LEFT JOIN keepsake_memory m ON m.memory_key = given.memory_key
            """;

    /** Always one row. */
    static final NamedSql MEMORY = NamedSql.of(MEMORY_ROW, "memory_key");

    static final NamedSql ADVANCE_MEMORY = NamedSql.of(
            """
            UPDATE keepsake_memory
            SET last_seq = :seq, head_seq = :seq, head_id = :id, tokens = tokens + :tokens,
                last_message_at = MAX(COALESCE(last_message_at, :created_at), :created_at)
            WHERE memory_key = :memory_key
            """,
            "memory_key seq id tokens created_at");

    static final NamedSql TAKE_LEASE = NamedSql.of(
            """
            INSERT INTO keepsake_lease (memory_key, name, owner, expires_at)
            VALUES (:memory_key, :name, :owner, :now + :duration)
            ON CONFLICT (memory_key, name) DO UPDATE
              SET owner = excluded.owner, expires_at = excluded.expires_at
              WHERE keepsake_lease.owner = excluded.owner OR keepsake_lease.expires_at <= :now
            RETURNING expires_at
            """,
            "memory_key name owner duration now");

    /** The old head is checked before, under the only write lock. */
    static final NamedSql MOVE_HEAD = NamedSql.of(
            """
            UPDATE keepsake_memory
            SET head_seq = :seq, head_id = (SELECT id FROM keepsake_message WHERE memory_key = :memory_key AND seq = :seq),
                revision = revision + 1
            WHERE memory_key = :memory_key AND epoch = :epoch
            """,
            "seq memory_key epoch");

    static final NamedSql MEND_MEMORY = NamedSql.of(
            """
            UPDATE keepsake_memory
            SET head_seq = :seq, head_id = (SELECT id FROM keepsake_message WHERE memory_key = :memory_key AND seq = :seq),
                epoch = :epoch, revision = :revision, last_seq = :last_seq, tokens = :tokens
            WHERE memory_key = :memory_key
            """,
            "seq memory_key epoch revision last_seq tokens");

    static final NamedSql INSERT_MESSAGE = NamedSql.of(
            """
            INSERT INTO keepsake_message
              (memory_key, seq, id, parent_seq, parent_id, message, tokens, token_counter, created_at,
               run_start, depth, path_tokens, system_seq, user_seq, outcome, made, request)
            VALUES (:memory_key, :seq, :id, :parent_seq, :parent_id, :message, :tokens, :token_counter, :created_at,
                    :run_start, :depth, :path_tokens, :system_seq, :user_seq, :outcome, :made, :request)
            """,
            "memory_key seq id parent_seq parent_id message tokens token_counter created_at run_start "
                    + "depth path_tokens system_seq user_seq runs outcome made request");

    /** Messages by their ids, which are one JSON array, in any order. */
    static final String FIND =
            """
            SELECT m.seq, m.id, m.parent_id, m.message, m.tokens, m.token_counter, m.created_at, m.outcome
            FROM json_each(?2) AS wanted
            CROSS JOIN keepsake_message m ON m.memory_key = ?1 AND m.id = wanted.value
            """;

    /** Messages by their sequences, which are one JSON array, in any order. */
    static final String FIND_AT =
            """
            SELECT m.seq, m.id, m.parent_id, m.message, m.tokens, m.token_counter, m.created_at, m.outcome
            FROM json_each(?2) AS wanted
            CROSS JOIN keepsake_message m ON m.memory_key = ?1 AND m.seq = wanted.value
            """;

    static final String MESSAGE_BY_SEQ =
            """
            SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
            FROM keepsake_message
            WHERE memory_key = ? AND seq = ?
            """;

    /**
     * The newest messages of a run down to a sequence, newest first. Other rows with such sequences are not read: they
     * may be damaged. Parameters: key, lowest sequence, end; key, end.
     */
    static final String RUN =
            """
            SELECT m.seq, m.id, m.parent_id, m.message, m.tokens, m.token_counter, m.created_at, m.outcome, m.parent_seq,
                   m.run_start, m.depth, m.path_tokens, m.system_seq, m.user_seq
            FROM keepsake_message m
            WHERE m.memory_key = ? AND m.seq BETWEEN ? AND ?
              AND m.run_start = (SELECT h.run_start FROM keepsake_message h WHERE h.memory_key = ? AND h.seq = ?)
            ORDER BY m.seq DESC
            """;

    /**
     * The newest part of a branch: from run to run, each a range of the primary key that is cut to the wanted part. In
     * any order, because SQLite would sort many rows in a file. Parameters: floor, limit, limit; key, start; floor;
     * key, floor; key.
     */
    static final String BRANCH =
            """
            WITH RECURSIVE run (low, high, up, room) AS (
              SELECT max(h.run_start, ? + 1, h.seq - ? + 1), h.seq,
                     (SELECT f.parent_seq FROM keepsake_message f
                      WHERE f.memory_key = h.memory_key AND f.seq = h.run_start),
                     ? - (h.seq - h.run_start + 1)
              FROM keepsake_message h
              WHERE h.memory_key = ? AND h.seq = ?
              UNION ALL
              SELECT max(p.run_start, ? + 1, p.seq - run.room + 1), p.seq,
                     (SELECT f.parent_seq FROM keepsake_message f
                      WHERE f.memory_key = p.memory_key AND f.seq = p.run_start),
                     run.room - (p.seq - p.run_start + 1)
              FROM run
              CROSS JOIN keepsake_message p ON p.memory_key = ? AND p.seq = run.up
              WHERE run.up > ? AND run.up < run.high AND run.room > 0
            )
            SELECT m.seq, m.id, m.parent_id, m.message, m.tokens, m.token_counter, m.created_at, m.outcome, m.parent_seq,
                   m.run_start, m.depth, m.path_tokens, m.system_seq, m.user_seq
            FROM run
            CROSS JOIN keepsake_message m ON m.memory_key = ? AND m.seq BETWEEN run.low AND run.high
            """;

    /**
     * The oldest part of a branch, in any order. It goes from run to run to the branch's beginning, and returns the wanted
     * part of the runs there. A run's depth is the depth of its first message. Parameters: key, end; key, key, depth of
     * the first wanted message; key; that depth, the depth of the last wanted message twice.
     */
    static final String OLDEST =
            """
            WITH RECURSIVE run (low, high, depth) AS (
              SELECT h.run_start, h.seq, h.depth - (h.seq - h.run_start)
              FROM keepsake_message h
              WHERE h.memory_key = ? AND h.seq = ?
              UNION ALL
              SELECT p.run_start, p.seq, p.depth - (p.seq - p.run_start)
              FROM run
              CROSS JOIN keepsake_message f ON f.memory_key = ? AND f.seq = run.low
              CROSS JOIN keepsake_message p ON p.memory_key = ? AND p.seq = f.parent_seq
              WHERE run.depth > ? AND p.seq < run.high
            )
            SELECT m.seq, m.id, m.parent_id, m.message, m.tokens, m.token_counter, m.created_at, m.outcome, m.parent_seq,
                   m.run_start, m.depth, m.path_tokens, m.system_seq, m.user_seq
            FROM run
            CROSS JOIN keepsake_message m ON m.memory_key = ?
              AND m.seq BETWEEN max(run.low, run.low + ? - run.depth) AND min(run.high, run.low + ? - run.depth)
            WHERE run.depth <= ?
            """;

    /**
     * The memory's row, joined with each range of sequences of the head's branch, in any order: from run to run down to
     * one with a sequence, or to one without a valid parent. There is one row without a range if there is no head. The
     * parent of a run is 0 for a root, and null if the run's first message is missing or contradicts its last two
     * messages.
     */
    static final NamedSql RUNS_OF_HEAD = NamedSql.of(
            "WITH RECURSIVE memory AS MATERIALIZED (\n" + MEMORY_ROW
                    + """
                    ),
                    run (low, high, depth, up, up_id) AS (
                      SELECT h.run_start, h.seq, f.depth,
                             CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE NULLIF(f.parent_seq, 0) END, f.parent_id
                      FROM memory
                      CROSS JOIN keepsake_message h ON h.memory_key = :memory_key AND h.seq = memory.head_seq
                      LEFT JOIN keepsake_message f ON f.memory_key = :memory_key AND f.seq = h.run_start
                        AND f.run_start = f.seq AND f.depth = h.depth - (h.seq - h.run_start)
                        AND (h.seq = h.run_start
                             OR EXISTS (SELECT 1 FROM keepsake_message b
                                        WHERE b.memory_key = :memory_key AND b.seq = h.seq - 1 AND b.run_start = h.run_start))
                      UNION ALL
                      SELECT p.run_start, p.seq, f.depth,
                             CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE NULLIF(f.parent_seq, 0) END, f.parent_id
                      FROM run
                      CROSS JOIN keepsake_message p ON p.memory_key = :memory_key AND p.seq = run.up
                      LEFT JOIN keepsake_message f ON f.memory_key = :memory_key AND f.seq = p.run_start
                        AND f.run_start = f.seq AND f.depth = p.depth - (p.seq - p.run_start)
                        AND (p.seq = p.run_start
                             OR EXISTS (SELECT 1 FROM keepsake_message b
                                        WHERE b.memory_key = :memory_key AND b.seq = p.seq - 1 AND b.run_start = p.run_start))
                      WHERE run.low > :lowest AND p.seq < run.low AND p.depth = run.depth - 1 AND p.id = run.up_id
                    )
                    SELECT memory.*, run.low, run.high, run.up
                    FROM memory
                    LEFT JOIN run
                    """,
            "memory_key lowest");

    /**
     * The oldest run that must be read to find out whether a sequence is on the branch that ends in another one. Its
     * parent is 0 for a root, and null if the run's first message is missing. In SQLite, the other columns come from
     * the row that has {@code min}. Parameters: key, end, key, sequence, sequence, sequence.
     */
    static final String IS_ON_BRANCH =
            """
            WITH RECURSIVE run (low, high, up, depth) AS (
              SELECT h.run_start, h.seq,
                     (SELECT CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE f.parent_seq END
                      FROM keepsake_message f
                      WHERE f.memory_key = h.memory_key AND f.seq = h.run_start),
                     h.depth - (h.seq - h.run_start)
              FROM keepsake_message h
              WHERE h.memory_key = ? AND h.seq = ?
              UNION ALL
              SELECT p.run_start, p.seq,
                     (SELECT CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE f.parent_seq END
                      FROM keepsake_message f
                      WHERE f.memory_key = p.memory_key AND f.seq = p.run_start),
                     p.depth - (p.seq - p.run_start)
              FROM run
              CROSS JOIN keepsake_message p ON p.memory_key = ? AND p.seq = run.up
              WHERE run.low > ? AND run.up < run.high AND p.depth = run.depth - 1
            )
            SELECT min(high), low, up, low <= ? AS reached, high >= ? AS within FROM run HAVING min(high) IS NOT NULL
            """;

    /**
     * A page of a list: the remaining memories of the cursor's place, and then those of lower places. With one
     * condition, SQLite would read all memories of that place, which are all of them in order of creation, and an import may
     * give one time to very many. A number is unique here.
     */
    static final NamedSql LIST = NamedSql.of(
            """
            SELECT * FROM (
              SELECT m.memory_key, l.place, l.number, 0 AS tie, m.tenant, m.app_id, m.conversation_id, m.node_id, m.title, m.metadata,
                     m.last_seq, m.tokens, m.created_at, m.last_message_at, m.stored_at
              FROM keepsake_listed l
              LEFT JOIN keepsake_memory m ON m.number = l.number AND m.tenant = :tenant
                AND l.place = CASE WHEN l.list > 0 THEN m.active_at ELSE 0 END
              WHERE l.list = :list AND l.place = :place AND l.number < :number
              ORDER BY l.number DESC
              LIMIT :rows
            )
            UNION ALL
            SELECT * FROM (
              SELECT m.memory_key, l.place, l.number, 0 AS tie, m.tenant, m.app_id, m.conversation_id, m.node_id, m.title, m.metadata,
                     m.last_seq, m.tokens, m.created_at, m.last_message_at, m.stored_at
              FROM keepsake_listed l
              LEFT JOIN keepsake_memory m ON m.number = l.number AND m.tenant = :tenant
                AND l.place = CASE WHEN l.list > 0 THEN m.active_at ELSE 0 END
              WHERE l.list = :list AND l.place < :place
              ORDER BY l.place DESC, l.number DESC
              LIMIT :rows
            )
            ORDER BY place DESC, number DESC
            LIMIT :rows
            """,
            ListCursor.PARAMETERS);

    /**
     * {@link #LIST} of the memories with usage in some days, each in a row for each day. It begins with the usage, and their rows
     * say where they are on the list.
     */
    static final NamedSql USAGE = NamedSql.of(
            """
            SELECT m.*, u.day, u.input_tokens, u.output_tokens, u.cached_tokens
            FROM (
              SELECT m.memory_key, m.place, m.number, 0 AS tie, m.tenant, m.app_id, m.conversation_id, m.node_id, m.title, m.metadata,
                     m.last_seq, m.tokens, m.created_at, m.last_message_at, m.stored_at
              FROM (
                SELECT m.*, CASE WHEN :list > 0 THEN m.active_at ELSE 0 END AS place FROM keepsake_memory m
                WHERE m.memory_key IN (SELECT memory_key FROM keepsake_usage
                                         WHERE tenant = :tenant AND day >= :from_day AND day < :to_day)
                  AND m.tenant = :tenant
                  AND abs(:list) IN (SELECT value FROM json_each(CASE WHEN json_valid(m.lists) THEN m.lists ELSE '[]' END))
              ) m
              WHERE m.place < :place OR (m.place = :place AND m.number < :number)
              ORDER BY m.place DESC, m.number DESC
              LIMIT :rows
            ) m
            JOIN keepsake_usage u
              ON u.memory_key = m.memory_key AND u.tenant = :tenant AND u.day >= :from_day AND u.day < :to_day
            ORDER BY m.place DESC, m.number DESC, m.tie DESC, u.day
            """,
            ListCursor.PARAMETERS);

    static final NamedSql MOVE = NamedSql.of(
            """
            UPDATE keepsake_listed SET place = :time
            FROM keepsake_memory m, json_each(CASE WHEN json_valid(m.lists) THEN m.lists ELSE '[]' END) AS list
            WHERE m.memory_key = :memory_key AND (:begins OR m.active_at / 60000000 < :time / 60000000)
              AND keepsake_listed.list = list.value AND keepsake_listed.place = m.active_at
              AND keepsake_listed.number = m.number
            """,
            "memory_key time begins");

    static final NamedSql MISSING_ON_LISTS = NamedSql.of(
            """
            SELECT 1 AS missing FROM keepsake_memory m
            WHERE m.memory_key = :memory_key AND m.tenant IS NOT NULL AND NOT json_valid(COALESCE(m.lists, ''))
            UNION ALL
            SELECT 1
            FROM keepsake_memory m, json_each(CASE WHEN json_valid(m.lists) THEN m.lists ELSE '[]' END) AS list, (SELECT 1 AS sign UNION ALL SELECT -1) AS orders
            WHERE m.memory_key = :memory_key AND NOT EXISTS (
              SELECT 1 FROM keepsake_listed l
              WHERE l.list = list.value * orders.sign
                AND l.place = CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END AND l.number = m.number)
            """,
            "memory_key");

    static final NamedSql PUT_ON_LISTS = NamedSql.of(
            """
            INSERT INTO keepsake_listed (list, place, number)
            SELECT list.value * orders.sign, CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END, m.number
            FROM json_each(:lists) AS list, keepsake_memory m, (SELECT 1 AS sign UNION ALL SELECT -1) AS orders
            WHERE m.memory_key = :memory_key
            ON CONFLICT (list, place, number) DO NOTHING
            """,
            "lists memory_key");

    static final NamedSql TAKE_OFF_LISTS = NamedSql.of(
            """
            DELETE FROM keepsake_listed
            WHERE (list, place, number) IN (
              SELECT list.value * orders.sign, CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END, m.number
              FROM keepsake_memory m, json_each(CASE WHEN json_valid(m.lists) THEN m.lists ELSE '[]' END) AS list,
                   (SELECT 1 AS sign UNION ALL SELECT -1) AS orders
              WHERE m.epoch = :epoch AND m.memory_key = :memory_key)
            """,
            "epoch memory_key");

    /**
     * The leaves: each run's end that is not the parent of another run, and the head if nothing follows it. Runs are
     * found by the index over their starts, so the cost depends on the forks, not on the messages. A missing leaf has
     * no id.
     */
    static final NamedSql LEAVES = NamedSql.of(
            """
            SELECT run_end.seq, l.id, l.depth, l.created_at,
                   COALESCE(l.seq = (SELECT m.head_seq FROM keepsake_memory m WHERE m.memory_key = l.memory_key), 0)
                     AS current
            FROM (
              SELECT (SELECT max(b.seq) FROM keepsake_message b WHERE b.memory_key = r.memory_key AND b.seq < r.seq) AS seq
              FROM keepsake_message r
              WHERE r.memory_key = :memory_key AND r.run_start = r.seq AND r.seq > 1
              UNION
              SELECT max(seq) FROM keepsake_message WHERE memory_key = :memory_key
              UNION
              SELECT m.head_seq FROM keepsake_memory m
              WHERE m.memory_key = :memory_key AND NOT EXISTS (
                SELECT 1 FROM keepsake_message n
                WHERE n.memory_key = m.memory_key AND n.seq = m.head_seq + 1 AND n.run_start < n.seq)
            ) run_end
            LEFT JOIN keepsake_message l ON l.memory_key = :memory_key AND l.seq = run_end.seq
            WHERE run_end.seq IS NOT NULL AND run_end.seq NOT IN (
              SELECT r.parent_seq FROM keepsake_message r
              WHERE r.memory_key = :memory_key AND r.run_start = r.seq AND r.parent_seq IS NOT NULL
            )
            ORDER BY run_end.seq DESC
            """,
            "memory_key");

    static final String NEWEST_VIEW_UP_TO =
            """
            SELECT anchor_seq AS seq FROM keepsake_view
            WHERE memory_key = ? AND anchor_seq <= ?
            ORDER BY anchor_seq DESC
            LIMIT 1
            """;

    static final String NEWEST_SUMMARY_UP_TO =
            """
            SELECT covers_seq AS seq FROM keepsake_summary
            WHERE memory_key = ? AND covers_seq <= ?
            ORDER BY covers_seq DESC
            LIMIT 1
            """;

    /** A view. Its anchor is null if that message is missing. */
    static final String VIEW =
            """
            SELECT v.view, a.id AS anchor
            FROM keepsake_view v
            LEFT JOIN keepsake_message a ON a.memory_key = v.memory_key AND a.seq = v.anchor_seq
            WHERE v.memory_key = ? AND v.anchor_seq = ?
            """;

    /** The newest summary up to a message, whose id is null if that message is missing. */
    static final String SUMMARY =
            """
            SELECT s.version, s.covers_seq, c.id AS covers, s.text, s.tokens, s.token_counter, s.replaced_messages,
                   s.replaced_tokens, s.model, s.created_at
            FROM keepsake_summary s
            LEFT JOIN keepsake_message c ON c.memory_key = s.memory_key AND c.seq = s.covers_seq
            WHERE s.memory_key = ? AND s.covers_seq = ?
            ORDER BY s.version DESC
            LIMIT 1
            """;

    /** The tombstone: a hash and an epoch, nothing else. */
    static final String BURY =
            """
            INSERT INTO keepsake_memory (memory_key, epoch, revision, last_seq, tokens, created_at)
            VALUES (?, ?, 2, 0, 0, 0)
            ON CONFLICT (memory_key) DO UPDATE
              SET epoch = keepsake_memory.epoch + 1, revision = keepsake_memory.revision + 1,
                  tenant = NULL, app_id = NULL, conversation_id = NULL, node_id = NULL, title = NULL,
                  metadata = NULL, lists = NULL, last_seq = 0, head_seq = NULL, head_id = NULL, tokens = 0, created_at = 0, stored_at = 0, active_at = 0,
                  last_message_at = NULL
              RETURNING epoch
            """;

    /** The statements of an erasure, in a transaction that holds the only write lock. Parameter: key. */
    static final List<String> ERASE = List.of(
            "DELETE FROM keepsake_message WHERE memory_key = ?",
            "DELETE FROM keepsake_view WHERE memory_key = ?",
            "DELETE FROM keepsake_summary WHERE memory_key = ?",
            "DELETE FROM keepsake_reference WHERE memory_key = ?",
            "DELETE FROM keepsake_usage WHERE memory_key = ?",
            "DELETE FROM keepsake_lease WHERE memory_key = ?");

    /** The transaction holds the only write lock, so no row is locked. */
    static final OwnSql OWN = new OwnSql(
            MEMORY,
            MEMORY,
            MOVE_HEAD,
            MEND_MEMORY,
            LEAVES,
            INSERT_MESSAGE,
            ADVANCE_MEMORY,
            Sql.CHECK_MESSAGES,
            TAKE_LEASE,
            RUNS_OF_HEAD,
            LIST,
            USAGE,
            MOVE,
            MISSING_ON_LISTS,
            PUT_ON_LISTS,
            TAKE_OFF_LISTS);

    private SqliteSql() {}
}

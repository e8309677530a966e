package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.NamedSql;

/**
 * The statements that only PostgreSQL takes. For each table whose primary key begins with the memory's key, the key is
 * a separate parameter. So a distributed PostgreSQL sends each statement to one shard.
 */
final class PostgresSql {

    /** The problem of the head, or null. The memory is {@code m}, which is null for a memory without a row. */
    private static final String DAMAGE =
            """
                   CASE
                     WHEN (SELECT max(x.seq) FROM keepsake_message x
                           WHERE x.memory_key = :memory_key AND x.seq <= 1152921504606846976)
                          > COALESCE(m.last_seq, 0)
                       THEN 'there are messages that its row does not know of'
                     WHEN m.head_seq IS NOT NULL AND NOT EXISTS (
                         SELECT FROM keepsake_message h
                         WHERE h.memory_key = :memory_key AND h.seq = m.head_seq AND h.id = m.head_id
                           AND (h.run_start, h.depth, h.path_tokens) = (m.head_run_start, m.head_depth, m.head_path_tokens)
                           AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                           AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
                       THEN 'the head is not there, or is not as its row says'
                   END AS damage""";

    private static final String MEMORY_ROW =
            """
            SELECT CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.epoch END AS epoch,
                   CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.revision END AS revision,
                   CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.last_seq END AS last_seq,
                   CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.tokens END AS tokens, m.head_seq, m.head_id,
            """
                    + DAMAGE
                    + """

                    FROM (SELECT 1) one
                    LEFT JOIN keepsake_memory m ON m.memory_key = :memory_key
                    """;

    /** Always one row, which also says whether the head agrees with the memory's row. */
    static final NamedSql MEMORY = NamedSql.of(MEMORY_ROW, "memory_key");

    /**
     * The row, locked. After the wait for the lock, this statement would not see the newest message. So the next
     * statement checks whether the head exists.
     */
    static final NamedSql LOCK_MEMORY = NamedSql.of(
            """
            SELECT epoch, revision, last_seq, tokens, head_seq, head_id, NULL::text AS damage
            FROM keepsake_memory
            WHERE memory_key = :memory_key
            FOR UPDATE
            """,
            "memory_key");

    static final NamedSql MOVE_HEAD = NamedSql.of(
            """
            UPDATE keepsake_memory m
            SET head_seq = n.seq, head_id = n.id, head_run_start = n.run_start, head_depth = n.depth,
                head_path_tokens = n.path_tokens, head_system_seq = n.system_seq, head_user_seq = n.user_seq,
                head_runs = r.runs, revision = m.revision + 1
            FROM keepsake_message n, keepsake_message r
            WHERE m.memory_key = :memory_key AND m.epoch = :epoch
              AND n.memory_key = :memory_key AND n.seq = :seq
              AND r.memory_key = :memory_key AND r.seq = n.run_start
              AND (m.head_seq IS NULL
                   OR EXISTS (SELECT FROM keepsake_message h
                              WHERE h.memory_key = :memory_key AND h.seq = m.head_seq AND h.id = m.head_id))
            """,
            "seq memory_key epoch");

    static final NamedSql MEND_MEMORY = NamedSql.of(
            """
            UPDATE keepsake_memory m
            SET head_seq = n.seq, head_id = n.id, head_run_start = n.run_start, head_depth = n.depth,
                head_path_tokens = n.path_tokens, head_system_seq = n.system_seq, head_user_seq = n.user_seq,
                head_runs = r.runs, epoch = :epoch::bigint, revision = :revision::bigint, last_seq = :last_seq::bigint,
                tokens = :tokens::bigint
            FROM (SELECT 1) one
            LEFT JOIN keepsake_message n ON n.memory_key = :memory_key AND n.seq = :seq::bigint
            LEFT JOIN keepsake_message r ON r.memory_key = :memory_key AND r.seq = n.run_start
            WHERE m.memory_key = :memory_key
            """,
            "seq memory_key epoch revision last_seq tokens");

    /** A message of an append in several statements. */
    static final NamedSql INSERT_MESSAGE = NamedSql.of(
            """
            INSERT INTO keepsake_message
              (memory_key, seq, id, parent_seq, parent_id, message, tokens, token_counter, created_at,
               run_start, depth, path_tokens, system_seq, user_seq, runs, outcome, made, request)
            VALUES (:memory_key, :seq, :id, :parent_seq, :parent_id, :message, :tokens, :token_counter, :created_at,
                    :run_start, :depth, :path_tokens, :system_seq, :user_seq, :runs, :outcome, :made, :request)
            """,
            "memory_key seq id parent_seq parent_id message tokens token_counter created_at run_start "
                    + "depth path_tokens system_seq user_seq runs outcome made request");

    /** The runs below one that starts under a message. */
    static final NamedSql RUNS_BELOW = NamedSql.of(
            """
            SELECT (ARRAY[p.run_start, p.seq, p.seq - p.depth] || r.runs)[1:24] AS runs
            FROM keepsake_message p
            LEFT JOIN keepsake_message r ON r.memory_key = :memory_key AND r.seq = p.run_start
            WHERE p.memory_key = :memory_key AND p.seq = :seq
            """,
            "memory_key seq");

    /** Makes the newest message the head, after it was inserted. */
    static final NamedSql ADVANCE_MEMORY = NamedSql.of(
            """
            UPDATE keepsake_memory m
            SET last_seq = n.seq, tokens = m.tokens + :tokens, last_message_at = GREATEST(m.last_message_at, :created_at),
                head_seq = n.seq, head_id = :id, head_run_start = n.run_start, head_depth = n.depth,
                head_path_tokens = n.path_tokens, head_system_seq = n.system_seq, head_user_seq = n.user_seq,
                head_runs = r.runs
            FROM keepsake_message n, keepsake_message r
            WHERE m.memory_key = :memory_key
              AND n.memory_key = :memory_key AND n.seq = :seq
              AND r.memory_key = :memory_key AND r.seq = n.run_start
            """,
            "memory_key seq id tokens created_at");

    /** Goes from a run of a branch to the one before it, with the newest view and the newest summary up to its end. */
    private static final String EARLIER_RUN =
            """
              UNION ALL
              SELECT p.run_start, p.seq,
                     CASE WHEN run.view_seq >= run.low OR run.view_seq <= p.seq THEN run.view_seq ELSE
                       (SELECT max(v.anchor_seq) FROM keepsake_view v
                        WHERE v.memory_key = :memory_key AND v.anchor_seq <= p.seq) END,
                     CASE WHEN run.covers_seq >= run.low OR run.covers_seq <= p.seq THEN run.covers_seq ELSE
                       (SELECT max(s.covers_seq) FROM keepsake_summary s
                        WHERE s.memory_key = :memory_key AND s.covers_seq <= p.seq) END
              FROM run
              CROSS JOIN LATERAL (
                SELECT f.parent_seq FROM keepsake_message f
                WHERE f.memory_key = :memory_key AND f.seq = run.low
                LIMIT 1
              ) f
              CROSS JOIN LATERAL (
                SELECT p.seq, p.run_start FROM keepsake_message p
                WHERE p.memory_key = :memory_key AND p.seq = f.parent_seq
                LIMIT 1
              ) p
            """;

    /**
     * Computes the data of the head's branch that the memory's row repeats: the newest view and the newest summary on
     * it, going from run to run until both are found. Also returns whether the row has the same.
     */
    static final NamedSql BRANCH_OF_HEAD = NamedSql.of(
            """
            WITH RECURSIVE run (low, high, view_seq, covers_seq) AS (
              SELECT h.run_start, h.seq,
                     (SELECT max(v.anchor_seq) FROM keepsake_view v
                      WHERE v.memory_key = :memory_key AND v.anchor_seq <= h.seq),
                     (SELECT max(s.covers_seq) FROM keepsake_summary s
                      WHERE s.memory_key = :memory_key AND s.covers_seq <= h.seq)
              FROM keepsake_memory m
              JOIN keepsake_message h ON h.memory_key = :memory_key AND h.seq = m.head_seq
              WHERE m.memory_key = :memory_key
            """
                    + EARLIER_RUN
                    + """
              WHERE p.seq < run.high AND (run.view_seq < run.low OR run.covers_seq < run.low)
            )
            SELECT counted.view_seq, counted.covers_seq,
                   m.head_view_seq IS NOT DISTINCT FROM counted.view_seq
                     AND m.head_covers_seq IS NOT DISTINCT FROM counted.covers_seq
                     AND m.head_runs IS NOT DISTINCT FROM
                       (SELECT r.runs FROM keepsake_message r WHERE r.memory_key = :memory_key AND r.seq = m.head_run_start)
                     AS is_so
            FROM keepsake_memory m
            LEFT JOIN LATERAL (
              SELECT CASE WHEN view_seq >= low THEN view_seq END AS view_seq,
                     CASE WHEN covers_seq >= low THEN covers_seq END AS covers_seq
              FROM run
              ORDER BY high
              LIMIT 1
            ) counted ON true
            WHERE m.memory_key = :memory_key
            """,
            "memory_key");

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
                      SELECT h.run_start, h.seq, f.depth, f.up, f.parent_id
                      FROM memory
                      CROSS JOIN LATERAL (
                        SELECT h.seq, h.run_start, h.depth FROM keepsake_message h
                        WHERE h.memory_key = :memory_key AND h.seq BETWEEN memory.head_seq AND memory.head_seq
                        ORDER BY h.seq
                        LIMIT 1
                      ) h
                      LEFT JOIN LATERAL (
                        SELECT f.depth, f.parent_id,
                               CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE NULLIF(f.parent_seq, 0) END AS up
                        FROM keepsake_message f
                        WHERE f.memory_key = :memory_key AND f.seq BETWEEN h.run_start AND h.run_start
                          AND f.run_start = f.seq AND f.depth = h.depth - (h.seq - h.run_start)
                          AND (h.seq = h.run_start
                               OR EXISTS (SELECT FROM keepsake_message b
                                          WHERE b.memory_key = :memory_key AND b.seq BETWEEN h.seq - 1 AND h.seq - 1
                                            AND b.run_start = h.run_start))
                        ORDER BY f.seq
                        LIMIT 1
                      ) f ON true
                      UNION ALL
                      SELECT p.run_start, p.seq, f.depth, f.up, f.parent_id
                      FROM run
                      CROSS JOIN LATERAL (
                        SELECT p.seq, p.run_start, p.depth, p.id FROM keepsake_message p
                        WHERE p.memory_key = :memory_key AND p.seq BETWEEN run.up AND run.up
                        ORDER BY p.seq
                        LIMIT 1
                      ) p
                      LEFT JOIN LATERAL (
                        SELECT f.depth, f.parent_id,
                               CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE NULLIF(f.parent_seq, 0) END AS up
                        FROM keepsake_message f
                        WHERE f.memory_key = :memory_key AND f.seq BETWEEN p.run_start AND p.run_start
                          AND f.run_start = f.seq AND f.depth = p.depth - (p.seq - p.run_start)
                          AND (p.seq = p.run_start
                               OR EXISTS (SELECT FROM keepsake_message b
                                          WHERE b.memory_key = :memory_key AND b.seq BETWEEN p.seq - 1 AND p.seq - 1
                                            AND b.run_start = p.run_start))
                        ORDER BY f.seq
                        LIMIT 1
                      ) f ON true
                      WHERE run.low > :lowest AND p.seq < run.low AND p.depth = run.depth - 1 AND p.id = run.up_id
                    )
                    SELECT memory.*, run.low, run.high, run.up
                    FROM memory
                    LEFT JOIN run ON true
                    """,
            "memory_key lowest");

    static final NamedSql SET_BRANCH_OF_HEAD = NamedSql.of(
            """
            UPDATE keepsake_memory
            SET head_view_seq = :view_seq, head_covers_seq = :covers_seq,
                summaries = CASE WHEN summaries < 1152921504606846976 THEN summaries + 1 ELSE 1 END
            WHERE memory_key = :memory_key
            """,
            "memory_key view_seq covers_seq");

    /** {@link Sql#CHECK_MESSAGES}, which also says whether the runs below the start of a run agree with its parent. */
    static final NamedSql CHECK_MESSAGES = NamedSql.of(
            """
            SELECT m.seq, m.id, m.parent_seq, m.parent_id, m.tokens, m.run_start, m.depth, m.path_tokens, m.system_seq,
                   m.user_seq, m.message, m.token_counter, m.created_at, m.outcome, m.made, NULL AS bad_request,
                   p.seq AS p_seq, p.id AS p_id, p.parent_seq AS p_parent_seq, p.parent_id AS p_parent_id,
                   p.tokens AS p_tokens, p.run_start AS p_run_start, p.depth AS p_depth, p.path_tokens AS p_path_tokens,
                   p.system_seq AS p_system_seq, p.user_seq AS p_user_seq,
                   m.run_start <> m.seq OR m.runs IS NOT DISTINCT FROM CASE WHEN p.seq IS NOT NULL
                     THEN (ARRAY[p.run_start, p.seq, p.seq - p.depth] || r.runs)[1:24] END AS has_runs
            FROM keepsake_message m
            LEFT JOIN keepsake_message p ON p.memory_key = :memory_key AND p.seq = m.parent_seq
            LEFT JOIN keepsake_message r ON r.memory_key = :memory_key AND r.seq = p.run_start AND m.run_start = m.seq
            WHERE m.memory_key = :memory_key AND m.seq > :behind AND m.seq <= :up_to
            ORDER BY m.seq
            LIMIT :rows
            """,
            "memory_key behind up_to rows");

    /**
     * The conflict's condition computes the server's time from the new row, because a distributed database does not
     * allow {@code now()} there. An end that does not fit in 64 bits becomes the largest value.
     */
    static final NamedSql TAKE_LEASE = NamedSql.of(
            """
            INSERT INTO keepsake_lease (memory_key, name, owner, expires_at)
            VALUES (:memory_key, :name, :owner,
                    CAST(LEAST(trunc(extract(epoch FROM now()) * 1000000) + CAST(:duration AS bigint), 9223372036854775807) AS bigint))
            ON CONFLICT (memory_key, name) DO UPDATE
              SET owner = excluded.owner, expires_at = excluded.expires_at
              WHERE keepsake_lease.owner = excluded.owner
                 OR keepsake_lease.expires_at <= excluded.expires_at - CAST(:duration AS bigint)
            RETURNING expires_at
            """,
            "memory_key name owner duration now");

    /** Locks a memory's row, which is created if there is none. Parameters: key, epoch and revision of a new row, 0. */
    static final String LOCK_OR_CREATE =
            """
            INSERT INTO keepsake_memory (memory_key, epoch, revision, last_seq, tokens, created_at)
            VALUES (?, ?, ?, ?, 0, 0)
            ON CONFLICT (memory_key) DO UPDATE SET epoch = keepsake_memory.epoch
            RETURNING epoch
            """;

    /** Leaves a tombstone: a hash and an epoch. Parameters: key, the epoch of a memory that never existed. */
    static final String BURY =
            """
            INSERT INTO keepsake_memory (memory_key, epoch, revision, last_seq, tokens, created_at)
            VALUES (?, ?, 2, 0, 0, 0)
            ON CONFLICT (memory_key) DO UPDATE
              SET epoch = keepsake_memory.epoch + 1, revision = keepsake_memory.revision + 1,
                  tenant = NULL, app_id = NULL, conversation_id = NULL, node_id = NULL, title = NULL,
                  metadata = NULL, lists = NULL, last_seq = 0, tokens = 0, created_at = 0, stored_at = 0, active_at = 0,
                  prev_active_at = NULL,
                  last_message_at = NULL,
                  head_seq = NULL, head_run_start = NULL, head_depth = NULL, head_path_tokens = NULL,
                  head_system_seq = NULL, head_user_seq = NULL, head_view_seq = NULL, head_covers_seq = NULL,
                  head_runs = NULL, head_id = NULL, prev_head_seq = NULL, prev_system_seq = NULL, prev_user_seq = NULL,
                  prev_head_id = NULL
              RETURNING epoch
            """;

    /**
     * Deletes all rows of a memory whose tombstone was just written. A separate statement, because the statement for
     * the tombstone does not see rows that were committed while it waited for the memory's row. Parameters: key, the
     * tombstone's epoch, key, key, key, key, key, key.
     */
    static final String ERASE =
            """
            WITH buried AS MATERIALIZED (
              SELECT 1 FROM keepsake_memory WHERE memory_key = ? AND epoch = ?
            ),
            messages AS (
              DELETE FROM keepsake_message WHERE memory_key = ? AND EXISTS (SELECT 1 FROM buried)
            ),
            views AS (
              DELETE FROM keepsake_view WHERE memory_key = ? AND EXISTS (SELECT 1 FROM buried)
            ),
            summaries AS (
              DELETE FROM keepsake_summary WHERE memory_key = ? AND EXISTS (SELECT 1 FROM buried)
            ),
            named_branches AS (
              DELETE FROM keepsake_reference WHERE memory_key = ? AND EXISTS (SELECT 1 FROM buried)
            ),
            sums AS (
              DELETE FROM keepsake_usage WHERE memory_key = ? AND EXISTS (SELECT 1 FROM buried)
            )
            DELETE FROM keepsake_lease WHERE memory_key = ? AND EXISTS (SELECT 1 FROM buried)
            """;

    /**
     * The leaves: each run's end that is not the parent of another run, and the head if nothing follows it. Runs are
     * found by the index over their starts, and their ends one by one: with another join, the planner may read the
     * whole table. A missing leaf has no id.
     */
    static final NamedSql LEAVES = NamedSql.of(
            """
            SELECT run_end.seq, l.id, l.depth, l.created_at, COALESCE(l.current, false) AS current
            FROM (
              SELECT (SELECT max(b.seq) FROM keepsake_message b WHERE b.memory_key = :memory_key AND b.seq < r.seq) AS seq
              FROM keepsake_message r
              WHERE r.memory_key = :memory_key AND r.run_start = r.seq AND r.seq > 1
              UNION
              SELECT max(e.seq) FROM keepsake_message e WHERE e.memory_key = :memory_key
              UNION
              SELECT m.head_seq FROM keepsake_memory m
              WHERE m.memory_key = :memory_key AND NOT EXISTS (
                SELECT FROM keepsake_message n
                WHERE n.memory_key = :memory_key AND n.seq = m.head_seq + 1 AND n.run_start < n.seq)
            ) run_end
            LEFT JOIN LATERAL (
              SELECT l.id, l.depth, l.created_at,
                     l.seq = (SELECT m.head_seq FROM keepsake_memory m WHERE m.memory_key = :memory_key) AS current
              FROM keepsake_message l
              WHERE l.memory_key = :memory_key AND l.seq = run_end.seq
              LIMIT 1
            ) l ON true
            WHERE run_end.seq IS NOT NULL AND run_end.seq NOT IN (
              SELECT r.parent_seq FROM keepsake_message r
              WHERE r.memory_key = :memory_key AND r.run_start = r.seq AND r.parent_seq IS NOT NULL
            )
            ORDER BY run_end.seq DESC
            """,
            "memory_key");

    /**
     * The conditions of every append under the head on the memory's row {@code m}. No row is changed if a condition is
     * not met, or if the memory is new, erased or damaged. The general append is sent then, and finds the reason.
     *
     * <p>Whether the head exists is checked in the state in which the statement began. If the row has changed since
     * then, the writer that changed it has made the same check.
     */
    private static final String UNDER_HEAD =
            """
              WHERE m.memory_key = :memory_key AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
                AND m.last_seq < 1152921504606846976
                AND m.epoch = COALESCE(:epoch::bigint, m.epoch)
                AND m.revision = COALESCE(:revision::bigint, m.revision)
                AND (:any_head OR m.head_id = :expected_head::text)
                AND (EXISTS (SELECT FROM keepsake_message h
                             WHERE h.memory_key = :memory_key AND h.seq = m.head_seq AND h.id = m.head_id
                               AND (h.run_start, h.depth, h.path_tokens)
                                 = (m.head_run_start, m.head_depth, m.head_path_tokens)
                               AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                               AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
                     OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = :memory_key))
            """;

    /**
     * Moves the memory to the front of its lists by activity once in a minute, and sets the head's run and the runs below it, after
     * an append under the head. {@link #MOVED} finds the memory's rows in the lists by their places in the state in which
     * the statement began. If another writer has moved them since then, they keep that place.
     */
    private static final String RUN_UNDER_HEAD =
            """
                  prev_active_at = m.active_at,
                  active_at = CASE
                    WHEN m.active_at / 60000000 < :created_at / 60000000
                      AND (m.active_at, m.epoch)
                        = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = :memory_key)
                    THEN :created_at ELSE m.active_at END,
                  head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
                  head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
                    ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
            """;

    /** The last part of an append, which moves the memory's rows in the lists by activity. */
    private static final String MOVED =
            """
            , moved AS (
              UPDATE keepsake_listed l
              SET place = memory.active_at
              FROM memory
              WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = :memory_key
                AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
            )
            """;

    /** The part of an append that puts a new memory on its lists. */
    private static final String LISTED =
            """
            listed AS (
              INSERT INTO keepsake_listed (memory_key, list, place, number, tie)
              SELECT memory.memory_key, list.id * orders.sign, CASE WHEN orders.sign = 1 THEN memory.active_at ELSE 0 END,
                     memory.number, ('x' || encode(substring(memory.memory_key FROM 17 FOR 8), 'hex'))::bit(64)::bigint
              FROM memory
              CROSS JOIN unnest(memory.lists) AS list (id)
              CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
              WHERE memory.prev_active_at IS NULL
            ),
            """;

    /** The first parameters of all appends. */
    private static final String UNDER_HEAD_PARAMETERS =
            "memory_key epoch revision any_head expected_head id tokens created_at system user";

    /** The parameters of an append of several messages: the values of the whole batch first, then its columns. */
    private static final String BATCH_PARAMETERS = UNDER_HEAD_PARAMETERS
            + " size ids parents messages counters token_counts tokens_so_far times systems users";

    private static final String APPEND_PARAMETERS = BATCH_PARAMETERS
            + " tenant app_id conversation_id node_id metadata lists now expected_last_seq under_head parent_id importing "
            + "anchor_id view named";

    /** The notes of several messages, and the additions to the sums of each day. */
    private static final String NOTES_PARAMETERS = "outcomes made requests days inputs outputs cached";

    /** Writes a message with the values of its memory's row, which is changed before. */
    private static final String WRITTEN =
            """
              RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_id, m.head_run_start, m.head_depth,
                        m.head_path_tokens, m.head_system_seq, m.head_user_seq, m.prev_head_seq, m.prev_head_id,
                        m.lists, m.number, m.active_at, m.prev_active_at,
                        CASE WHEN m.head_run_start = m.last_seq THEN m.head_runs END AS runs
            ),
            written AS (
              INSERT INTO keepsake_message
                (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
                 id, parent_id, token_counter, runs, message)
              SELECT memory_key, last_seq, prev_head_seq, :created_at, head_run_start, head_depth, head_path_tokens,
                     head_system_seq, head_user_seq, :tokens, head_id, prev_head_id, :token_counter, runs, :message
              FROM memory
            """;

    /**
     * Appends one message under the head of a memory that has one, which is nearly every append. The memory's row
     * assigns the sequence, and its lock serializes appends. The written values come from that row, which is its newest
     * version. A used id aborts the statement.
     */
    private static final String APPEND_ONE_TEXT =
            """
            WITH memory AS (
              UPDATE keepsake_memory m
              SET last_seq = m.last_seq + 1,
                  tokens = m.tokens + :tokens,
                  last_message_at = GREATEST(m.last_message_at, :created_at),
                  prev_head_seq = m.head_seq,
                  prev_head_id = m.head_id,
                  head_seq = m.last_seq + 1,
                  head_id = :id,
            """
                    + RUN_UNDER_HEAD
                    + """
                  head_depth = m.head_depth + 1,
                  head_path_tokens = m.head_path_tokens + :tokens,
                  head_system_seq = CASE WHEN :system THEN m.last_seq + 1 ELSE m.head_system_seq END,
                  head_user_seq = CASE WHEN :user THEN m.last_seq + 1 ELSE m.head_user_seq END
            """
                    + UNDER_HEAD
                    + WRITTEN
                    + """
            )
            """
                    + MOVED
                    + """
            SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
            """;

    static final NamedSql APPEND_ONE = NamedSql.of(APPEND_ONE_TEXT, UNDER_HEAD_PARAMETERS + " token_counter message");

    /** {@link #APPEND_ONE} for a message with notes. */
    static final NamedSql APPEND_ONE_WITH_NOTES = NamedSql.of(
            withNotes(APPEND_ONE_TEXT, ""), UNDER_HEAD_PARAMETERS + " token_counter message outcome made request");

    /** {@link #APPEND_ONE_WITH_NOTES} for a message whose model reported used tokens. */
    static final NamedSql APPEND_ONE_WITH_USAGE = NamedSql.of(
            withNotes(APPEND_ONE_TEXT, sumsOfOne()),
            UNDER_HEAD_PARAMETERS + " token_counter message outcome made request day input output cached tenant");

    /**
     * {@link #APPEND_ONE} with a view that ends with this message, as a window sets it. Whether the messages of the
     * view exist is checked in the state in which the statement began, so the memory must not have been erased since
     * then. Each is looked up by an ordered range, for which even a plan for small tables uses the index. The head's
     * name is replaced only behind a colon: within an id, the quotation mark that follows a colon is escaped.
     */
    static final NamedSql APPEND_ONE_AND_VIEW = NamedSql.of(
            """
            WITH memory AS (
              UPDATE keepsake_memory m
              SET revision = m.revision + 1,
                  last_seq = m.last_seq + 1,
                  tokens = m.tokens + :tokens,
                  last_message_at = GREATEST(m.last_message_at, :created_at),
                  prev_head_seq = m.head_seq,
                  prev_head_id = m.head_id,
                  head_seq = m.last_seq + 1,
                  head_id = :id,
            """
                    + RUN_UNDER_HEAD
                    + """
                  head_depth = m.head_depth + 1,
                  head_path_tokens = m.head_path_tokens + :tokens,
                  head_system_seq = CASE WHEN :system THEN m.last_seq + 1 ELSE m.head_system_seq END,
                  head_user_seq = CASE WHEN :user THEN m.last_seq + 1 ELSE m.head_user_seq END,
                  head_view_seq = m.last_seq + 1
            """
                    + UNDER_HEAD
                    + """
                AND m.epoch = (SELECT s.epoch FROM keepsake_memory s WHERE s.memory_key = :memory_key)
                AND (SELECT count(*) FROM unnest(:named::text[]) named (id)
                     CROSS JOIN LATERAL (
                       SELECT FROM keepsake_message n
                       WHERE n.memory_key = :memory_key AND n.id BETWEEN named.id AND named.id
                       ORDER BY n.id
                       LIMIT 1
                     ) n) = cardinality(:named::text[])
            """
                    + WRITTEN
                    + """
            ),
            viewed AS (
              INSERT INTO keepsake_view (memory_key, anchor_seq, anchor_id, view)
              SELECT memory_key, last_seq, head_id,
                     replace(:view, ':"00000000-0000-0000-0000-000000000000"', ':' || to_json(prev_head_id)::text)
              FROM memory
              ON CONFLICT (memory_key, anchor_seq) DO UPDATE SET anchor_id = excluded.anchor_id, view = excluded.view
            )
            """
                    + MOVED
                    + """
            SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
            """,
            UNDER_HEAD_PARAMETERS + " token_counter message view named");

    /**
     * {@link #APPEND_ONE} for a distributed database: there, the parts of one statement do not see each other's rows,
     * and a used id causes another error. Needs one round trip. After an error, it must be rolled back.
     */
    static final NamedSql APPEND_ONE_DISTRIBUTED = NamedSql.of(
            """
            BEGIN;
            UPDATE keepsake_memory m
            SET last_seq = m.last_seq + 1,
                tokens = m.tokens + :tokens,
                last_message_at = GREATEST(m.last_message_at, :created_at),
                prev_head_seq = m.head_seq,
                prev_head_id = m.head_id,
                head_seq = m.last_seq + 1,
                head_id = :id,
            """
                    + RUN_UNDER_HEAD
                    + """
                head_depth = m.head_depth + 1,
                head_path_tokens = m.head_path_tokens + :tokens,
                head_system_seq = CASE WHEN :system THEN m.last_seq + 1 ELSE m.head_system_seq END,
                head_user_seq = CASE WHEN :user THEN m.last_seq + 1 ELSE m.head_user_seq END
            """
                    + UNDER_HEAD
                    + """
            RETURNING m.last_seq, m.prev_head_id, m.head_id, m.epoch, m.revision;
            INSERT INTO keepsake_message
              (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
               id, parent_id, token_counter, runs, message)
            SELECT m.memory_key, m.last_seq, m.prev_head_seq, :created_at, m.head_run_start, m.head_depth,
                   m.head_path_tokens, m.head_system_seq, m.head_user_seq, :tokens, m.head_id, m.prev_head_id,
                   :token_counter, CASE WHEN m.head_run_start = m.last_seq THEN m.head_runs END, :message
            FROM keepsake_memory m
            WHERE m.memory_key = :memory_key AND m.head_id = :id;
            UPDATE keepsake_listed l
            SET place = m.active_at
            FROM keepsake_memory m
            WHERE m.memory_key = :memory_key AND m.head_id = :id AND m.active_at <> m.prev_active_at
              AND l.memory_key = :memory_key
              AND l.list = ANY (m.lists) AND l.place = m.prev_active_at AND l.number = m.number;
            COMMIT
            """,
            UNDER_HEAD_PARAMETERS + " token_counter message");

    /** {@link #APPEND_ONE} for several messages. The values of the whole batch come first, then its columns. */
    private static final String APPEND_MANY_TEXT =
            """
            WITH memory AS (
              UPDATE keepsake_memory m
              SET last_seq = m.last_seq + :size,
                  tokens = m.tokens + :tokens,
                  last_message_at = GREATEST(m.last_message_at, :created_at),
                  prev_head_seq = m.head_seq,
                  prev_system_seq = m.head_system_seq,
                  prev_user_seq = m.head_user_seq,
                  prev_head_id = m.head_id,
                  head_seq = m.last_seq + :size,
                  head_id = :id,
            """
                    + RUN_UNDER_HEAD
                    + """
                  head_depth = m.head_depth + :size,
                  head_path_tokens = m.head_path_tokens + :tokens,
                  head_system_seq = COALESCE(m.last_seq + :system::bigint, m.head_system_seq),
                  head_user_seq = COALESCE(m.last_seq + :user::bigint, m.head_user_seq)
            """
                    + UNDER_HEAD
                    + """
              RETURNING m.memory_key, m.epoch, m.revision, m.last_seq - :size AS behind, m.last_seq, m.head_id,
                        m.head_run_start, m.head_depth - :size AS depth, m.head_path_tokens - :tokens AS path_tokens,
                        m.prev_head_seq, m.prev_head_id, m.prev_system_seq, m.prev_user_seq,
                        m.lists, m.number, m.active_at, m.prev_active_at,
                        CASE WHEN m.head_run_start = m.last_seq - :size + 1 THEN m.head_runs END AS runs
            ),
            written AS (
              INSERT INTO keepsake_message
                (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
                 id, parent_id, token_counter, runs, message)
              SELECT memory.memory_key, behind + place, CASE WHEN place = 1 THEN prev_head_seq ELSE behind + place - 1 END,
                     new.created_at, head_run_start, depth + place, path_tokens + new.tokens_so_far,
                     CASE WHEN new.system_place > 0 THEN behind + new.system_place ELSE prev_system_seq END,
                     CASE WHEN new.user_place > 0 THEN behind + new.user_place ELSE prev_user_seq END,
                     new.tokens, new.id, COALESCE(new.parent_id, prev_head_id), new.token_counter,
                     CASE WHEN place = 1 THEN runs END, new.message
              FROM memory
              CROSS JOIN unnest(:ids::text[], :parents::text[], :messages::text[], :counters::text[], :token_counts::integer[],
                                :tokens_so_far::bigint[], :times::bigint[], :systems::bigint[], :users::bigint[])
                WITH ORDINALITY AS new (id, parent_id, message, token_counter, tokens, tokens_so_far, created_at,
                                        system_place, user_place, place)
            )
            """
                    + MOVED
                    + """
            SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
            """;

    static final NamedSql APPEND_MANY = NamedSql.of(APPEND_MANY_TEXT, BATCH_PARAMETERS);

    /** {@link #APPEND_MANY} for messages with notes. */
    static final NamedSql APPEND_MANY_WITH_NOTES = NamedSql.of(
            withNotes(APPEND_MANY_TEXT, sumsOfMany()), BATCH_PARAMETERS + " " + NOTES_PARAMETERS + " tenant");

    /**
     * Appends the first messages of a memory that has no row. It looks up no id, so it may be prepared, and need not be
     * planned for each new conversation as {@link #APPEND} is. The memory may have no rows of messages, which would be
     * damage.
     */
    static final NamedSql APPEND_FIRST = NamedSql.of(
            """
            WITH memory AS (
              INSERT INTO keepsake_memory
                (memory_key, tenant, app_id, conversation_id, node_id, metadata, lists, epoch, revision, last_seq,
                 tokens, created_at, stored_at, active_at, last_message_at, head_seq, head_run_start, head_depth,
                 head_path_tokens, head_system_seq, head_user_seq, head_id)
              SELECT :memory_key::bytea, :tenant::text, :app_id::text, :conversation_id::text, :node_id::text,
                     :metadata::text, :lists::bigint[], 1, 1, :size::bigint, :tokens::bigint,
                     LEAST(:now::bigint, (:times::bigint[])[1]), :now, :created_at::bigint, :created_at, :size, 1, :size,
                     :tokens, :system::bigint, :user::bigint, :id::text
              WHERE (SELECT max(x.seq) FROM keepsake_message x
                     WHERE x.memory_key = :memory_key AND x.seq <= 1152921504606846976) IS NULL
              ON CONFLICT (memory_key) DO NOTHING
              RETURNING memory_key, number, lists, active_at, prev_active_at, last_seq, head_id, epoch, revision
            ),
            """
                    + LISTED
                    + """
            written AS (
              INSERT INTO keepsake_message
                (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
                 id, parent_id, token_counter, message)
              SELECT memory.memory_key, new.place, NULLIF(new.place - 1, 0), new.created_at, 1, new.place,
                     new.tokens_so_far, NULLIF(new.system_place, 0), NULLIF(new.user_place, 0), new.tokens, new.id,
                     new.parent_id, new.token_counter, new.message
              FROM memory
              CROSS JOIN unnest(:ids::text[], :parents::text[], :messages::text[], :counters::text[], :token_counts::integer[],
                                :tokens_so_far::bigint[], :times::bigint[], :systems::bigint[], :users::bigint[])
                WITH ORDINALITY AS new (id, parent_id, message, token_counter, tokens, tokens_so_far, created_at,
                                        system_place, user_place, place)
            )
            SELECT last_seq, NULL::text AS prev_head_id, head_id, epoch, revision FROM memory
            """,
            "memory_key tenant app_id conversation_id node_id metadata lists now id tokens created_at system user "
                    + "size ids parents messages counters token_counts tokens_so_far times systems users");

    /**
     * A whole append. If a condition is not met, nothing is written and no row is returned. A used id aborts the
     * statement.
     *
     * <p>The memory's row is written first: it assigns the sequence, and its lock serializes appends. The part below
     * {@code DO UPDATE} sees the newest version of that row. Everything else sees the state in which the statement
     * began, and is valid only if the memory was not erased since then. So whether the head exists is checked with the
     * row of that state, {@code seen}: a writer in between has made the same check. The named branch is looked up in
     * that state too, so such an append is valid only if no view and no summary was added since then.
     *
     * <p>{@code run} goes from run to run below the parent, while a view, a summary or the view's anchor must still be
     * found there. For a view with an anchor under the head, it begins at the head.
     */
    private static final String APPEND_TEXT =
            """
            WITH RECURSIVE given AS MATERIALIZED (
              SELECT :now::bigint AS now, :epoch::bigint AS epoch, :revision::bigint AS revision,
                     :any_head::boolean AS any_head, :expected_head::text AS expected_head,
                     :expected_last_seq::bigint AS expected_last_seq, :under_head::boolean AS under_head,
                     :parent_id::text AS parent_id, :importing::boolean AS importing, :size::bigint AS size,
                     :tokens::bigint AS tokens, :id::text AS last_id, :created_at::bigint AS last_time,
                     LEAST(:now::bigint, (:times::bigint[])[1]) AS first_time,
                     :system::bigint AS system_place, :user::bigint AS user_place, :anchor_id::text AS anchor_id,
                     :view::text AS view, :named::text[] AS named
            ),
            seen AS MATERIALIZED (
              SELECT s.* FROM keepsake_memory s WHERE s.memory_key = :memory_key
            ),
            parent AS MATERIALIZED (
              SELECT p.seq, p.run_start, p.depth, p.path_tokens, p.system_seq, p.user_seq, r.runs
              FROM keepsake_message p
              LEFT JOIN keepsake_message r ON r.memory_key = :memory_key AND r.seq = p.run_start
              WHERE p.memory_key = :memory_key AND p.id = :parent_id
            ),
            anchor AS MATERIALIZED (
              SELECT a.seq FROM keepsake_message a WHERE a.memory_key = :memory_key AND a.id = :anchor_id
            ),
            named AS MATERIALIZED (
              SELECT count(*) AS found
              FROM unnest(:named::text[]) AS name (id)
              CROSS JOIN LATERAL (
                SELECT n.seq FROM keepsake_message n
                WHERE n.memory_key = :memory_key AND n.id = name.id
                LIMIT 1
              ) n
            ),
            run (low, high, view_seq, covers_seq) AS (
              SELECT b.run_start, b.seq,
                     (SELECT max(v.anchor_seq) FROM keepsake_view v
                      WHERE v.memory_key = :memory_key AND v.anchor_seq <= b.seq),
                     (SELECT max(s.covers_seq) FROM keepsake_summary s
                      WHERE s.memory_key = :memory_key AND s.covers_seq <= b.seq)
              FROM (SELECT parent.run_start, parent.seq FROM parent
                    UNION ALL
                    SELECT seen.head_run_start, seen.head_seq FROM seen CROSS JOIN given
                    WHERE given.under_head AND given.anchor_id IS NOT NULL) b (run_start, seq)
            """
                    + EARLIER_RUN
                    + """
              WHERE p.seq < run.high
                AND (run.view_seq < run.low OR run.covers_seq < run.low OR (SELECT seq FROM anchor) < run.low)
            ),
            branch AS MATERIALIZED (
              SELECT (SELECT CASE WHEN run.view_seq >= run.low THEN run.view_seq END
                      FROM run ORDER BY run.high LIMIT 1) AS view_seq,
                     (SELECT CASE WHEN run.covers_seq >= run.low THEN run.covers_seq END
                      FROM run ORDER BY run.high LIMIT 1) AS covers_seq,
                     (SELECT anchor.seq FROM anchor JOIN run ON anchor.seq BETWEEN run.low AND run.high
                      LIMIT 1) AS anchor_seq
            ),
            memory AS (
              INSERT INTO keepsake_memory AS m
                (memory_key, number, tenant, app_id, conversation_id, node_id, metadata, lists, epoch, revision, last_seq,
                 tokens, created_at, stored_at, active_at, last_message_at, head_seq, head_run_start, head_depth,
                 head_path_tokens, head_system_seq, head_user_seq, head_view_seq, head_covers_seq, head_runs, head_id, prev_head_seq,
                 prev_system_seq, prev_user_seq)
              SELECT :memory_key, COALESCE(seen.number, nextval('keepsake_memory_number')), :tenant::text, :app_id::text,
                     :conversation_id::text, :node_id::text, :metadata::text, :lists::bigint[], COALESCE(seen.epoch, 1),
                     CASE WHEN given.view IS NULL AND given.parent_id IS NULL THEN 1 ELSE 2 END, given.size, given.tokens,
                     given.first_time, given.now, COALESCE(given.last_time, given.now), given.last_time,
                     NULLIF(given.size, 0), first.run_start, first.depth + given.size,
                     first.path_tokens + given.tokens, given.system_place, given.user_place,
                     CASE WHEN given.view IS NOT NULL AND given.anchor_id IS NULL AND seen.memory_key IS NULL THEN given.size
                       ELSE GREATEST(branch.view_seq, branch.anchor_seq) END,
                     branch.covers_seq, parent.runs, given.last_id, parent.seq, parent.system_seq, parent.user_seq
              FROM given
              LEFT JOIN seen ON true
              LEFT JOIN parent ON true
              LEFT JOIN LATERAL (
                SELECT COALESCE(parent.run_start, 1) AS run_start, COALESCE(parent.depth, 0) AS depth,
                       COALESCE(parent.path_tokens, 0) AS path_tokens
              ) first ON given.size > 0
              LEFT JOIN anchor ON true
              CROSS JOIN named
              CROSS JOIN branch
              WHERE CASE WHEN seen.head_seq IS NULL AND seen.head_id IS NULL
                    THEN (SELECT COALESCE(max(x.seq), 0) FROM keepsake_message x
                           WHERE x.memory_key = :memory_key AND x.seq <= 1152921504606846976)
                         <= COALESCE(seen.last_seq, 0)
                    ELSE EXISTS (SELECT FROM keepsake_message h
                                 WHERE h.memory_key = :memory_key AND h.seq = seen.head_seq AND h.id = seen.head_id
                                   AND (h.run_start, h.depth, h.path_tokens)
                                     = (seen.head_run_start, seen.head_depth, seen.head_path_tokens)
                                   AND h.system_seq IS NOT DISTINCT FROM seen.head_system_seq
                                   AND h.user_seq IS NOT DISTINCT FROM seen.head_user_seq) END
                AND (given.epoch IS NULL OR given.epoch = COALESCE(seen.epoch, 1))
                AND (given.parent_id IS NULL OR given.importing OR parent.seq IS NOT NULL)
                AND (given.anchor_id IS NULL OR anchor.seq IS NOT NULL)
                AND named.found = cardinality(given.named)
                AND (seen.memory_key IS NOT NULL
                     OR (given.size > 0 AND (given.any_head OR given.expected_head IS NULL)
                         AND COALESCE(given.revision, 1) = 1 AND COALESCE(given.expected_last_seq, 0) = 0))
              ON CONFLICT (memory_key) DO UPDATE
              SET tenant = excluded.tenant, app_id = excluded.app_id, conversation_id = excluded.conversation_id,
                  node_id = excluded.node_id, metadata = COALESCE(m.metadata, excluded.metadata),
                  lists = COALESCE(m.lists, excluded.lists),
                  created_at = CASE
                    WHEN m.tenant IS NULL THEN excluded.created_at
                    WHEN m.last_seq = 0 THEN LEAST(m.created_at, excluded.created_at)
                    ELSE m.created_at END,
                  stored_at = CASE WHEN m.tenant IS NULL THEN excluded.stored_at ELSE m.stored_at END,
                  prev_active_at = CASE WHEN m.lists IS NOT NULL THEN m.active_at END,
                  active_at = CASE
                    WHEN excluded.last_seq > 0 AND (m.active_at, m.epoch, m.lists IS NULL)
                        = (SELECT seen.active_at, seen.epoch, seen.lists IS NULL FROM seen)
                      AND (m.last_seq = 0 OR m.active_at / 60000000 < excluded.active_at / 60000000)
                      THEN excluded.active_at
                    ELSE m.active_at END,
                  revision = m.revision + CASE
                    WHEN (SELECT view FROM given) IS NOT NULL THEN 1
                    WHEN (SELECT under_head FROM given) THEN 0
                    WHEN (SELECT parent_id FROM given) IS NOT DISTINCT FROM m.head_id THEN 0
                    ELSE 1 END,
                  last_seq = m.last_seq + excluded.last_seq,
                  tokens = m.tokens + excluded.tokens,
                  last_message_at = GREATEST(m.last_message_at, excluded.last_message_at),
                  prev_head_seq = m.head_seq, prev_system_seq = m.head_system_seq, prev_user_seq = m.head_user_seq,
                  prev_head_id = m.head_id,
                  head_seq = CASE WHEN excluded.last_seq = 0 THEN m.head_seq ELSE m.last_seq + excluded.last_seq END,
                  head_id = COALESCE(excluded.head_id, m.head_id),
                  head_run_start = CASE
                    WHEN excluded.last_seq = 0 THEN m.head_run_start
                    WHEN (SELECT under_head FROM given) AND m.head_seq = m.last_seq THEN m.head_run_start
                    WHEN excluded.prev_head_seq = m.last_seq THEN excluded.head_run_start
                    ELSE m.last_seq + 1 END,
                  head_runs = CASE
                    WHEN excluded.last_seq = 0 THEN m.head_runs
                    WHEN (SELECT under_head FROM given) THEN CASE
                      WHEN m.head_seq = m.last_seq OR m.head_seq IS NULL THEN m.head_runs
                      ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END
                    WHEN excluded.prev_head_seq = m.last_seq THEN excluded.head_runs
                    WHEN excluded.prev_head_seq IS NOT NULL THEN
                      (ARRAY[excluded.head_run_start, excluded.prev_head_seq,
                             excluded.prev_head_seq - excluded.head_depth + excluded.last_seq] || excluded.head_runs)[1:24]
                    END,
                  head_depth = CASE WHEN (SELECT under_head FROM given)
                    THEN COALESCE(m.head_depth, 0) + excluded.last_seq ELSE excluded.head_depth END,
                  head_path_tokens = CASE WHEN (SELECT under_head FROM given)
                    THEN COALESCE(m.head_path_tokens, 0) + excluded.tokens ELSE excluded.head_path_tokens END,
                  head_system_seq = CASE
                    WHEN excluded.head_system_seq IS NOT NULL THEN m.last_seq + excluded.head_system_seq
                    WHEN (SELECT under_head FROM given) THEN m.head_system_seq
                    ELSE excluded.prev_system_seq END,
                  head_user_seq = CASE
                    WHEN excluded.head_user_seq IS NOT NULL THEN m.last_seq + excluded.head_user_seq
                    WHEN (SELECT under_head FROM given) THEN m.head_user_seq
                    ELSE excluded.prev_user_seq END,
                  head_view_seq = CASE
                    WHEN (SELECT given.view IS NOT NULL AND given.anchor_id IS NULL FROM given) THEN
                      CASE WHEN excluded.last_seq = 0 THEN m.head_seq ELSE m.last_seq + excluded.last_seq END
                    WHEN (SELECT under_head FROM given) THEN GREATEST(m.head_view_seq, excluded.head_view_seq)
                    ELSE excluded.head_view_seq END,
                  head_covers_seq = CASE WHEN (SELECT under_head FROM given) THEN m.head_covers_seq
                    ELSE excluded.head_covers_seq END
              WHERE m.epoch = excluded.epoch AND m.last_seq < 1152921504606846976
                AND m.revision = COALESCE((SELECT revision FROM given), m.revision)
                AND (excluded.last_seq > 0 OR m.head_seq IS NOT NULL)
                AND ((SELECT any_head FROM given) OR m.head_id IS NOT DISTINCT FROM (SELECT expected_head FROM given))
                AND m.last_seq = COALESCE((SELECT expected_last_seq FROM given), m.last_seq)
                AND ((SELECT given.under_head AND given.anchor_id IS NULL FROM given)
                     OR (m.revision = (SELECT seen.revision FROM seen)
                         AND m.summaries IS NOT DISTINCT FROM (SELECT seen.summaries FROM seen)))
              RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_seq, m.head_id, m.head_run_start,
                        m.head_depth, m.head_path_tokens, m.head_runs, m.prev_head_seq, m.prev_system_seq,
                        m.prev_user_seq, m.prev_head_id, m.lists, m.number, m.active_at, m.prev_active_at
            ),
            """
                    + LISTED
                    + """
            written AS (
              INSERT INTO keepsake_message
                (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
                 id, parent_id, token_counter, runs, message)
              SELECT memory.memory_key,
                     memory.last_seq - given.size + new.place,
                     CASE WHEN new.place > 1 THEN memory.last_seq - given.size + new.place - 1
                       WHEN given.under_head THEN memory.prev_head_seq ELSE parent.seq END,
                     new.created_at,
                     memory.head_run_start,
                     memory.head_depth - given.size + new.place,
                     memory.head_path_tokens - given.tokens + new.tokens_so_far,
                     CASE WHEN new.system_place > 0 THEN memory.last_seq - given.size + new.system_place
                       WHEN given.under_head THEN memory.prev_system_seq ELSE parent.system_seq END,
                     CASE WHEN new.user_place > 0 THEN memory.last_seq - given.size + new.user_place
                       WHEN given.under_head THEN memory.prev_user_seq ELSE parent.user_seq END,
                     new.tokens,
                     new.id,
                     CASE WHEN new.place = 1 AND given.under_head THEN memory.prev_head_id ELSE new.parent_id END,
                     new.token_counter,
                     CASE WHEN memory.head_run_start = memory.last_seq - given.size + new.place THEN memory.head_runs END,
                     new.message
              FROM memory
              CROSS JOIN given
              LEFT JOIN parent ON true
              CROSS JOIN unnest(:ids::text[], :parents::text[], :messages::text[], :counters::text[], :token_counts::integer[],
                                :tokens_so_far::bigint[], :times::bigint[], :systems::bigint[], :users::bigint[])
                WITH ORDINALITY AS new (id, parent_id, message, token_counter, tokens, tokens_so_far, created_at,
                                        system_place, user_place, place)
            ),
            viewed AS (
              INSERT INTO keepsake_view (memory_key, anchor_seq, anchor_id, view)
              SELECT memory.memory_key, COALESCE(anchor.seq, memory.head_seq), COALESCE(given.anchor_id, memory.head_id),
                     replace(given.view, ':"00000000-0000-0000-0000-000000000000"',
                             ':' || COALESCE(to_json(memory.prev_head_id)::text, '"00000000-0000-0000-0000-000000000000"'))
              FROM memory
              CROSS JOIN given
              LEFT JOIN anchor ON true
              WHERE given.view IS NOT NULL
              ON CONFLICT (memory_key, anchor_seq) DO UPDATE SET anchor_id = excluded.anchor_id, view = excluded.view
            )
            """
                    + MOVED
                    + """
            SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
            """;

    static final NamedSql APPEND = NamedSql.of(APPEND_TEXT, APPEND_PARAMETERS);

    /** {@link #APPEND} for messages with notes. */
    static final NamedSql APPEND_WITH_NOTES =
            NamedSql.of(withNotes(APPEND_TEXT, sumsOfMany()), APPEND_PARAMETERS + " " + NOTES_PARAMETERS);

    /**
     * Why an append did not happen: the memory's row, whether the parent exists, which messages of the view exist, and
     * the messages whose ids the batch uses, all in one state. At least one row.
     */
    static final NamedSql CLASSIFY = NamedSql.of(
            """
            SELECT CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.epoch END AS epoch,
                   CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.revision END AS revision,
                   CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.last_seq END AS last_seq,
                   CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.tokens END AS memory_tokens, m.head_seq, m.head_id,
            """
                    + DAMAGE
                    + """
            ,
                   EXISTS (SELECT FROM keepsake_message p
                           WHERE p.memory_key = :memory_key AND p.id = :parent_id::text) AS has_parent,
                   ARRAY(SELECT n.id FROM unnest(:named::text[]) AS name (id)
                         CROSS JOIN LATERAL (
                           SELECT n.id FROM keepsake_message n
                           WHERE n.memory_key = :memory_key AND n.id = name.id
                           LIMIT 1
                         ) n) AS named,
                   s.seq, s.id, s.parent_id, s.message, s.tokens, s.token_counter, s.created_at, s.outcome
            FROM (SELECT 1) one
            LEFT JOIN keepsake_memory m ON m.memory_key = :memory_key
            LEFT JOIN LATERAL (
              SELECT s.*
              FROM unnest(:ids::text[]) AS used (id)
              CROSS JOIN LATERAL (
                SELECT s.* FROM keepsake_message s
                WHERE s.memory_key = :memory_key AND s.id = used.id
                LIMIT 1
              ) s
            ) s ON true
            """,
            "memory_key parent_id named ids");

    static final String FIND =
            """
            SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
            FROM keepsake_message
            WHERE memory_key = ? AND id = ANY (?)
            ORDER BY seq
            """;

    static final String FIND_AT =
            """
            SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
            FROM keepsake_message
            WHERE memory_key = ? AND seq = ANY (?)
            ORDER BY seq
            """;

    /**
     * {@link #FIND} in several memories, with one memory for each id. {@code place} is the memory's place in the list.
     */
    static final String FIND_IN_SEVERAL =
            """
            SELECT m.*, asked.place
            FROM unnest(?::bytea[], ?::text[]) WITH ORDINALITY AS asked (memory_key, id, place)
            CROSS JOIN LATERAL (
              SELECT m.seq, m.id, m.parent_id, m.message, m.tokens, m.token_counter, m.created_at, m.outcome
              FROM keepsake_message m
              WHERE m.memory_key = asked.memory_key AND m.id BETWEEN asked.id AND asked.id
              ORDER BY m.id
              LIMIT 1
            ) m
            ORDER BY m.seq
            """;

    /** {@link #FIND_AT} in several memories, with one memory for each sequence. */
    static final String FIND_AT_IN_SEVERAL =
            """
            SELECT m.*, asked.place
            FROM unnest(?::bytea[], ?::bigint[]) WITH ORDINALITY AS asked (memory_key, seq, place)
            CROSS JOIN LATERAL (
              SELECT m.seq, m.id, m.parent_id, m.message, m.tokens, m.token_counter, m.created_at, m.outcome
              FROM keepsake_message m
              WHERE m.memory_key = asked.memory_key AND m.seq BETWEEN asked.seq AND asked.seq
              ORDER BY m.seq
              LIMIT 1
            ) m
            ORDER BY m.seq
            """;

    /** The message with the highest sequence. */
    static final NamedSql NEWEST_MESSAGE = NamedSql.of(
            """
            SELECT n.seq, n.id FROM keepsake_message n
            WHERE n.memory_key = :memory_key
              AND n.seq = (SELECT m.last_seq FROM keepsake_memory m WHERE m.memory_key = :memory_key)
            """,
            "memory_key");

    /**
     * An append that also writes the notes of the messages.
     *
     * @param sums the part that adds the used tokens to the sums of their days, or an empty text
     */
    private static String withNotes(String append, String sums) {
        String one = append.replace("runs, message)", "runs, message, outcome, made, request)")
                .replace(
                        ":token_counter, runs, :message\n",
                        ":token_counter, runs, :message, :outcome::text, :made::text, :request::text\n");
        String many = one.replace("new.message\n", "new.message, new.outcome, new.made, new.request\n")
                .replace(":users::bigint[])", ":users::bigint[], :outcomes::text[], :made::text[], :requests::text[])")
                .replace("user_place, place)", "user_place, outcome, made, request, place)");
        return many.replace(MOVED, sums + MOVED);
    }

    /** A message is of one day, so its values need no list. */
    private static String sumsOfOne() {
        return sums(
                """
                SELECT memory.memory_key, :day::bigint, :tenant::text, :input::bigint, :output::bigint, :cached::bigint
                  FROM memory
                """);
    }

    private static String sumsOfMany() {
        return sums(
                """
                SELECT memory.memory_key, used.day, :tenant::text, used.input, used.output, used.cached
                  FROM memory
                  CROSS JOIN unnest(:days::bigint[], :inputs::bigint[], :outputs::bigint[], :cached::bigint[])
                    AS used (day, input, output, cached)
                """);
    }

    private static String sums(String values) {
        return """
            , sums AS (
              INSERT INTO keepsake_usage AS u (memory_key, day, tenant, input_tokens, output_tokens, cached_tokens)
              %s  ON CONFLICT (memory_key, day) DO UPDATE
                SET input_tokens = u.input_tokens + excluded.input_tokens,
                    output_tokens = u.output_tokens + excluded.output_tokens,
                    cached_tokens = u.cached_tokens + excluded.cached_tokens
            )
            """
                .formatted(values);
    }

    /**
     * Sets an outcome and raises the revision, unless the message has this outcome. Returns the outcome of the state in
     * which the statement began.
     */
    static final NamedSql SET_OUTCOME_OF = NamedSql.of(
            """
            WITH memory AS (
              UPDATE keepsake_memory m
              SET revision = m.revision + 1
              WHERE m.memory_key = :memory_key AND m.tenant IS NOT NULL AND m.epoch = COALESCE(:epoch::bigint, m.epoch)
                AND EXISTS (SELECT FROM keepsake_message n
                            WHERE n.memory_key = :memory_key AND n.id = :id::text
                              AND n.outcome IS DISTINCT FROM :outcome::text)
              RETURNING m.memory_key
            ),
            changed AS (
              UPDATE keepsake_message n
              SET outcome = :outcome::text
              FROM memory
              WHERE n.memory_key = :memory_key AND n.id = :id::text
              RETURNING n.seq
            )
            SELECT (SELECT count(*) FROM changed) AS changed,
                   (SELECT s.epoch FROM keepsake_memory s WHERE s.memory_key = :memory_key) AS epoch,
                   EXISTS (SELECT FROM keepsake_message o WHERE o.memory_key = :memory_key AND o.id = :id::text) AS there,
                   (SELECT o.outcome FROM keepsake_message o
                    WHERE o.memory_key = :memory_key AND o.id = :id::text) AS outcome
            """,
            "memory_key epoch id outcome");

    static final OwnSql OWN = new OwnSql(
            MEMORY,
            LOCK_MEMORY,
            MOVE_HEAD,
            MEND_MEMORY,
            LEAVES,
            INSERT_MESSAGE,
            ADVANCE_MEMORY,
            CHECK_MESSAGES,
            TAKE_LEASE,
            RUNS_OF_HEAD,
            PostgresListSql.LIST,
            PostgresListSql.USAGE,
            PostgresListSql.MOVE,
            PostgresListSql.MISSING_ON_LISTS,
            PostgresListSql.PUT_ON_LISTS,
            PostgresListSql.TAKE_OFF_LISTS);

    private PostgresSql() {}
}

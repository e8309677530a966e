package io.github.keepsake4j.log.jdbc;

/** The statements that only PostgreSQL takes. */
final class PostgresSql {

    /** Always one row, which also says whether the head is as the memory's row says. */
    static final String MEMORY =
            """
            SELECT CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.epoch END AS epoch, CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.revision END AS revision,
                   CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.last_seq END AS last_seq, CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.tokens END AS tokens, m.head_seq, m.head_id,
                   CASE
                     WHEN (SELECT max(x.seq) FROM keepsake_message x
                           WHERE x.memory_key = given.memory_key AND x.seq <= 1152921504606846976)
                          > COALESCE(m.last_seq, 0)
                       THEN 'there are messages that its row does not know of'
                     WHEN m.head_seq IS NOT NULL AND NOT EXISTS (
                         SELECT FROM keepsake_message h
                         WHERE h.memory_key = given.memory_key AND h.seq = m.head_seq AND h.id = m.head_id
                           AND (h.run_start, h.depth, h.path_tokens) = (m.head_run_start, m.head_depth, m.head_path_tokens)
                           AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                           AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
                       THEN 'the head is not there, or is not as its row says'
                   END AS damage
            FROM (SELECT ?::bytea AS memory_key) given
            LEFT JOIN keepsake_memory m ON m.memory_key = given.memory_key
            """;

    /**
     * The row, locked. Behind the wait for the lock this statement would not see the newest message, so whether the head is
     * there is for the next statement to say.
     */
    static final String LOCK_MEMORY =
            """
            SELECT epoch, revision, last_seq, tokens, head_seq, head_id, NULL::text AS damage
            FROM keepsake_memory
            WHERE memory_key = ?
            FOR UPDATE
            """;

    static final String MOVE_HEAD =
            """
            UPDATE keepsake_memory m
            SET head_seq = n.seq, head_id = n.id, head_run_start = n.run_start, head_depth = n.depth,
                head_path_tokens = n.path_tokens, head_system_seq = n.system_seq, head_user_seq = n.user_seq,
                revision = m.revision + 1
            FROM keepsake_message n
            WHERE n.memory_key = m.memory_key AND n.seq = ? AND m.memory_key = ? AND m.epoch = ?
              AND (m.head_seq IS NULL
                   OR EXISTS (SELECT FROM keepsake_message h
                              WHERE h.memory_key = m.memory_key AND h.seq = m.head_seq AND h.id = m.head_id))
            """;

    static final String MEND_MEMORY =
            """
            UPDATE keepsake_memory m
            SET head_seq = n.seq, head_id = n.id, head_run_start = n.run_start, head_depth = n.depth,
                head_path_tokens = n.path_tokens, head_system_seq = n.system_seq, head_user_seq = n.user_seq,
                epoch = given.epoch, revision = given.revision, last_seq = given.last_seq, tokens = given.tokens
            FROM (SELECT ?::bigint AS seq, ?::bytea AS memory_key, ?::bigint AS epoch, ?::bigint AS revision,
                         ?::bigint AS last_seq, ?::bigint AS tokens) given
            LEFT JOIN keepsake_message n ON n.memory_key = given.memory_key AND n.seq = given.seq
            WHERE m.memory_key = given.memory_key
            """;

    /** Leaves a tombstone: a hash and an epoch, nothing else. Parameters: key, the epoch of one that was never there. */
    static final String BURY =
            """
            INSERT INTO keepsake_memory (memory_key, epoch, revision, last_seq, tokens, created_at)
            VALUES (?, ?, 2, 0, 0, 0)
            ON CONFLICT (memory_key) DO UPDATE
              SET epoch = keepsake_memory.epoch + 1, revision = keepsake_memory.revision + 1,
                  tenant = NULL, app_id = NULL, conversation_id = NULL, node_id = NULL, title = NULL,
                  metadata = NULL, last_seq = 0, tokens = 0, created_at = 0, last_message_at = NULL,
                  head_seq = NULL, head_run_start = NULL, head_depth = NULL, head_path_tokens = NULL,
                  head_system_seq = NULL, head_user_seq = NULL, head_id = NULL, prev_head_seq = NULL,
                  prev_system_seq = NULL, prev_user_seq = NULL, prev_head_id = NULL
              RETURNING epoch
            """;

    /**
     * Deletes all that belongs to a memory that was just buried. A statement of its own, because the one that buries does not
     * see what was committed while it waited for the row. Parameters: key, the tombstone's epoch, key, key, key, key.
     */
    static final String ERASE =
            """
            WITH buried AS MATERIALIZED (
              SELECT FROM keepsake_memory WHERE memory_key = ? AND epoch = ?
            ),
            messages AS (
              DELETE FROM keepsake_message WHERE memory_key = ? AND EXISTS (SELECT FROM buried)
            ),
            views AS (
              DELETE FROM keepsake_view WHERE memory_key = ? AND EXISTS (SELECT FROM buried)
            ),
            summaries AS (
              DELETE FROM keepsake_summary WHERE memory_key = ? AND EXISTS (SELECT FROM buried)
            )
            DELETE FROM keepsake_lease WHERE memory_key = ? AND EXISTS (SELECT FROM buried)
            """;

    /**
     * The leaves: each run's end that no other run hangs from, and the head if nothing follows it. Runs are found by the
     * index over their starts, and their ends one by one: joined otherwise, the planner may read the whole table. A leaf
     * that is not there has no id. Parameters: key, key, key, key, key.
     */
    static final String LEAVES =
            """
            SELECT run_end.seq, l.id, l.depth, l.created_at, COALESCE(l.current, false) AS current
            FROM (
              SELECT (SELECT max(b.seq) FROM keepsake_message b WHERE b.memory_key = r.memory_key AND b.seq < r.seq) AS seq
              FROM keepsake_message r
              WHERE r.memory_key = ? AND r.run_start = r.seq AND r.seq > 1
              UNION
              SELECT max(seq) FROM keepsake_message WHERE memory_key = ?
              UNION
              SELECT m.head_seq FROM keepsake_memory m
              WHERE m.memory_key = ? AND NOT EXISTS (
                SELECT FROM keepsake_message n
                WHERE n.memory_key = m.memory_key AND n.seq = m.head_seq + 1 AND n.run_start < n.seq)
            ) run_end
            LEFT JOIN LATERAL (
              SELECT l.id, l.depth, l.created_at,
                     l.seq = (SELECT m.head_seq FROM keepsake_memory m WHERE m.memory_key = l.memory_key) AS current
              FROM keepsake_message l
              WHERE l.memory_key = ? AND l.seq = run_end.seq
              LIMIT 1
            ) l ON true
            WHERE run_end.seq IS NOT NULL AND run_end.seq NOT IN (
              SELECT r.parent_seq FROM keepsake_message r
              WHERE r.memory_key = ? AND r.run_start = r.seq AND r.parent_seq IS NOT NULL
            )
            ORDER BY run_end.seq DESC
            """;

    /**
     * A whole append. No row comes back if a condition does not hold, and nothing was written then; a used id aborts it.
     *
     * <p>The memory's row goes first: it hands out the sequence, and its lock lets one append in at a time. What is below
     * {@code DO UPDATE} sees the newest version of that row; everything else sees what was committed when the statement
     * began, and holds only if the memory was not erased since then. So whether the head is there is asked of the row as it
     * was then, {@code seen}: a writer that came between has asked the same.
     *
     * <p>The planner must not see the parameters' values: a plan made for them costs milliseconds each time, and where
     * statistics are stale it takes the memory for small and reads all of it. So they go through {@code given}, which is
     * materialized, and each look-up is lateral with a limit, which leaves no other plan than one by an index.
     */
    static final String APPEND =
            """
            WITH given AS MATERIALIZED (
              SELECT ?::bytea AS memory_key, ?::text AS tenant, ?::text AS app_id, ?::text AS conversation_id,
                     ?::text AS node_id, ?::bigint AS now, ?::bigint AS epoch, ?::bigint AS revision,
                     ?::boolean AS any_head, ?::text AS expected_head, ?::bigint AS expected_last_seq,
                     ?::boolean AS under_head, ?::text AS parent_id, ?::boolean AS importing, ?::bigint AS size,
                     ?::bigint AS tokens, ?::text AS last_id, ?::bigint AS last_time, ?::bigint AS system_place,
                     ?::bigint AS user_place, ?::text AS anchor_id, ?::text AS view, ?::text[] AS named
            ),
            parent AS MATERIALIZED (
              SELECT p.seq, p.run_start, p.depth, p.path_tokens, p.system_seq, p.user_seq
              FROM given
              CROSS JOIN LATERAL (
                SELECT p.* FROM keepsake_message p
                WHERE p.memory_key = given.memory_key AND p.id = given.parent_id
                LIMIT 1
              ) p
            ),
            anchor AS MATERIALIZED (
              SELECT a.seq
              FROM given
              CROSS JOIN LATERAL (
                SELECT a.seq FROM keepsake_message a
                WHERE a.memory_key = given.memory_key AND a.id = given.anchor_id
                LIMIT 1
              ) a
            ),
            named AS MATERIALIZED (
              SELECT count(*) AS found
              FROM given
              CROSS JOIN LATERAL unnest(given.named) AS name (id)
              CROSS JOIN LATERAL (
                SELECT n.seq FROM keepsake_message n
                WHERE n.memory_key = given.memory_key AND n.id = name.id
                LIMIT 1
              ) n
            ),
            memory AS (
              INSERT INTO keepsake_memory AS m
                (memory_key, number, tenant, app_id, conversation_id, node_id, metadata, epoch, revision, last_seq,
                 tokens, created_at, last_message_at, head_seq, head_run_start, head_depth, head_path_tokens,
                 head_system_seq, head_user_seq, head_id, prev_head_seq, prev_system_seq, prev_user_seq)
              SELECT given.memory_key, COALESCE(seen.number, nextval('keepsake_memory_number')), given.tenant,
                     given.app_id, given.conversation_id, given.node_id, '{}', COALESCE(seen.epoch, 1),
                     CASE WHEN given.view IS NULL AND given.parent_id IS NULL THEN 1 ELSE 2 END, given.size, given.tokens, given.now,
                     given.last_time, NULLIF(given.size, 0), first.run_start, first.depth + given.size,
                     first.path_tokens + given.tokens, given.system_place, given.user_place,
                     given.last_id, parent.seq, parent.system_seq, parent.user_seq
              FROM given
              LEFT JOIN LATERAL (
                SELECT s.* FROM keepsake_memory s
                WHERE s.memory_key = given.memory_key
                LIMIT 1
              ) seen ON true
              LEFT JOIN parent ON true
              LEFT JOIN LATERAL (
                SELECT COALESCE(parent.run_start, 1) AS run_start, COALESCE(parent.depth, 0) AS depth,
                       COALESCE(parent.path_tokens, 0) AS path_tokens
              ) first ON given.size > 0
              LEFT JOIN anchor ON true
              CROSS JOIN named
              WHERE CASE WHEN seen.head_seq IS NULL AND seen.head_id IS NULL
                    THEN (SELECT COALESCE(max(x.seq), 0) FROM keepsake_message x
                           WHERE x.memory_key = given.memory_key AND x.seq <= 1152921504606846976)
                         <= COALESCE(seen.last_seq, 0)
                    ELSE EXISTS (SELECT FROM keepsake_message h
                                 WHERE h.memory_key = given.memory_key AND h.seq = seen.head_seq AND h.id = seen.head_id
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
                  node_id = excluded.node_id, metadata = COALESCE(m.metadata, '{}'),
                  created_at = CASE WHEN m.tenant IS NULL THEN excluded.created_at ELSE m.created_at END,
                  revision = m.revision + CASE
                    WHEN (SELECT view FROM given) IS NOT NULL THEN 1
                    WHEN (SELECT under_head FROM given) THEN 0
                    WHEN (SELECT parent_id FROM given) IS NOT DISTINCT FROM m.head_id THEN 0
                    ELSE 1 END,
                  last_seq = m.last_seq + excluded.last_seq,
                  tokens = m.tokens + excluded.tokens,
                  last_message_at = COALESCE(excluded.last_message_at, m.last_message_at),
                  prev_head_seq = m.head_seq, prev_system_seq = m.head_system_seq, prev_user_seq = m.head_user_seq,
                  prev_head_id = m.head_id,
                  head_seq = CASE WHEN excluded.last_seq = 0 THEN m.head_seq ELSE m.last_seq + excluded.last_seq END,
                  head_id = COALESCE(excluded.head_id, m.head_id),
                  head_run_start = CASE
                    WHEN excluded.last_seq = 0 THEN m.head_run_start
                    WHEN (SELECT under_head FROM given) AND m.head_seq = m.last_seq THEN m.head_run_start
                    WHEN excluded.prev_head_seq = m.last_seq THEN excluded.head_run_start
                    ELSE m.last_seq + 1 END,
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
                    ELSE excluded.prev_user_seq END
              WHERE m.epoch = excluded.epoch AND m.last_seq < 1152921504606846976
                AND m.revision = COALESCE((SELECT revision FROM given), m.revision)
                AND (excluded.last_seq > 0 OR m.head_seq IS NOT NULL)
                AND ((SELECT any_head FROM given) OR m.head_id IS NOT DISTINCT FROM (SELECT expected_head FROM given))
                AND m.last_seq = COALESCE((SELECT expected_last_seq FROM given), m.last_seq)
              RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_seq, m.head_id, m.head_run_start,
                        m.head_depth, m.head_path_tokens, m.prev_head_seq, m.prev_system_seq, m.prev_user_seq,
                        m.prev_head_id
            ),
            written AS (
              INSERT INTO keepsake_message
                (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
                 id, parent_id, token_counter, message)
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
                     new.message
              FROM memory
              CROSS JOIN given
              LEFT JOIN parent ON true
              CROSS JOIN unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::integer[], ?::bigint[], ?::bigint[],
                                ?::bigint[], ?::bigint[])
                WITH ORDINALITY AS new (id, parent_id, message, token_counter, tokens, tokens_so_far, created_at,
                                        system_place, user_place, place)
            ),
            viewed AS (
              INSERT INTO keepsake_view (memory_key, anchor_seq, view)
              SELECT memory.memory_key, COALESCE(anchor.seq, memory.head_seq),
                     replace(given.view, '"00000000-0000-0000-0000-000000000000"',
                             COALESCE(to_json(memory.prev_head_id)::text, '"00000000-0000-0000-0000-000000000000"'))
              FROM memory
              CROSS JOIN given
              LEFT JOIN anchor ON true
              WHERE given.view IS NOT NULL
              ON CONFLICT (memory_key, anchor_seq) DO UPDATE SET view = excluded.view
            )
            SELECT prev_head_id, head_id, last_seq, epoch, revision FROM memory
            """;

    /**
     * {@link #APPEND} of one message under the head of a memory that has one, which is nearly every append: of the work that
     * the other one is, most was starting its forty steps. No row comes back if a condition does not hold, or the memory
     * is new, erased or damaged; the other one is sent then. What is written comes from the memory's row, which is the newest
     * version. That the head is there, as that row says, is asked of the state in which the statement began: two look-ups by
     * primary key, about 15 microseconds.
     */
    static final String APPEND_ONE =
            """
            WITH memory AS (
              UPDATE keepsake_memory m
              SET last_seq = m.last_seq + 1,
                  tokens = m.tokens + given.tokens,
                  last_message_at = given.created_at,
                  prev_head_seq = m.head_seq, prev_system_seq = m.head_system_seq, prev_user_seq = m.head_user_seq,
                  prev_head_id = m.head_id,
                  head_seq = m.last_seq + 1,
                  head_id = given.id,
                  head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
                  head_depth = m.head_depth + 1,
                  head_path_tokens = m.head_path_tokens + given.tokens,
                  head_system_seq = CASE WHEN given.is_system THEN m.last_seq + 1 ELSE m.head_system_seq END,
                  head_user_seq = CASE WHEN given.is_user THEN m.last_seq + 1 ELSE m.head_user_seq END
              FROM (
                SELECT ?::bytea AS memory_key, ?::bigint AS epoch, ?::bigint AS revision, ?::boolean AS any_head,
                       ?::text AS expected_head, ?::text AS id, ?::integer AS tokens, ?::bigint AS created_at, ?::boolean AS is_system,
                       ?::boolean AS is_user
              ) given
              WHERE m.memory_key = given.memory_key AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
                AND m.last_seq < 1152921504606846976
                AND (SELECT (h.id, h.run_start, h.depth, h.path_tokens)
                            = (seen.head_id, seen.head_run_start, seen.head_depth, seen.head_path_tokens)
                            AND h.system_seq IS NOT DISTINCT FROM seen.head_system_seq
                            AND h.user_seq IS NOT DISTINCT FROM seen.head_user_seq
                     FROM keepsake_memory seen
                     CROSS JOIN LATERAL (
                       SELECT h.* FROM keepsake_message h
                       WHERE h.memory_key = given.memory_key AND h.seq = seen.head_seq
                       LIMIT 1
                     ) h
                     WHERE seen.memory_key = given.memory_key)
                AND m.epoch = COALESCE(given.epoch, m.epoch)
                AND m.revision = COALESCE(given.revision, m.revision)
                AND (given.any_head OR m.head_id = given.expected_head)
              RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_id, m.head_run_start, m.head_depth,
                        m.head_path_tokens, m.head_system_seq, m.head_user_seq, m.prev_head_seq, m.prev_head_id,
                        m.last_message_at
            ),
            written AS (
              INSERT INTO keepsake_message
                (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
                 id, parent_id, token_counter, message)
              SELECT memory_key, last_seq, prev_head_seq, last_message_at, head_run_start, head_depth, head_path_tokens,
                     head_system_seq, head_user_seq, ?::integer, head_id, prev_head_id, ?::text, ?::text
              FROM memory
            )
            SELECT prev_head_id, head_id, last_seq, epoch, revision FROM memory
            """;

    /**
     * Why an append did not happen: the memory's row, whether the parent is there, which messages that the view names are,
     * and the messages whose ids the batch uses, all as of one moment. At least one row. Parameters: parent, named, key,
     * ids.
     */
    static final String CLASSIFY =
            """
            WITH given AS NOT MATERIALIZED (
              SELECT ?::text AS parent_id, ?::text[] AS named, ?::bytea AS memory_key, ?::text[] AS ids
            )
            SELECT CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.epoch END AS epoch, CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.revision END AS revision,
                   CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.last_seq END AS last_seq, CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.tokens END AS memory_tokens, m.head_seq, m.head_id,
                   CASE
                     WHEN (SELECT max(x.seq) FROM keepsake_message x
                           WHERE x.memory_key = given.memory_key AND x.seq <= 1152921504606846976)
                          > COALESCE(m.last_seq, 0)
                       THEN 'there are messages that its row does not know of'
                     WHEN m.head_seq IS NOT NULL AND NOT EXISTS (
                         SELECT FROM keepsake_message h
                         WHERE h.memory_key = given.memory_key AND h.seq = m.head_seq AND h.id = m.head_id
                           AND (h.run_start, h.depth, h.path_tokens) = (m.head_run_start, m.head_depth, m.head_path_tokens)
                           AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                           AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
                       THEN 'the head is not there, or is not as its row says'
                   END AS damage,
                   EXISTS (SELECT FROM keepsake_message p
                           WHERE p.memory_key = given.memory_key AND p.id = given.parent_id) AS has_parent,
                   ARRAY(SELECT n.id FROM unnest(given.named) AS name (id)
                         CROSS JOIN LATERAL (
                           SELECT n.id FROM keepsake_message n
                           WHERE n.memory_key = given.memory_key AND n.id = name.id
                           LIMIT 1
                         ) n) AS named,
                   s.seq, s.id, s.parent_id, s.message, s.tokens, s.token_counter, s.created_at
            FROM given
            LEFT JOIN keepsake_memory m ON m.memory_key = given.memory_key
            LEFT JOIN keepsake_message s ON s.memory_key = given.memory_key AND s.id = ANY (given.ids)
            """;

    static final String FIND =
            """
            SELECT seq, id, parent_id, message, tokens, token_counter, created_at
            FROM keepsake_message
            WHERE memory_key = ? AND id = ANY (?)
            ORDER BY seq
            """;

    /** The message with the highest sequence. Parameters: key, key. */
    static final String NEWEST_MESSAGE =
            """
            SELECT seq, id FROM keepsake_message
            WHERE memory_key = ? AND seq = (SELECT last_seq FROM keepsake_memory WHERE memory_key = ?)
            """;

    /**
     * A whole bounded read. The first kind of row is the memory's, and says what is damaged. The second kind is messages of
     * the branch. The third is the system and user message in force where they are older. Then come the view and the summary,
     * if there are any. The seventh kind is the ancestor to stop behind.
     *
     * <p>{@code chain} goes from run to run only while a view, a summary or the ancestor to stop behind is still to be found
     * below. {@code part} is a stretch of a run that is read; where only tokens bound the read, stretches grow, so that
     * no more than about twice of what is returned is looked at. Depth and tokens along the path tell how far to go. About
     * {@code given} see {@link #APPEND}.
     */
    static final String READ =
            """
            WITH RECURSIVE given AS MATERIALIZED (
              SELECT ?::bytea AS memory_key, ?::text AS from_id, ?::text AS after_id, ?::bigint AS max_messages,
                     ?::bigint AS max_tokens, ?::bigint AS stretch, ?::boolean AS to_summary
            ),
            memory AS MATERIALIZED (
              SELECT m.memory_key, m.head_seq, m.head_id, m.epoch, m.revision, m.last_seq
              FROM given
              CROSS JOIN LATERAL (
                SELECT m.* FROM keepsake_memory m
                WHERE m.memory_key = given.memory_key
                LIMIT 1
              ) m
            ),
            start AS MATERIALIZED (
              SELECT s.seq, s.run_start, s.depth, s.path_tokens, s.system_seq, s.user_seq
              FROM given
              CROSS JOIN LATERAL (
                SELECT s.* FROM keepsake_message s
                WHERE s.memory_key = given.memory_key AND s.seq = CASE
                  WHEN given.from_id IS NULL THEN (SELECT head_seq FROM memory)
                  ELSE (SELECT f.seq FROM keepsake_message f
                        WHERE f.memory_key = given.memory_key AND f.id = given.from_id
                        LIMIT 1) END
                  AND s.id = COALESCE(given.from_id, (SELECT head_id FROM memory))
                LIMIT 1
              ) s
            ),
            after AS MATERIALIZED (
              SELECT a.*
              FROM given
              CROSS JOIN LATERAL (
                SELECT a.* FROM keepsake_message a
                WHERE a.memory_key = given.memory_key AND a.id = given.after_id
                LIMIT 1
              ) a
            ),
            chain (low, high, view_seq, covers_seq) AS (
              SELECT start.run_start, start.seq,
                     (SELECT v.anchor_seq FROM keepsake_view v
                      WHERE v.memory_key = given.memory_key AND v.anchor_seq <= start.seq
                      ORDER BY v.anchor_seq DESC LIMIT 1),
                     CASE WHEN given.to_summary THEN
                       (SELECT s.covers_seq FROM keepsake_summary s
                        WHERE s.memory_key = given.memory_key AND s.covers_seq <= start.seq
                        ORDER BY s.covers_seq DESC LIMIT 1) END
              FROM start
              CROSS JOIN given
              UNION ALL
              SELECT p.run_start, p.seq,
                     CASE WHEN chain.view_seq >= chain.low OR chain.view_seq <= p.seq THEN chain.view_seq ELSE
                       (SELECT v.anchor_seq FROM keepsake_view v
                        WHERE v.memory_key = given.memory_key AND v.anchor_seq <= p.seq
                        ORDER BY v.anchor_seq DESC LIMIT 1) END,
                     CASE WHEN chain.covers_seq >= chain.low OR chain.covers_seq <= p.seq THEN chain.covers_seq
                       WHEN given.to_summary THEN
                       (SELECT s.covers_seq FROM keepsake_summary s
                        WHERE s.memory_key = given.memory_key AND s.covers_seq <= p.seq
                        ORDER BY s.covers_seq DESC LIMIT 1) END
              FROM chain
              CROSS JOIN given
              CROSS JOIN LATERAL (
                SELECT f.parent_seq, f.depth FROM keepsake_message f
                WHERE f.memory_key = given.memory_key AND f.seq = chain.low
                LIMIT 1
              ) run_start
              CROSS JOIN LATERAL (
                SELECT p.seq, p.run_start, p.depth FROM keepsake_message p
                WHERE p.memory_key = given.memory_key AND p.seq = run_start.parent_seq
                LIMIT 1
              ) p
              WHERE p.seq < chain.high AND p.depth = run_start.depth - 1
                AND (chain.view_seq < chain.low OR chain.covers_seq < chain.low
                     OR (SELECT seq FROM after) < chain.low)
            ),
            found AS MATERIALIZED (
              SELECT (SELECT CASE WHEN c.view_seq >= c.low THEN c.view_seq END
                      FROM chain c ORDER BY c.high LIMIT 1) AS view_seq,
                     (SELECT CASE WHEN c.covers_seq >= c.low THEN c.covers_seq END
                      FROM chain c ORDER BY c.high LIMIT 1) AS covers_seq,
                     (SELECT a.seq FROM after a JOIN chain c ON a.seq BETWEEN c.low AND c.high LIMIT 1) AS after_seq,
                     (SELECT (c.view_seq < c.low OR c.covers_seq < c.low OR (SELECT seq FROM after) < c.low)
                             AND NOT EXISTS (SELECT FROM keepsake_message f
                                             WHERE f.memory_key = given.memory_key AND f.seq = c.low
                                               AND f.parent_seq IS NULL AND f.depth = 1)
                      FROM chain c CROSS JOIN given ORDER BY c.high LIMIT 1) AS broken
            ),
            floor AS MATERIALIZED (
              SELECT GREATEST(found.after_seq, found.covers_seq, 0) AS seq, COALESCE(found.after_seq, 0) AS after_seq
              FROM found
            ),
            part (low, high, stretch, room) AS (
              SELECT GREATEST(start.run_start, floor.seq + 1, start.seq - given.max_messages + 1,
                              start.seq - given.stretch + 1),
                     start.seq, given.stretch, given.max_messages
              FROM start
              CROSS JOIN floor
              CROSS JOIN given
              WHERE given.max_messages > 0 AND given.max_tokens > 0 AND start.seq > floor.seq
              UNION ALL
              SELECT GREATEST(p.run_start, floor.seq + 1, p.seq - (given.max_messages - start.depth + p.depth) + 1,
                              p.seq - LEAST(part.stretch * 2, 1099511627776) + 1),
                     p.seq, LEAST(part.stretch * 2, 1099511627776), part.room - (part.high - part.low + 1)
              FROM part
              CROSS JOIN start
              CROSS JOIN floor
              CROSS JOIN given
              CROSS JOIN LATERAL (
                SELECT f.parent_seq FROM keepsake_message f
                WHERE f.memory_key = given.memory_key AND f.seq = part.low
                LIMIT 1
              ) oldest
              CROSS JOIN LATERAL (
                SELECT p.seq, p.run_start, p.depth, p.path_tokens FROM keepsake_message p
                WHERE p.memory_key = given.memory_key AND p.seq = oldest.parent_seq
                LIMIT 1
              ) p
              WHERE part.room > part.high - part.low + 1 AND part.low > floor.seq + 1 AND p.seq < part.high
                AND p.seq > floor.seq AND start.path_tokens - p.path_tokens < given.max_tokens
            )
            SELECT 1 AS kind, start.seq, memory.head_id AS id, NULL::text AS parent_id, NULL::bigint AS parent_seq,
                   CASE
                     WHEN found.broken THEN 'the branch breaks off'
                     WHEN given.from_id IS NULL AND start.seq IS NULL
                       AND (memory.head_seq IS NOT NULL OR memory.head_id IS NOT NULL) THEN 'the head is not there'
                     WHEN memory.head_seq IS NULL
                       AND (SELECT max(x.seq) FROM keepsake_message x
                           WHERE x.memory_key = given.memory_key AND x.seq <= 1152921504606846976)
                           > COALESCE(memory.last_seq, 0)
                       THEN 'there are messages that its row does not know of'
                   END AS message, NULL::integer AS tokens, NULL::text AS token_counter,
                   NULL::bigint AS created_at, CASE WHEN memory.memory_key IS NULL THEN 1 ELSE memory.epoch END AS a,
                   CASE WHEN memory.memory_key IS NULL THEN 1 ELSE memory.revision END AS b,
                   start.system_seq AS c, start.user_seq AS d, floor.seq AS floor_seq,
                   (SELECT seq FROM after) AS named_after_seq, floor.after_seq
            FROM floor
            CROSS JOIN given
            CROSS JOIN found
            LEFT JOIN memory ON true
            LEFT JOIN start ON true
            UNION ALL
            SELECT 2, m.seq, m.id, m.parent_id, m.parent_seq, m.message, m.tokens, m.token_counter, m.created_at,
                   m.run_start, m.depth, m.path_tokens, m.system_seq, m.user_seq, NULL, NULL
            FROM part
            CROSS JOIN start
            CROSS JOIN given
            CROSS JOIN LATERAL (
              SELECT m.* FROM keepsake_message m
              WHERE m.memory_key = given.memory_key AND m.seq BETWEEN part.low AND part.high
                AND start.path_tokens - m.path_tokens < given.max_tokens
              ORDER BY m.seq DESC
            ) m
            UNION ALL
            SELECT 7, a.seq, a.id, a.parent_id, a.parent_seq, NULL, a.tokens, NULL, NULL,
                   a.run_start, a.depth, a.path_tokens, a.system_seq, a.user_seq, NULL, NULL
            FROM after a
            UNION ALL
            SELECT 3, m.seq, m.id, m.parent_id, m.parent_seq, m.message, m.tokens, m.token_counter, m.created_at,
                   NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM start
            CROSS JOIN floor
            CROSS JOIN given
            CROSS JOIN LATERAL (
              SELECT m.* FROM keepsake_message m
              WHERE m.memory_key = given.memory_key AND m.seq IN (start.system_seq, start.user_seq)
              LIMIT 2
            ) m
            WHERE m.seq > floor.after_seq
              AND (m.seq <= floor.seq OR start.depth - m.depth >= given.max_messages
                   OR start.path_tokens - m.path_tokens >= given.max_tokens)
            UNION ALL
            SELECT 4, v.anchor_seq, a.id, NULL, NULL, v.view, NULL, NULL, NULL,
                   NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM found
            CROSS JOIN given
            CROSS JOIN LATERAL (
              SELECT v.anchor_seq, v.view FROM keepsake_view v
              WHERE v.memory_key = given.memory_key AND v.anchor_seq = found.view_seq
              LIMIT 1
            ) v
            LEFT JOIN LATERAL (
              SELECT a.id FROM keepsake_message a
              WHERE a.memory_key = given.memory_key AND a.seq = found.view_seq
              LIMIT 1
            ) a ON true
            UNION ALL
            SELECT 5, s.covers_seq, c.id, s.model, NULL, s.text, s.tokens, s.token_counter, s.created_at,
                   s.replaced_messages, s.replaced_tokens, NULL, NULL, NULL, NULL, NULL
            FROM found
            CROSS JOIN given
            CROSS JOIN LATERAL (
              SELECT s.* FROM keepsake_summary s
              WHERE s.memory_key = given.memory_key AND s.covers_seq = found.covers_seq
              ORDER BY s.version DESC
              LIMIT 1
            ) s
            LEFT JOIN LATERAL (
              SELECT c.id FROM keepsake_message c
              WHERE c.memory_key = given.memory_key AND c.seq = found.covers_seq
              LIMIT 1
            ) c ON true
            """;

    /**
     * {@link #READ} from the head where what is asked for lies in the head's run, which is nearly every read. The same kinds
     * of rows; {@code named_after_seq} is here the sequence down to which was looked, and null if the view in force may
     * lie on an older run. Whether that was enough is the caller's to see; the other one is sent if not.
     */
    static final String READ_RUN =
            """
            WITH memory AS MATERIALIZED (
              SELECT given.memory_key, m.head_seq, m.head_id, CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.epoch END AS epoch,
                     CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.revision END AS revision, CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.last_seq END AS last_seq, m.head_system_seq, m.head_user_seq, m.head_run_start, m.head_depth, m.head_path_tokens, given.max_tokens,
                     GREATEST(m.head_run_start, m.head_seq - given.stretch + 1) AS low,
                     (SELECT v.anchor_seq FROM keepsake_view v
                      WHERE v.memory_key = given.memory_key AND v.anchor_seq <= m.head_seq
                      ORDER BY v.anchor_seq DESC LIMIT 1) AS view_seq
              FROM (SELECT ?::bytea AS memory_key, ?::bigint AS max_tokens, ?::bigint AS stretch) given
              LEFT JOIN LATERAL (
                SELECT m.* FROM keepsake_memory m WHERE m.memory_key = given.memory_key LIMIT 1
              ) m ON true
            )
            SELECT 1 AS kind, memory.head_seq AS seq, memory.head_id AS id, NULL::text AS parent_id,
                   NULL::bigint AS parent_seq,
                   CASE
                     WHEN memory.head_seq IS NULL AND memory.head_id IS NULL THEN
                       CASE WHEN (SELECT max(x.seq) FROM keepsake_message x
                           WHERE x.memory_key = memory.memory_key AND x.seq <= 1152921504606846976)
                                 > memory.last_seq
                         THEN 'there are messages that its row does not know of' END
                     WHEN NOT EXISTS (
                         SELECT FROM keepsake_message h
                         WHERE h.memory_key = memory.memory_key AND h.seq = memory.head_seq AND h.id = memory.head_id
                           AND (h.run_start, h.depth, h.path_tokens)
                             = (memory.head_run_start, memory.head_depth, memory.head_path_tokens)
                           AND h.system_seq IS NOT DISTINCT FROM memory.head_system_seq
                           AND h.user_seq IS NOT DISTINCT FROM memory.head_user_seq)
                       THEN 'the head is not there, or is not as its row says'
                   END AS message,
                   NULL::integer AS tokens, NULL::text AS token_counter, NULL::bigint AS created_at,
                   memory.epoch AS a, memory.revision AS b,
                   memory.head_system_seq AS c, memory.head_user_seq AS d, 0::bigint AS floor_seq,
                   CASE WHEN memory.view_seq < memory.head_run_start THEN NULL ELSE memory.low END AS named_after_seq,
                   0::bigint AS after_seq
            FROM memory
            UNION ALL
            SELECT 2, m.seq, m.id, m.parent_id, m.parent_seq, m.message, m.tokens, m.token_counter, m.created_at,
                   m.run_start, m.depth, m.path_tokens, m.system_seq, m.user_seq, NULL, NULL
            FROM memory
            CROSS JOIN LATERAL (
              SELECT m.* FROM keepsake_message m
              WHERE m.memory_key = memory.memory_key AND m.seq BETWEEN memory.low AND memory.head_seq
                AND memory.head_path_tokens - m.path_tokens < memory.max_tokens
              ORDER BY m.seq DESC
              LIMIT 1000000000
            ) m
            UNION ALL
            SELECT 3, m.seq, m.id, m.parent_id, m.parent_seq, m.message, m.tokens, m.token_counter, m.created_at,
                   NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM memory
            CROSS JOIN LATERAL (
              SELECT m.* FROM keepsake_message m
              WHERE m.memory_key = memory.memory_key AND m.seq IN (memory.head_system_seq, memory.head_user_seq)
              LIMIT 2
            ) m
            WHERE m.seq < memory.low OR memory.head_path_tokens - m.path_tokens >= memory.max_tokens
            UNION ALL
            SELECT 4, memory.view_seq, v.id, NULL, NULL, v.view, NULL, NULL, NULL,
                   NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM memory
            CROSS JOIN LATERAL (
              SELECT v.view,
                     (SELECT a.id FROM keepsake_message a
                      WHERE a.memory_key = v.memory_key AND a.seq = v.anchor_seq) AS id
              FROM keepsake_view v
              WHERE v.memory_key = memory.memory_key AND v.anchor_seq = memory.view_seq
              LIMIT 1
            ) v
            WHERE memory.view_seq >= memory.head_run_start
            """;

    /**
     * The oldest part of the same range, in rows of a sixth kind: from run to run to where it begins, and of the runs found
     * there what is wanted. A run's depth is that of its first message. What the read returns as its newest part is not
     * returned again; {@code max_messages} is 0 where that part is not known by count and tokens alone.
     */
    static final String OLDEST =
            """
            WITH RECURSIVE given AS MATERIALIZED (
              SELECT ?::bytea AS memory_key, ?::text AS from_id, ?::text AS after_id, ?::bigint AS max_messages,
                     ?::bigint AS max_tokens, ?::bigint AS wanted
            ),
            branch AS MATERIALIZED (
              SELECT given.memory_key, s.seq, s.run_start, s.depth, s.path_tokens, given.max_messages, given.max_tokens,
                     COALESCE((SELECT a.depth FROM keepsake_message a
                               WHERE a.memory_key = given.memory_key AND a.id = given.after_id
                               LIMIT 1), 0) AS floor_depth,
                     given.wanted
              FROM given
              CROSS JOIN LATERAL (
                SELECT s.* FROM keepsake_message s
                WHERE s.memory_key = given.memory_key AND s.seq = CASE
                  WHEN given.from_id IS NULL THEN
                    (SELECT m.head_seq FROM keepsake_memory m WHERE m.memory_key = given.memory_key LIMIT 1)
                  ELSE (SELECT f.seq FROM keepsake_message f
                        WHERE f.memory_key = given.memory_key AND f.id = given.from_id
                        LIMIT 1) END
                LIMIT 1
              ) s
            ),
            run (low, high, depth) AS (
              SELECT branch.run_start, branch.seq, branch.depth - (branch.seq - branch.run_start)
              FROM branch
              UNION ALL
              SELECT p.run_start, p.seq, p.depth - (p.seq - p.run_start)
              FROM run
              CROSS JOIN branch
              CROSS JOIN LATERAL (
                SELECT f.parent_seq FROM keepsake_message f
                WHERE f.memory_key = branch.memory_key AND f.seq = run.low
                LIMIT 1
              ) run_start
              CROSS JOIN LATERAL (
                SELECT p.seq, p.run_start, p.depth FROM keepsake_message p
                WHERE p.memory_key = branch.memory_key AND p.seq = run_start.parent_seq
                LIMIT 1
              ) p
              WHERE run.depth > branch.floor_depth + 1 AND p.seq < run.high
            )
            SELECT 6 AS kind, m.seq, m.id, m.parent_id, m.parent_seq, m.message, m.tokens, m.token_counter, m.created_at,
                   m.run_start AS a, m.depth AS b, m.path_tokens AS c, m.system_seq AS d, m.user_seq AS floor_seq,
                   NULL::bigint AS named_after_seq, NULL::bigint AS after_seq
            FROM run
            CROSS JOIN branch
            CROSS JOIN LATERAL (
              SELECT m.* FROM keepsake_message m
              WHERE m.memory_key = branch.memory_key
                AND m.seq BETWEEN GREATEST(run.low, run.low + branch.floor_depth + 1 - run.depth)
                              AND LEAST(run.high, run.low + branch.floor_depth + branch.wanted - run.depth)
              ORDER BY m.seq
              LIMIT 1000000000
            ) m
            WHERE run.depth <= branch.floor_depth + branch.wanted
              AND (branch.depth - m.depth >= branch.max_messages
                   OR branch.path_tokens - m.path_tokens >= branch.max_tokens)
            """;

    /** {@link #READ} and {@link #OLDEST}, in one snapshot and one round trip. */
    static final String READ_AND_OLDEST = "(" + READ + ")\nUNION ALL\n(" + OLDEST + ")";

    /** {@link #READ_RUN} and {@link #OLDEST}, in one snapshot and one round trip. */
    static final String READ_RUN_AND_OLDEST = "(" + READ_RUN + ")\nUNION ALL\n(" + OLDEST + ")";

    private PostgresSql() {}
}

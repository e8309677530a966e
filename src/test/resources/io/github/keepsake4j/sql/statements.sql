(SELECT number, step, shown, memory_text, metadata_json FROM keepsake_made_memory
 WHERE memory_key = ? AND kind = 'CHUNK' AND shown = 1 AND trust <= ? ORDER BY number DESC LIMIT ?)
UNION ALL
(SELECT number, step, shown, memory_text, metadata_json FROM keepsake_made_memory
 WHERE memory_key = ? AND kind = 'FACT' AND shown = 1 AND trust <= ? ORDER BY number DESC LIMIT ?)
UNION ALL
(SELECT number, step, shown, memory_text, metadata_json FROM keepsake_made_memory
 WHERE memory_key = ? AND pinned = 1 AND shown = 1 AND kind <> 'SUMMARY' AND trust <= ?
 ORDER BY number DESC LIMIT ?)
UNION ALL
(SELECT v.number, v.step, v.shown, v.memory_text, v.metadata_json FROM keepsake_made_memory v
 WHERE v.memory_key = ? AND v.kind = 'SUMMARY' AND v.shown = 1
   AND (CAST(v.metadata_json AS jsonb) #>> '{keepsake,up_to}' = '' OR EXISTS (
     SELECT 1 FROM keepsake_made_step s
       JOIN keepsake_made_memory c ON c.memory_key = s.memory_key AND c.kind = s.kind AND c.step = s.number
     WHERE s.memory_key = ? AND s.kind = 'CHUNK' AND c.memory_key = ? AND c.shown = 1
       AND s.up_to_hash = CAST(v.metadata_json AS jsonb) #>> '{keepsake,up_to}'))
 ORDER BY v.number DESC LIMIT 1)
;
(WITH RECURSIVE given AS MATERIALIZED (
  SELECT ?::text AS from_id, ?::text AS after_id, ?::bigint AS max_messages,
         ?::bigint AS max_tokens, ?::bigint AS stretch, ?::boolean AS to_summary
),
memory AS MATERIALIZED (
  SELECT m.*
  FROM keepsake_memory m
  WHERE m.memory_key = ?
),
start AS MATERIALIZED (
  SELECT s.seq, s.run_start, s.depth, s.path_tokens, s.system_seq, s.user_seq
  FROM keepsake_message s
  WHERE s.memory_key = ? AND s.seq = CASE
    WHEN ?::text IS NULL THEN (SELECT head_seq FROM memory)
    ELSE (SELECT f.seq FROM keepsake_message f
          WHERE f.memory_key = ? AND f.id = ?::text) END
    AND s.id = COALESCE(?::text, (SELECT head_id FROM memory))
),
after AS MATERIALIZED (
  SELECT a.*
  FROM keepsake_message a
  WHERE a.memory_key = ? AND a.id = ?::text
),
chain (low, high, view_seq, covers_seq) AS (
  SELECT start.run_start, start.seq,
         (SELECT max(v.anchor_seq) FROM keepsake_view v
          WHERE v.memory_key = ? AND v.anchor_seq <= start.seq),
         CASE WHEN given.to_summary THEN
           (SELECT max(s.covers_seq) FROM keepsake_summary s
            WHERE s.memory_key = ? AND s.covers_seq <= start.seq) END
  FROM start
  CROSS JOIN given
  UNION ALL
  SELECT p.run_start, p.seq,
         CASE WHEN chain.view_seq >= chain.low OR chain.view_seq <= p.seq THEN chain.view_seq ELSE
           (SELECT max(v.anchor_seq) FROM keepsake_view v
            WHERE v.memory_key = ? AND v.anchor_seq <= p.seq) END,
         CASE WHEN chain.covers_seq >= chain.low OR chain.covers_seq <= p.seq THEN chain.covers_seq
           WHEN given.to_summary THEN
             (SELECT max(s.covers_seq) FROM keepsake_summary s
              WHERE s.memory_key = ? AND s.covers_seq <= p.seq) END
  FROM chain
  CROSS JOIN given
  CROSS JOIN LATERAL (
    SELECT f.parent_seq, f.depth FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq = chain.low
    LIMIT 1
  ) run_start
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq = run_start.parent_seq
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
                                 WHERE f.memory_key = ? AND f.seq = c.low
                                   AND f.parent_seq IS NULL AND f.depth = 1)
          FROM chain c ORDER BY c.high LIMIT 1) AS broken
),
floor AS MATERIALIZED (
  SELECT GREATEST(found.after_seq, found.covers_seq, 0) AS seq, COALESCE(found.after_seq, 0) AS after_seq
  FROM found
),
part (low, high, run_start, above_depth, stretch, room) AS (
  SELECT GREATEST(start.run_start, floor.seq + 1, start.seq - given.max_messages + 1,
                  start.seq - given.stretch + 1),
         start.seq, start.run_start, start.seq - start.depth, given.stretch, given.max_messages
  FROM start
  CROSS JOIN floor
  CROSS JOIN given
  WHERE given.max_messages > 0 AND given.max_tokens > 0 AND start.seq > floor.seq
  UNION ALL
  SELECT GREATEST(p.run_start, floor.seq + 1, p.seq - (given.max_messages - start.depth + p.depth) + 1,
                  p.seq - LEAST(part.stretch * 2, 1099511627776) + 1),
         p.seq, p.run_start, p.seq - p.depth, LEAST(part.stretch * 2, 1099511627776),
         part.room - (part.high - part.low + 1)
  FROM part
  CROSS JOIN start
  CROSS JOIN floor
  CROSS JOIN given
  CROSS JOIN LATERAL (
    SELECT f.parent_seq FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq = part.low
    LIMIT 1
  ) oldest
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth, p.path_tokens FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq = oldest.parent_seq
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
         WHEN given.from_id IS NULL
           AND (start.run_start, start.depth, start.path_tokens, start.system_seq, start.user_seq)
             IS DISTINCT FROM (memory.head_run_start, memory.head_depth, memory.head_path_tokens,
                               memory.head_system_seq, memory.head_user_seq)
           THEN 'the head is not as its row says'
         WHEN memory.head_seq IS NULL
           AND (SELECT max(x.seq) FROM keepsake_message x
                WHERE x.memory_key = ? AND x.seq <= 1152921504606846976)
               > COALESCE(memory.last_seq, 0)
           THEN 'there are messages that its row does not know of'
       END AS message, NULL::integer AS tokens, NULL::text AS token_counter, NULL::bigint AS created_at,
       NULL::text AS outcome, NULL::bigint AS place,
       concat(false, ',', memory.epoch, ',', memory.revision, ',', start.seq, ',', start.system_seq, ',', start.user_seq,
              ',', found.view_seq, ',', floor.seq, ',', memory.head_id) AS memory,
       (SELECT seq FROM after) AS named_after_seq, floor.after_seq
FROM floor
CROSS JOIN given
CROSS JOIN found
LEFT JOIN memory ON true
LEFT JOIN start ON true
UNION ALL
SELECT 2, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
       CASE WHEN n.run_start = part.run_start AND n.seq - n.depth = part.above_depth AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
         THEN start.path_tokens - n.path_tokens END, NULL, NULL, NULL
FROM part
CROSS JOIN start
CROSS JOIN given
CROSS JOIN LATERAL (
  SELECT n.* FROM keepsake_message n
  WHERE n.memory_key = ? AND n.seq BETWEEN part.low AND part.high
    AND start.path_tokens - n.path_tokens < given.max_tokens
  ORDER BY n.seq DESC
  LIMIT 1000000000
) n
UNION ALL
SELECT 7, n.seq, n.id, n.parent_id, n.parent_seq, NULL, n.tokens, NULL, NULL, NULL,
       start.path_tokens - n.path_tokens, NULL, NULL, NULL
FROM after n
CROSS JOIN start
UNION ALL
SELECT 3, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, NULL, NULL, NULL, NULL
FROM start
CROSS JOIN floor
CROSS JOIN given
CROSS JOIN LATERAL (
  SELECT n.* FROM keepsake_message n
  WHERE n.memory_key = ? AND n.seq IN (start.system_seq, start.user_seq)
  LIMIT 2
) n
WHERE n.seq > floor.after_seq
  AND (n.seq <= floor.seq OR start.depth - n.depth >= given.max_messages
       OR start.path_tokens - n.path_tokens >= given.max_tokens)
UNION ALL
SELECT 4, v.anchor_seq, v.anchor_id, NULL, NULL, v.view, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM found
CROSS JOIN LATERAL (
  SELECT v.anchor_seq, v.anchor_id, v.view FROM keepsake_view v
  WHERE v.memory_key = ? AND v.anchor_seq = found.view_seq
  LIMIT 1
) v
UNION ALL
SELECT 5, s.covers_seq, s.covers_id, s.model, s.replaced_messages, s.text, s.tokens, s.token_counter,
       s.created_at, s.version::text, s.replaced_tokens, NULL, NULL, NULL
FROM found
CROSS JOIN LATERAL (
  SELECT s.* FROM keepsake_summary s
  WHERE s.memory_key = ? AND s.covers_seq = found.covers_seq
  ORDER BY s.version DESC
  LIMIT 1
) s
)
UNION ALL
(WITH RECURSIVE branch AS MATERIALIZED (
  SELECT s.seq, s.run_start, s.depth, s.path_tokens,
         COALESCE((SELECT a.depth FROM keepsake_message a
                   WHERE a.memory_key = ? AND a.id = ?::text), 0) AS floor_depth
  FROM (
    SELECT CASE
      WHEN ?::text IS NULL THEN
        (SELECT m.head_seq FROM keepsake_memory m WHERE m.memory_key = ?)
      ELSE (SELECT f.seq FROM keepsake_message f
            WHERE f.memory_key = ? AND f.id = ?::text) END AS seq
  ) branch_end
  CROSS JOIN LATERAL (
    SELECT s.* FROM keepsake_message s
    WHERE s.memory_key = ? AND s.seq BETWEEN branch_end.seq AND branch_end.seq
    ORDER BY s.seq
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
    WHERE f.memory_key = ? AND f.seq BETWEEN run.low AND run.low
    ORDER BY f.seq
    LIMIT 1
  ) run_start
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq BETWEEN run_start.parent_seq AND run_start.parent_seq
    ORDER BY p.seq
    LIMIT 1
  ) p
  WHERE run.depth > branch.floor_depth + 1 AND p.seq < run.high
)
SELECT 6 AS kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
       CASE WHEN n.run_start = run.low AND n.depth - n.seq = run.depth - run.low AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
         THEN branch.path_tokens - n.path_tokens END AS place, NULL::text AS memory, NULL::bigint, NULL::bigint
FROM run
CROSS JOIN branch
CROSS JOIN LATERAL (
  SELECT n.* FROM keepsake_message n
  WHERE n.memory_key = ?
    AND n.seq BETWEEN GREATEST(run.low, run.low + branch.floor_depth + 1 - run.depth)
                  AND LEAST(run.high, run.low + branch.floor_depth + ?::bigint - run.depth)
  ORDER BY n.seq
  LIMIT 1000000000
) n
WHERE run.depth <= branch.floor_depth + ?::bigint
  AND (branch.depth - n.depth >= ?::bigint
       OR branch.path_tokens - n.path_tokens >= ?::bigint)
)
-- values: [4, 5, 1, 3, 6, 7, 0, 0, 4, 0, 4, 4, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 4, 0, 0, 4, 0, 0, 0, 0, 9, 9, 8, 3]
;
(WITH RECURSIVE given AS MATERIALIZED (
  SELECT COALESCE(?::text, (SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text)) AS from_id, ?::text AS after_id, ?::bigint AS max_messages,
         ?::bigint AS max_tokens, ?::bigint AS stretch, ?::boolean AS to_summary
),
memory AS MATERIALIZED (
  SELECT m.*
  FROM keepsake_memory m
  WHERE m.memory_key = ?
),
start AS MATERIALIZED (
  SELECT s.seq, s.run_start, s.depth, s.path_tokens, s.system_seq, s.user_seq
  FROM keepsake_message s
  WHERE s.memory_key = ? AND s.seq = CASE
    WHEN COALESCE(?::text, (SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text)) IS NULL THEN (SELECT head_seq FROM memory)
    ELSE (SELECT f.seq FROM keepsake_message f
          WHERE f.memory_key = ? AND f.id = COALESCE(?::text, (SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text))) END
    AND s.id = COALESCE(COALESCE(?::text, (SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text)), (SELECT head_id FROM memory))
),
after AS MATERIALIZED (
  SELECT a.*
  FROM keepsake_message a
  WHERE a.memory_key = ? AND a.id = ?::text
),
chain (low, high, view_seq, covers_seq) AS (
  SELECT start.run_start, start.seq,
         (SELECT max(v.anchor_seq) FROM keepsake_view v
          WHERE v.memory_key = ? AND v.anchor_seq <= start.seq),
         CASE WHEN given.to_summary THEN
           (SELECT max(s.covers_seq) FROM keepsake_summary s
            WHERE s.memory_key = ? AND s.covers_seq <= start.seq) END
  FROM start
  CROSS JOIN given
  UNION ALL
  SELECT p.run_start, p.seq,
         CASE WHEN chain.view_seq >= chain.low OR chain.view_seq <= p.seq THEN chain.view_seq ELSE
           (SELECT max(v.anchor_seq) FROM keepsake_view v
            WHERE v.memory_key = ? AND v.anchor_seq <= p.seq) END,
         CASE WHEN chain.covers_seq >= chain.low OR chain.covers_seq <= p.seq THEN chain.covers_seq
           WHEN given.to_summary THEN
             (SELECT max(s.covers_seq) FROM keepsake_summary s
              WHERE s.memory_key = ? AND s.covers_seq <= p.seq) END
  FROM chain
  CROSS JOIN given
  CROSS JOIN LATERAL (
    SELECT f.parent_seq, f.depth FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq = chain.low
    LIMIT 1
  ) run_start
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq = run_start.parent_seq
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
                                 WHERE f.memory_key = ? AND f.seq = c.low
                                   AND f.parent_seq IS NULL AND f.depth = 1)
          FROM chain c ORDER BY c.high LIMIT 1) AS broken
),
floor AS MATERIALIZED (
  SELECT GREATEST(found.after_seq, found.covers_seq, 0) AS seq, COALESCE(found.after_seq, 0) AS after_seq
  FROM found
),
part (low, high, run_start, above_depth, stretch, room) AS (
  SELECT GREATEST(start.run_start, floor.seq + 1, start.seq - given.max_messages + 1,
                  start.seq - given.stretch + 1),
         start.seq, start.run_start, start.seq - start.depth, given.stretch, given.max_messages
  FROM start
  CROSS JOIN floor
  CROSS JOIN given
  WHERE given.max_messages > 0 AND given.max_tokens > 0 AND start.seq > floor.seq
  UNION ALL
  SELECT GREATEST(p.run_start, floor.seq + 1, p.seq - (given.max_messages - start.depth + p.depth) + 1,
                  p.seq - LEAST(part.stretch * 2, 1099511627776) + 1),
         p.seq, p.run_start, p.seq - p.depth, LEAST(part.stretch * 2, 1099511627776),
         part.room - (part.high - part.low + 1)
  FROM part
  CROSS JOIN start
  CROSS JOIN floor
  CROSS JOIN given
  CROSS JOIN LATERAL (
    SELECT f.parent_seq FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq = part.low
    LIMIT 1
  ) oldest
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth, p.path_tokens FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq = oldest.parent_seq
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
         WHEN given.from_id IS NULL
           AND (start.run_start, start.depth, start.path_tokens, start.system_seq, start.user_seq)
             IS DISTINCT FROM (memory.head_run_start, memory.head_depth, memory.head_path_tokens,
                               memory.head_system_seq, memory.head_user_seq)
           THEN 'the head is not as its row says'
         WHEN memory.head_seq IS NULL
           AND (SELECT max(x.seq) FROM keepsake_message x
                WHERE x.memory_key = ? AND x.seq <= 1152921504606846976)
               > COALESCE(memory.last_seq, 0)
           THEN 'there are messages that its row does not know of'
       END AS message, NULL::integer AS tokens, NULL::text AS token_counter, NULL::bigint AS created_at,
       NULL::text AS outcome, NULL::bigint AS place,
       concat(false, ',', memory.epoch, ',', memory.revision, ',', start.seq, ',', start.system_seq, ',', start.user_seq,
              ',', found.view_seq, ',', floor.seq, ',', COALESCE((SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text), memory.head_id)) AS memory,
       (SELECT seq FROM after) AS named_after_seq, floor.after_seq
FROM floor
CROSS JOIN given
CROSS JOIN found
LEFT JOIN memory ON true
LEFT JOIN start ON true
UNION ALL
SELECT 2, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
       CASE WHEN n.run_start = part.run_start AND n.seq - n.depth = part.above_depth AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
         THEN start.path_tokens - n.path_tokens END, NULL, NULL, NULL
FROM part
CROSS JOIN start
CROSS JOIN given
CROSS JOIN LATERAL (
  SELECT n.* FROM keepsake_message n
  WHERE n.memory_key = ? AND n.seq BETWEEN part.low AND part.high
    AND start.path_tokens - n.path_tokens < given.max_tokens
  ORDER BY n.seq DESC
  LIMIT 1000000000
) n
UNION ALL
SELECT 7, n.seq, n.id, n.parent_id, n.parent_seq, NULL, n.tokens, NULL, NULL, NULL,
       start.path_tokens - n.path_tokens, NULL, NULL, NULL
FROM after n
CROSS JOIN start
UNION ALL
SELECT 3, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, NULL, NULL, NULL, NULL
FROM start
CROSS JOIN floor
CROSS JOIN given
CROSS JOIN LATERAL (
  SELECT n.* FROM keepsake_message n
  WHERE n.memory_key = ? AND n.seq IN (start.system_seq, start.user_seq)
  LIMIT 2
) n
WHERE n.seq > floor.after_seq
  AND (n.seq <= floor.seq OR start.depth - n.depth >= given.max_messages
       OR start.path_tokens - n.path_tokens >= given.max_tokens)
UNION ALL
SELECT 4, v.anchor_seq, v.anchor_id, NULL, NULL, v.view, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM found
CROSS JOIN LATERAL (
  SELECT v.anchor_seq, v.anchor_id, v.view FROM keepsake_view v
  WHERE v.memory_key = ? AND v.anchor_seq = found.view_seq
  LIMIT 1
) v
UNION ALL
SELECT 5, s.covers_seq, s.covers_id, s.model, s.replaced_messages, s.text, s.tokens, s.token_counter,
       s.created_at, s.version::text, s.replaced_tokens, NULL, NULL, NULL
FROM found
CROSS JOIN LATERAL (
  SELECT s.* FROM keepsake_summary s
  WHERE s.memory_key = ? AND s.covers_seq = found.covers_seq
  ORDER BY s.version DESC
  LIMIT 1
) s
)
UNION ALL
(WITH RECURSIVE branch AS MATERIALIZED (
  SELECT s.seq, s.run_start, s.depth, s.path_tokens,
         COALESCE((SELECT a.depth FROM keepsake_message a
                   WHERE a.memory_key = ? AND a.id = ?::text), 0) AS floor_depth
  FROM (
    SELECT CASE
      WHEN COALESCE(?::text, (SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text)) IS NULL THEN
        (SELECT m.head_seq FROM keepsake_memory m WHERE m.memory_key = ?)
      ELSE (SELECT f.seq FROM keepsake_message f
            WHERE f.memory_key = ? AND f.id = COALESCE(?::text, (SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text))) END AS seq
  ) branch_end
  CROSS JOIN LATERAL (
    SELECT s.* FROM keepsake_message s
    WHERE s.memory_key = ? AND s.seq BETWEEN branch_end.seq AND branch_end.seq
    ORDER BY s.seq
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
    WHERE f.memory_key = ? AND f.seq BETWEEN run.low AND run.low
    ORDER BY f.seq
    LIMIT 1
  ) run_start
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq BETWEEN run_start.parent_seq AND run_start.parent_seq
    ORDER BY p.seq
    LIMIT 1
  ) p
  WHERE run.depth > branch.floor_depth + 1 AND p.seq < run.high
)
SELECT 6 AS kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
       CASE WHEN n.run_start = run.low AND n.depth - n.seq = run.depth - run.low AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
         THEN branch.path_tokens - n.path_tokens END AS place, NULL::text AS memory, NULL::bigint, NULL::bigint
FROM run
CROSS JOIN branch
CROSS JOIN LATERAL (
  SELECT n.* FROM keepsake_message n
  WHERE n.memory_key = ?
    AND n.seq BETWEEN GREATEST(run.low, run.low + branch.floor_depth + 1 - run.depth)
                  AND LEAST(run.high, run.low + branch.floor_depth + ?::bigint - run.depth)
  ORDER BY n.seq
  LIMIT 1000000000
) n
WHERE run.depth <= branch.floor_depth + ?::bigint
  AND (branch.depth - n.depth >= ?::bigint
       OR branch.path_tokens - n.path_tokens >= ?::bigint)
)
-- values: [4, 0, 11, 5, 1, 3, 6, 7, 0, 0, 4, 0, 11, 0, 4, 0, 11, 4, 0, 11, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0, 0, 5, 4, 0, 11, 0, 0, 4, 0, 11, 0, 0, 0, 0, 9, 9, 8, 3]
;
ANALYZE …
;
BEGIN DEFERRED
;
BEGIN IMMEDIATE
;
BEGIN;
UPDATE keepsake_memory m
SET last_seq = m.last_seq + 1,
    tokens = m.tokens + ?,
    last_message_at = GREATEST(m.last_message_at, ?),
    prev_head_seq = m.head_seq,
    prev_head_id = m.head_id,
    head_seq = m.last_seq + 1,
    head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
    head_depth = m.head_depth + 1,
    head_path_tokens = m.head_path_tokens + ?,
    head_system_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_system_seq END,
    head_user_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_user_seq END
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
RETURNING m.last_seq, m.prev_head_id, m.head_id, m.epoch, m.revision;
INSERT INTO keepsake_message
  (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
   id, parent_id, token_counter, runs, message)
SELECT m.memory_key, m.last_seq, m.prev_head_seq, ?, m.head_run_start, m.head_depth,
       m.head_path_tokens, m.head_system_seq, m.head_user_seq, ?, m.head_id, m.prev_head_id,
       ?, CASE WHEN m.head_run_start = m.last_seq THEN m.head_runs END, ?
FROM keepsake_memory m
WHERE m.memory_key = ? AND m.head_id = ?;
UPDATE keepsake_listed l
SET place = m.active_at
FROM keepsake_memory m
WHERE m.memory_key = ? AND m.head_id = ? AND m.active_at <> m.prev_active_at
  AND l.memory_key = ?
  AND l.list = ANY (m.lists) AND l.place = m.prev_active_at AND l.number = m.number;
COMMIT
-- values: [6, 7, 5, 7, 0, 7, 6, 8, 9, 0, 1, 2, 3, 4, 0, 0, 7, 6, 10, 11, 0, 5, 0, 5, 0]
;
COMMIT
;
CREATE
;
CREATE (?:VIRTUAL )?TABLE \W?(\w++)\W
;
DELETE FROM keepsake_index_memory
;
DELETE FROM keepsake_index_memory WHERE number = ?
;
DELETE FROM keepsake_index_model
;
DELETE FROM keepsake_index_posting
;
DELETE FROM keepsake_index_posting WHERE memory = ?
;
DELETE FROM keepsake_index_posting WHERE memory = ? AND segment > ? AND segment < ?
;
DELETE FROM keepsake_index_tenant
;
DELETE FROM keepsake_index_tenant
WHERE number = ? AND NOT EXISTS (SELECT 1 FROM keepsake_index_memory m WHERE m.tenant = ?)
;
DELETE FROM keepsake_index_term
;
DELETE FROM keepsake_index_term
WHERE tenant = ? AND messages <= 0 AND term IN (SELECT p.term FROM keepsake_index_posting p WHERE p.memory = ?)
;
DELETE FROM keepsake_index_vector
;
DELETE FROM keepsake_index_vector WHERE memory = ?
;
DELETE FROM keepsake_index_vector WHERE memory = ? AND model = ? AND sequence >= ?
;
DELETE FROM keepsake_index_vector_mark
;
DELETE FROM keepsake_index_vector_mark WHERE memory = ?
;
DELETE FROM keepsake_index_vector_mark WHERE memory = ? AND model = ?
;
DELETE FROM keepsake_index_words
;
DELETE FROM keepsake_lease WHERE memory_key = ?
;
DELETE FROM keepsake_lease WHERE memory_key = ? AND name = ? AND owner = ?
;
DELETE FROM keepsake_listed
WHERE (list, place, number) IN (
  SELECT list.value * orders.sign, CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END, m.number
  FROM keepsake_memory m, json_each(CASE WHEN json_valid(m.lists) THEN m.lists ELSE '[]' END) AS list,
       (SELECT 1 AS sign UNION ALL SELECT -1) AS orders
  WHERE m.epoch = ? AND m.memory_key = ?)
-- values: [0, 1]
;
DELETE FROM keepsake_listed l
USING keepsake_memory m
CROSS JOIN unnest(m.lists) AS list (id)
CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
WHERE m.epoch = ? AND m.memory_key = ? AND l.memory_key = ?
  AND l.list = list.id * orders.sign AND l.place = CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END
  AND l.number = m.number
-- values: [0, 1, 1]
;
DELETE FROM keepsake_made_discussion WHERE memory_key = ?
;
DELETE FROM keepsake_made_lease WHERE memory_key = ?
;
DELETE FROM keepsake_made_lease WHERE memory_key = ? AND name = ? AND owner = ?
;
DELETE FROM keepsake_made_memory WHERE memory_key = ?
;
DELETE FROM keepsake_made_step WHERE memory_key = ?
;
DELETE FROM keepsake_made_word WHERE memory_key = ?
;
DELETE FROM keepsake_made_word WHERE memory_key = ? AND number = ?
;
DELETE FROM keepsake_message WHERE memory_key = ?
;
DELETE FROM keepsake_reference
WHERE name = ? AND memory_key = ?
  AND EXISTS (SELECT 1 FROM keepsake_memory m WHERE m.memory_key = ? AND m.epoch = ?)
;
DELETE FROM keepsake_reference WHERE memory_key = ?
;
DELETE FROM keepsake_summary
WHERE version = ? AND memory_key = ?
  AND EXISTS (SELECT 1 FROM keepsake_memory m WHERE m.memory_key = ? AND m.epoch = ?)
;
DELETE FROM keepsake_summary WHERE memory_key = ?
;
DELETE FROM keepsake_usage WHERE memory_key = ?
;
DELETE FROM keepsake_view
WHERE memory_key = ? AND anchor_seq = ?
  AND EXISTS (SELECT 1 FROM keepsake_memory m WHERE m.memory_key = ? AND m.epoch = ?)
;
DELETE FROM keepsake_view WHERE memory_key = ?
;
DELETE FROM keepsake_word WHERE ? IS NOT NULL AND memory = ?
;
DELETE FROM memories_fts WHERE rowid = ?
;
INSERT INTO keepsake_index_memory
  (tenant, memory_key, app_id, conversation_id, node_id, epoch, sequence, messages, length)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
RETURNING number
;
INSERT INTO keepsake_index_model (model, used) VALUES (?, ?) ON CONFLICT (model) DO NOTHING
;
INSERT INTO keepsake_index_posting (tenant, term, memory, segment, messages, postings)
SELECT tenant, term, memory, ?, messages, postings
FROM keepsake_index_posting
WHERE memory = ? AND segment > ? AND segment < ?
ORDER BY segment
ON CONFLICT (tenant, term, memory, segment) DO UPDATE
SET messages = messages + excluded.messages, postings = CAST(excluded.postings || postings AS BLOB)
;
INSERT INTO keepsake_index_posting (tenant, term, memory, segment, messages, postings)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, term, memory, segment) DO UPDATE
SET messages = messages + excluded.messages, postings = CAST(excluded.postings || postings AS BLOB)
;
INSERT INTO keepsake_index_posting AS p (tenant, memory, term, segment, messages, postings)
SELECT ?, ?, n.term, n.segment, n.messages, n.postings
FROM unnest(?::text[], ?::integer[], ?::integer[], ?::bytea[]) AS n (term, segment, messages, postings)
ON CONFLICT (tenant, term, memory, segment) DO UPDATE
SET messages = p.messages + excluded.messages, postings = excluded.postings || p.postings
;
INSERT INTO keepsake_index_posting AS p (tenant, term, memory, segment, messages, postings)
SELECT n.tenant, n.term, n.memory, ?, SUM(n.messages), string_agg(n.postings, ''::bytea ORDER BY n.segment DESC)
FROM keepsake_index_posting n
WHERE n.memory = ? AND n.segment > ? AND n.segment < ?
GROUP BY n.tenant, n.term, n.memory
ON CONFLICT (tenant, term, memory, segment) DO UPDATE
SET messages = p.messages + excluded.messages, postings = excluded.postings || p.postings
;
INSERT INTO keepsake_index_tenant (tenant) VALUES (?) ON CONFLICT (tenant) DO NOTHING
;
INSERT INTO keepsake_index_term (tenant, term, messages) VALUES (?, ?, ?)
ON CONFLICT (tenant, term) DO UPDATE SET messages = messages + excluded.messages
;
INSERT INTO keepsake_index_term AS t (tenant, term, messages)
SELECT ?, n.term, n.messages FROM unnest(?::text[], ?::integer[]) AS n (term, messages)
ON CONFLICT (tenant, term) DO UPDATE SET messages = t.messages + excluded.messages
;
INSERT INTO keepsake_index_vector (memory, model, sequence, newest, amount, vectors) VALUES (?, ?, ?, ?, ?, ?)
;
INSERT INTO keepsake_index_vector_mark (memory, model, epoch, sequence, weight, floor, measured)
VALUES (?, ?, ?, ?, ?, 0, ?)
;
INSERT INTO keepsake_index_words (one, fingerprint) VALUES (1, ?) ON CONFLICT (one) DO NOTHING
;
INSERT INTO keepsake_lease (memory_key, name, owner, expires_at)
VALUES (?, ?, ?,
        CAST(LEAST(trunc(extract(epoch FROM now()) * 1000000) + CAST(? AS bigint), 9223372036854775807) AS bigint))
ON CONFLICT (memory_key, name) DO UPDATE
  SET owner = excluded.owner, expires_at = excluded.expires_at
  WHERE keepsake_lease.owner = excluded.owner
     OR keepsake_lease.expires_at <= excluded.expires_at - CAST(? AS bigint)
RETURNING expires_at
-- values: [0, 1, 2, 3, 3]
;
INSERT INTO keepsake_lease (memory_key, name, owner, expires_at)
VALUES (?, ?, ?, ? + ?)
ON CONFLICT (memory_key, name) DO UPDATE
  SET owner = excluded.owner, expires_at = excluded.expires_at
  WHERE keepsake_lease.owner = excluded.owner OR keepsake_lease.expires_at <= ?
RETURNING expires_at
-- values: [0, 1, 2, 4, 3, 4]
;
INSERT INTO keepsake_listed (list, place, number)
SELECT list.value * orders.sign, CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END, m.number
FROM json_each(?) AS list, keepsake_memory m, (SELECT 1 AS sign UNION ALL SELECT -1) AS orders
WHERE m.memory_key = ?
ON CONFLICT (list, place, number) DO NOTHING
-- values: [0, 1]
;
INSERT INTO keepsake_listed (memory_key, list, place, number, tie)
SELECT m.memory_key, list.id * orders.sign, CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END, m.number,
       ('x' || encode(substring(m.memory_key FROM 17 FOR 8), 'hex'))::bit(64)::bigint
FROM keepsake_memory m
CROSS JOIN unnest(?::bigint[]) AS list (id)
CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
WHERE m.memory_key = ? AND NOT EXISTS (
  SELECT FROM keepsake_listed l
  WHERE l.memory_key = ? AND l.list = list.id * orders.sign
    AND l.place = CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END AND l.number = m.number)
-- values: [0, 1, 1]
;
INSERT INTO keepsake_listed_name (name, listed_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING
;
INSERT INTO keepsake_made_discussion (memory_key, discussion) VALUES (?, ?) ON CONFLICT (memory_key) DO NOTHING
;
INSERT INTO keepsake_made_lease AS l (memory_key, name, owner, expires_at)
VALUES (?, ?, ?, clock_timestamp() + ? * interval '1 microsecond')
ON CONFLICT (memory_key, name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
WHERE l.memory_key = ? AND (l.owner = excluded.owner OR l.expires_at <= clock_timestamp())
RETURNING expires_at
;
INSERT INTO keepsake_made_memory
  (memory_key, kind, number, memory_id, memory_text, date_added, metadata_json, step, shown, trust,
   pinned)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
;
INSERT INTO keepsake_made_progress (memory_key, kind, revision, head, fingerprint) VALUES (?, ?, ?, 0, ?)
ON CONFLICT (memory_key, kind) DO NOTHING
;
INSERT INTO keepsake_made_step
  (memory_key, kind, number, parent, message_hash, after_hash, up_to_hash, messages, message_ids, failures,
   processed_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (memory_key, kind, number)
DO UPDATE SET failures = excluded.failures, processed_at = excluded.processed_at
;
INSERT INTO keepsake_made_word (memory_key, term, number, weight) VALUES (?, ?, ?, ?)
;
INSERT INTO keepsake_memory
  (memory_key, tenant, app_id, conversation_id, node_id, metadata, lists, epoch, revision, last_seq, tokens,
   created_at, stored_at, active_at)
VALUES (?, ?, ?, ?, ?, ?, ?, 1, 1, 0, 0, ?, ?, ?)
ON CONFLICT (memory_key) DO UPDATE
  SET tenant = excluded.tenant, app_id = excluded.app_id, conversation_id = excluded.conversation_id,
      node_id = excluded.node_id, metadata = excluded.metadata, lists = excluded.lists,
      created_at = excluded.created_at, stored_at = excluded.stored_at, active_at = excluded.active_at
  WHERE keepsake_memory.tenant IS NULL
;
INSERT INTO keepsake_memory (memory_key, epoch, revision, last_seq, tokens, created_at)
VALUES (?, ?, 2, 0, 0, 0)
ON CONFLICT (memory_key) DO UPDATE
  SET epoch = keepsake_memory.epoch + 1, revision = keepsake_memory.revision + 1,
      tenant = NULL, app_id = NULL, conversation_id = NULL, node_id = NULL, title = NULL,
      metadata = NULL, lists = NULL, last_seq = 0, head_seq = NULL, head_id = NULL, tokens = 0, created_at = 0, stored_at = 0, active_at = 0,
      last_message_at = NULL
  RETURNING epoch
;
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
;
INSERT INTO keepsake_memory (memory_key, epoch, revision, last_seq, tokens, created_at)
VALUES (?, ?, ?, ?, 0, 0)
ON CONFLICT (memory_key) DO UPDATE SET epoch = keepsake_memory.epoch
RETURNING epoch
;
INSERT INTO keepsake_message
  (memory_key, seq, id, parent_seq, parent_id, message, tokens, token_counter, created_at,
   run_start, depth, path_tokens, system_seq, user_seq, outcome, made, request)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?,
        ?, ?, ?, ?, ?, ?, ?, ?)
-- values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17]
;
INSERT INTO keepsake_message
  (memory_key, seq, id, parent_seq, parent_id, message, tokens, token_counter, created_at,
   run_start, depth, path_tokens, system_seq, user_seq, runs, outcome, made, request)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?,
        ?, ?, ?, ?, ?, ?, ?, ?, ?)
-- values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
;
INSERT INTO keepsake_progress (discussion_id, kind, revision, head, fingerprint) VALUES (?, ?, ?, 0, ?)
ON CONFLICT (discussion_id, kind) DO NOTHING
;
INSERT INTO keepsake_reference (memory_key, name, seq, id) VALUES (?, ?, ?, ?)
ON CONFLICT (memory_key, name) DO UPDATE SET seq = excluded.seq, id = excluded.id
;
INSERT INTO keepsake_summary
  (memory_key, version, covers_seq, covers_id, text, tokens, token_counter, replaced_messages, replaced_tokens,
   model, created_at)
SELECT ?, COALESCE(MAX(s.version), 0) + 1, ?, ?, ?, ?, ?,
       ?, ?, ?, ?
FROM keepsake_summary s
WHERE s.memory_key = ?
HAVING COALESCE(MAX(s.version), 0) < ? AND EXISTS (
  SELECT 1 FROM keepsake_memory m
  WHERE m.memory_key = ?
    AND (m.head_seq IS NULL
         OR EXISTS (SELECT 1 FROM keepsake_message h
                    WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id)))
-- values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 10, 0, 0]
;
INSERT INTO keepsake_usage (memory_key, day, tenant, input_tokens, output_tokens, cached_tokens)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (memory_key, day) DO UPDATE
  SET input_tokens = keepsake_usage.input_tokens + excluded.input_tokens,
      output_tokens = keepsake_usage.output_tokens + excluded.output_tokens,
      cached_tokens = keepsake_usage.cached_tokens + excluded.cached_tokens
-- values: [0, 1, 2, 3, 4, 5]
;
INSERT INTO keepsake_view (memory_key, anchor_seq, anchor_id, view) VALUES (?, ?, ?, ?)
ON CONFLICT (memory_key, anchor_seq) DO UPDATE SET anchor_id = excluded.anchor_id, view = excluded.view
;
INSERT INTO keepsake_word (term, memory, weight) SELECT term, memory, weight FROM (SELECT ? AS discussion, ? AS term, ? AS memory, ? AS weight)
;
INSERT INTO memories
  (discussion_id, kind, id, memory_id, memory_text, date_added, metadata_json, step, shown, trust,
   pinned)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
;
INSERT INTO memories_fts (memories_fts) VALUES ('optimize')
;
INSERT INTO memories_fts (rowid, title, summary, entities, key_phrases, memory_text) VALUES (?, ?, ?, ?, ?, ?)
;
INSERT INTO vector_memory_tracker
  (discussion_id, kind, id, parent, message_hash, after_hash, up_to_hash, messages, message_ids, failures,
   timestamp)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET failures = excluded.failures, timestamp = excluded.timestamp
;
PRAGMA quick_check(1)
;
PRAGMA user_version
;
PRAGMA wal_checkpoint(PASSIVE)
;
PRAGMA wal_checkpoint(TRUNCATE)
;
ROLLBACK
;
SELECT %s, %s, %s, %s, %s
FROM %s
WHERE %s = ? AND %s IN (%s)
;
SELECT (ARRAY[p.run_start, p.seq, p.seq - p.depth] || r.runs)[1:24] AS runs
FROM keepsake_message p
LEFT JOIN keepsake_message r ON r.memory_key = ? AND r.seq = p.run_start
WHERE p.memory_key = ? AND p.seq = ?
-- values: [0, 0, 1]
;
SELECT * FROM (
  SELECT m.memory_key, l.place, l.number, 0 AS tie, m.tenant, m.app_id, m.conversation_id, m.node_id, m.title, m.metadata,
         m.last_seq, m.tokens, m.created_at, m.last_message_at, m.stored_at
  FROM keepsake_listed l
  LEFT JOIN keepsake_memory m ON m.number = l.number AND m.tenant = ?
    AND l.place = CASE WHEN l.list > 0 THEN m.active_at ELSE 0 END
  WHERE l.list = ? AND l.place = ? AND l.number < ?
  ORDER BY l.number DESC
  LIMIT ?
)
UNION ALL
SELECT * FROM (
  SELECT m.memory_key, l.place, l.number, 0 AS tie, m.tenant, m.app_id, m.conversation_id, m.node_id, m.title, m.metadata,
         m.last_seq, m.tokens, m.created_at, m.last_message_at, m.stored_at
  FROM keepsake_listed l
  LEFT JOIN keepsake_memory m ON m.number = l.number AND m.tenant = ?
    AND l.place = CASE WHEN l.list > 0 THEN m.active_at ELSE 0 END
  WHERE l.list = ? AND l.place < ?
  ORDER BY l.place DESC, l.number DESC
  LIMIT ?
)
ORDER BY place DESC, number DESC
LIMIT ?
-- values: [0, 1, 2, 3, 5, 0, 1, 2, 5, 5]
;
SELECT * FROM … ORDER BY version DESC
;
SELECT * FROM … WHERE 1 = 0
;
SELECT 1 AS has_lists FROM keepsake_memory WHERE memory_key = ? AND lists = ?
;
SELECT 1 AS missing FROM keepsake_memory m
WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND NOT json_valid(COALESCE(m.lists, ''))
UNION ALL
SELECT 1
FROM keepsake_memory m, json_each(CASE WHEN json_valid(m.lists) THEN m.lists ELSE '[]' END) AS list, (SELECT 1 AS sign UNION ALL SELECT -1) AS orders
WHERE m.memory_key = ? AND NOT EXISTS (
  SELECT 1 FROM keepsake_listed l
  WHERE l.list = list.value * orders.sign
    AND l.place = CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END AND l.number = m.number)
-- values: [0, 0]
;
SELECT 1 AS missing FROM keepsake_memory m
WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.lists IS NULL
UNION ALL
SELECT 1
FROM keepsake_memory m
CROSS JOIN unnest(m.lists) AS list (id)
CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
WHERE m.memory_key = ? AND NOT EXISTS (
  SELECT FROM keepsake_listed l
  WHERE l.memory_key = ? AND l.list = list.id * orders.sign
    AND l.place = CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END AND l.number = m.number)
-- values: [0, 0, 0]
;
SELECT 1 FROM pg_catalog.pg_class WHERE relname = ? AND pg_catalog.pg_table_is_visible(oid)
;
SELECT 1 FROM pg_catalog.pg_dist_partition
WHERE logicalrelid = 'keepsake_message'::pg_catalog.regclass AND partmethod = 'h'
;
SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus'
;
SELECT 1 FROM sqlite_master WHERE name = ?
;
SELECT CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.epoch END AS epoch,
       CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.revision END AS revision,
       CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.last_seq END AS last_seq,
       CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.tokens END AS memory_tokens, m.head_seq, m.head_id,
CASE
  WHEN (SELECT max(x.seq) FROM keepsake_message x
        WHERE x.memory_key = ? AND x.seq <= 1152921504606846976)
       > COALESCE(m.last_seq, 0)
    THEN 'there are messages that its row does not know of'
  WHEN m.head_seq IS NOT NULL AND NOT EXISTS (
      SELECT FROM keepsake_message h
      WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
        AND (h.run_start, h.depth, h.path_tokens) = (m.head_run_start, m.head_depth, m.head_path_tokens)
        AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
        AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
    THEN 'the head is not there, or is not as its row says'
END AS damage,
       EXISTS (SELECT FROM keepsake_message p
               WHERE p.memory_key = ? AND p.id = ?::text) AS has_parent,
       ARRAY(SELECT n.id FROM unnest(?::text[]) AS name (id)
             CROSS JOIN LATERAL (
               SELECT n.id FROM keepsake_message n
               WHERE n.memory_key = ? AND n.id = name.id
               LIMIT 1
             ) n) AS named,
       s.seq, s.id, s.parent_id, s.message, s.tokens, s.token_counter, s.created_at, s.outcome
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
LEFT JOIN LATERAL (
  SELECT s.*
  FROM unnest(?::text[]) AS used (id)
  CROSS JOIN LATERAL (
    SELECT s.* FROM keepsake_message s
    WHERE s.memory_key = ? AND s.id = used.id
    LIMIT 1
  ) s
) s ON true
-- values: [0, 0, 0, 1, 2, 0, 0, 3, 0]
;
SELECT CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.epoch END AS epoch,
       CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.revision END AS revision,
       CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.last_seq END AS last_seq,
       CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.tokens END AS tokens, m.head_seq, m.head_id,
CASE
  WHEN (SELECT max(x.seq) FROM keepsake_message x
        WHERE x.memory_key = ? AND x.seq <= 1152921504606846976)
       > COALESCE(m.last_seq, 0)
    THEN 'there are messages that its row does not know of'
  WHEN m.head_seq IS NOT NULL AND NOT EXISTS (
      SELECT FROM keepsake_message h
      WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
        AND (h.run_start, h.depth, h.path_tokens) = (m.head_run_start, m.head_depth, m.head_path_tokens)
        AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
        AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
    THEN 'the head is not there, or is not as its row says'
END AS damage
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
-- values: [0, 0, 0]
;
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
FROM (SELECT ? AS memory_key) given
LEFT JOIN keepsake_memory m ON m.memory_key = given.memory_key
-- values: [0]
;
SELECT COALESCE(MAX(id), 0) + 1 FROM memories WHERE discussion_id = ? AND kind = ?
;
SELECT COALESCE(MAX(number), 0) + 1 FROM keepsake_made_memory WHERE memory_key = ? AND kind = ?
;
SELECT COUNT(*) FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? AND shown = 1 AND trust <= ?
;
SELECT COUNT(*) FROM memories WHERE discussion_id = ? AND kind = ? AND shown = 1 AND trust <= ?
;
SELECT NOT pg_catalog.pg_is_in_recovery() AND pg_catalog.current_setting('transaction_read_only') = 'on'
;
SELECT SUM(messages) FROM keepsake_index_posting
WHERE tenant = ? AND term = ? AND +memory IN (SELECT value FROM json_each(?))
;
SELECT SUM(messages) FROM keepsake_index_posting
WHERE tenant = ? AND term = ? AND memory IN (SELECT value FROM json_each(?))
;
SELECT SUM(messages) FROM keepsake_index_posting WHERE tenant = ? AND term = ? AND memory = ?
;
SELECT anchor_seq AS seq FROM keepsake_view
WHERE memory_key = ? AND anchor_seq <= ?
ORDER BY anchor_seq DESC
LIMIT 1
;
SELECT content
FROM chat_memory
WHERE memory_id = ?
;
SELECT covers_seq AS seq FROM keepsake_summary
WHERE memory_key = ? AND covers_seq <= ?
ORDER BY covers_seq DESC
LIMIT 1
;
SELECT epoch, revision, last_seq, tokens, head_seq, head_id, NULL::text AS damage
FROM keepsake_memory
WHERE memory_key = ?
FOR UPDATE
-- values: [0]
;
SELECT f.message_id, f.type, f.transfer_method, f.url, f.belongs_to, f.upload_file_id
FROM message_files f
JOIN messages m ON m.id = f.message_id
WHERE m.conversation_id = ?
ORDER BY f.created_at, f.id
;
SELECT fingerprint FROM keepsake_index_words WHERE one = 1
;
SELECT id, parent, messages, message_hash, after_hash, up_to_hash, message_ids, failures
FROM vector_memory_tracker WHERE discussion_id = ? AND kind = ? ORDER BY id
;
SELECT id, parent_message_id, query, answer, created_at
FROM messages
WHERE conversation_id = ?
ORDER BY created_at, id
;
SELECT id, step, shown, memory_text, metadata_json
FROM memories WHERE discussion_id = ? AND kind = ? AND shown = 1 ORDER BY id DESC LIMIT ?
;
SELECT id, step, shown, memory_text, metadata_json
FROM memories WHERE discussion_id = ? AND kind = ? ORDER BY id
;
SELECT id, step, shown, memory_text, metadata_json FROM memories WHERE discussion_id = ? AND kind = ? AND id = ?
;
SELECT id, step, shown, memory_text, metadata_json FROM memories WHERE discussion_id = ? AND memory_id = ?
;
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
;
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
;
SELECT m.*, u.day, u.input_tokens, u.output_tokens, u.cached_tokens
FROM (
  SELECT m.memory_key, m.place, m.number, 0 AS tie, m.tenant, m.app_id, m.conversation_id, m.node_id, m.title, m.metadata,
         m.last_seq, m.tokens, m.created_at, m.last_message_at, m.stored_at
  FROM (
    SELECT m.*, CASE WHEN ? > 0 THEN m.active_at ELSE 0 END AS place FROM keepsake_memory m
    WHERE m.memory_key IN (SELECT memory_key FROM keepsake_usage
                             WHERE tenant = ? AND day >= ? AND day < ?)
      AND m.tenant = ?
      AND abs(?) IN (SELECT value FROM json_each(CASE WHEN json_valid(m.lists) THEN m.lists ELSE '[]' END))
  ) m
  WHERE m.place < ? OR (m.place = ? AND m.number < ?)
  ORDER BY m.place DESC, m.number DESC
  LIMIT ?
) m
JOIN keepsake_usage u
  ON u.memory_key = m.memory_key AND u.tenant = ? AND u.day >= ? AND u.day < ?
ORDER BY m.place DESC, m.number DESC, m.tie DESC, u.day
-- values: [1, 0, 6, 7, 0, 1, 2, 2, 3, 5, 0, 6, 7]
;
SELECT m.memory_key, l.place, l.number, l.tie, m.tenant, m.app_id, m.conversation_id, m.node_id, m.title, m.metadata,
       m.last_seq, m.tokens, m.created_at, m.last_message_at, m.stored_at
FROM (
  SELECT l.* FROM keepsake_listed l
  WHERE l.list >= ?
    AND (l.list, l.place, l.number, l.tie) < (?, ?, ?, ?)
  ORDER BY l.list DESC, l.place DESC, l.number DESC, l.tie DESC
  LIMIT ?
) l
LEFT JOIN keepsake_memory m ON m.memory_key = l.memory_key AND m.number = l.number AND m.tenant = ?
  AND l.place = CASE WHEN l.list > 0 THEN m.active_at ELSE 0 END
ORDER BY l.list DESC, l.place DESC, l.number DESC, l.tie DESC
-- values: [1, 1, 2, 3, 4, 5, 0]
;
SELECT m.memory_key, l.place, l.number, l.tie, m.tenant, m.app_id, m.conversation_id, m.node_id, m.title, m.metadata,
       m.last_seq, m.tokens, m.created_at, m.last_message_at, m.stored_at,
       u.day, u.input_tokens, u.output_tokens, u.cached_tokens
FROM (
  SELECT l.* FROM keepsake_listed l
  WHERE l.list = ? AND (l.place, l.number, l.tie) < (?, ?, ?)
    AND l.memory_key IN (SELECT memory_key FROM keepsake_usage
                         WHERE tenant = ? AND day >= ? AND day < ?)
  ORDER BY l.place DESC, l.number DESC, l.tie DESC
  LIMIT ?
) l
LEFT JOIN keepsake_memory m ON m.memory_key = l.memory_key AND m.number = l.number AND m.tenant = ?
  AND l.place = CASE WHEN l.list > 0 THEN m.active_at ELSE 0 END
LEFT JOIN keepsake_usage u
  ON u.memory_key = m.memory_key AND u.tenant = ? AND u.day >= ? AND u.day < ?
ORDER BY l.place DESC, l.number DESC, l.tie DESC, u.day
-- values: [1, 2, 3, 4, 0, 6, 7, 5, 0, 0, 6, 7]
;
SELECT m.number, m.messages, m.length, t.number, t.messages
FROM keepsake_index_memory m JOIN keepsake_index_tenant t ON t.number = m.tenant
WHERE m.memory_key = ANY (?::bytea[])
;
SELECT m.number, m.messages, m.length, t.number, t.messages
FROM keepsake_index_memory m JOIN keepsake_index_tenant t ON t.number = m.tenant
WHERE m.memory_key IN (SELECT unhex(value) FROM json_each(?))
;
SELECT m.number, m.tenant, t.tenant, m.app_id, m.conversation_id, m.node_id, m.epoch, m.sequence, m.messages, m.length
 FROM keepsake_index_memory m JOIN keepsake_index_tenant t ON t.number = m.tenant
 WHERE m.memory_key = ?
;
SELECT m.number, m.tenant, t.tenant, m.app_id, m.conversation_id, m.node_id, m.epoch, m.sequence, m.messages, m.length
 FROM keepsake_index_memory m JOIN keepsake_index_tenant t ON t.number = m.tenant
 WHERE m.memory_key = ANY (?::bytea[])
;
SELECT m.number, m.tenant, t.tenant, m.app_id, m.conversation_id, m.node_id, m.epoch, m.sequence, m.messages, m.length
 FROM keepsake_index_memory m JOIN keepsake_index_tenant t ON t.number = m.tenant
 WHERE m.memory_key IN (SELECT unhex(value) FROM json_each(?))
;
SELECT m.number, m.tenant, t.tenant, m.app_id, m.conversation_id, m.node_id, m.epoch, m.sequence, m.messages, m.length
 FROM keepsake_index_memory m JOIN keepsake_index_tenant t ON t.number = m.tenant
 WHERE m.number = ANY (?::integer[])
;
SELECT m.number, m.tenant, t.tenant, m.app_id, m.conversation_id, m.node_id, m.epoch, m.sequence, m.messages, m.length
 FROM keepsake_index_memory m JOIN keepsake_index_tenant t ON t.number = m.tenant
 WHERE m.number IN (SELECT value FROM json_each(?))
;
SELECT m.number, m.tenant, t.tenant, m.app_id, m.conversation_id, m.node_id, m.epoch, m.sequence, m.messages, m.length
 FROM keepsake_index_memory m JOIN keepsake_index_tenant t ON t.number = m.tenant
 WHERE m.tenant = ? AND m.number > ?
 ORDER BY m.number
 LIMIT ?
;
SELECT m.seq, m.id, m.parent_id, m.message, m.tokens, m.token_counter, m.created_at, m.outcome
FROM json_each(?2) AS wanted
CROSS JOIN keepsake_message m ON m.memory_key = ?1 AND m.id = wanted.value
;
SELECT m.seq, m.id, m.parent_id, m.message, m.tokens, m.token_counter, m.created_at, m.outcome
FROM json_each(?2) AS wanted
CROSS JOIN keepsake_message m ON m.memory_key = ?1 AND m.seq = wanted.value
;
SELECT m.seq, m.id, m.parent_id, m.message, m.tokens, m.token_counter, m.created_at, m.outcome, m.parent_seq,
       m.run_start, m.depth, m.path_tokens, m.system_seq, m.user_seq
FROM keepsake_message m
WHERE m.memory_key = ? AND m.seq BETWEEN ? AND ?
  AND m.run_start = (SELECT h.run_start FROM keepsake_message h WHERE h.memory_key = ? AND h.seq = ?)
ORDER BY m.seq DESC
;
SELECT m.seq, m.id, m.parent_seq, m.parent_id, m.tokens, m.run_start, m.depth, m.path_tokens, m.system_seq,
       m.user_seq,
       p.seq AS p_seq, p.id AS p_id, p.parent_seq AS p_parent_seq, p.parent_id AS p_parent_id,
       p.tokens AS p_tokens, p.run_start AS p_run_start, p.depth AS p_depth, p.path_tokens AS p_path_tokens,
       p.system_seq AS p_system_seq, p.user_seq AS p_user_seq
FROM keepsake_message m
LEFT JOIN keepsake_message p ON p.memory_key = ? AND p.seq = m.parent_seq
WHERE m.memory_key = ? AND m.id = ?
;
SELECT m.seq, m.id, m.parent_seq, m.parent_id, m.tokens, m.run_start, m.depth, m.path_tokens, m.system_seq,
       m.user_seq,
       p.seq AS p_seq, p.id AS p_id, p.parent_seq AS p_parent_seq, p.parent_id AS p_parent_id,
       p.tokens AS p_tokens, p.run_start AS p_run_start, p.depth AS p_depth, p.path_tokens AS p_path_tokens,
       p.system_seq AS p_system_seq, p.user_seq AS p_user_seq
FROM keepsake_message m
LEFT JOIN keepsake_message p ON p.memory_key = ? AND p.seq = m.parent_seq
WHERE m.memory_key = ? AND m.seq = ?
;
SELECT m.seq, m.id, m.parent_seq, m.parent_id, m.tokens, m.run_start, m.depth, m.path_tokens, m.system_seq,
       m.user_seq, m.message, m.token_counter, m.created_at, m.outcome, m.made,
       CASE WHEN typeof(m.request) NOT IN ('text', 'null') THEN m.request END AS bad_request,
       p.seq AS p_seq, p.id AS p_id, p.parent_seq AS p_parent_seq, p.parent_id AS p_parent_id,
       p.tokens AS p_tokens, p.run_start AS p_run_start, p.depth AS p_depth, p.path_tokens AS p_path_tokens,
       p.system_seq AS p_system_seq, p.user_seq AS p_user_seq, 1 AS has_runs
FROM keepsake_message m
LEFT JOIN keepsake_message p ON p.memory_key = ? AND p.seq = m.parent_seq
WHERE m.memory_key = ? AND m.seq > ? AND m.seq <= ?
ORDER BY m.seq
LIMIT ?
-- values: [0, 0, 1, 2, 3]
;
SELECT m.seq, m.id, m.parent_seq, m.parent_id, m.tokens, m.run_start, m.depth, m.path_tokens, m.system_seq,
       m.user_seq, m.message, m.token_counter, m.created_at, m.outcome, m.made, NULL AS bad_request,
       p.seq AS p_seq, p.id AS p_id, p.parent_seq AS p_parent_seq, p.parent_id AS p_parent_id,
       p.tokens AS p_tokens, p.run_start AS p_run_start, p.depth AS p_depth, p.path_tokens AS p_path_tokens,
       p.system_seq AS p_system_seq, p.user_seq AS p_user_seq,
       m.run_start <> m.seq OR m.runs IS NOT DISTINCT FROM CASE WHEN p.seq IS NOT NULL
         THEN (ARRAY[p.run_start, p.seq, p.seq - p.depth] || r.runs)[1:24] END AS has_runs
FROM keepsake_message m
LEFT JOIN keepsake_message p ON p.memory_key = ? AND p.seq = m.parent_seq
LEFT JOIN keepsake_message r ON r.memory_key = ? AND r.seq = p.run_start AND m.run_start = m.seq
WHERE m.memory_key = ? AND m.seq > ? AND m.seq <= ?
ORDER BY m.seq
LIMIT ?
-- values: [0, 0, 0, 1, 2, 3]
;
SELECT max(name) FROM sqlite_master WHERE name NOT LIKE 'keepsake%' AND name NOT LIKE 'sqlite%'
;
SELECT memory, segment, messages, substr(postings, 1, ?)
FROM keepsake_index_posting
WHERE tenant = ? AND term = ?
ORDER BY memory DESC, segment DESC
LIMIT ?
;
SELECT memory, segment, messages, substr(postings, 1, ?)
FROM keepsake_index_posting
WHERE tenant = ? AND term = ? AND +memory IN (SELECT value FROM json_each(?))
ORDER BY memory DESC, segment DESC
LIMIT ?
;
SELECT memory, segment, messages, substr(postings, 1, ?)
FROM keepsake_index_posting
WHERE tenant = ? AND term = ? AND memory IN (SELECT value FROM json_each(?))
ORDER BY memory DESC, segment DESC
LIMIT ?
;
SELECT memory_key, discussion FROM keepsake_made_discussion
WHERE memory_key > ? AND memory_key <= ? ORDER BY memory_key LIMIT ?
;
SELECT memory_key, tenant, app_id, conversation_id, node_id, metadata, lists
FROM keepsake_memory
WHERE memory_key > ? AND tenant IS NOT NULL AND metadata <> '{}'
ORDER BY memory_key
LIMIT ?
;
SELECT messages FROM keepsake_index_term WHERE tenant = ? AND term = ?
;
SELECT metadata FROM keepsake_memory WHERE memory_key = ?
;
SELECT n.kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place,
;
SELECT n.seq, n.id FROM keepsake_message n
WHERE n.memory_key = ?
  AND n.seq = (SELECT m.last_seq FROM keepsake_memory m WHERE m.memory_key = ?)
-- values: [0, 0]
;
SELECT n.term, p.memory, p.segment, p.messages, p.postings
FROM unnest(?::text[], ?::integer[]) AS n (term, bytes)
CROSS JOIN LATERAL (
  SELECT p.memory, p.segment, p.messages, substring(p.postings FROM 1 FOR n.bytes) AS postings
  FROM keepsake_index_posting p
  WHERE p.tenant = ? AND p.term = n.term
  ORDER BY p.memory DESC, p.segment DESC
  LIMIT ?
) AS p
;
SELECT n.term, p.memory, p.segment, p.messages, p.postings
FROM unnest(?::text[], ?::integer[]) AS n (term, bytes)
CROSS JOIN LATERAL (
  SELECT p.memory, p.segment, p.messages, substring(p.postings FROM 1 FOR n.bytes) AS postings
  FROM keepsake_index_posting p
  WHERE p.tenant = ? AND p.term = n.term AND p.memory = ANY (?::integer[])
  ORDER BY p.memory DESC, p.segment DESC
  LIMIT ?
) AS p
;
SELECT n.term, p.messages
FROM unnest(?::text[]) AS n (term)
CROSS JOIN LATERAL (
  SELECT SUM(p.messages) AS messages FROM keepsake_index_posting p
  WHERE p.tenant = ? AND p.term = n.term AND p.memory = ANY (?::integer[])
) AS p
WHERE p.messages > 0
;
SELECT name, listed_at FROM keepsake_listed_name
;
SELECT number FROM keepsake_index_model WHERE model = ?
;
SELECT number FROM keepsake_index_tenant WHERE tenant = ?
;
SELECT number FROM keepsake_index_tenant WHERE tenant = ? FOR UPDATE
;
SELECT number, messages, length, number, messages FROM keepsake_index_tenant WHERE tenant = ?
;
SELECT number, parent, messages, message_hash, after_hash, up_to_hash, message_ids, failures
FROM keepsake_made_step WHERE memory_key = ? AND kind = ? ORDER BY number
;
SELECT number, step, shown, memory_text, metadata_json
FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? AND number = ?
;
SELECT number, step, shown, memory_text, metadata_json
FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? AND shown = 1 ORDER BY number DESC LIMIT ?
;
SELECT number, step, shown, memory_text, metadata_json
FROM keepsake_made_memory WHERE memory_key = ? AND kind = ? ORDER BY number
;
SELECT number, step, shown, memory_text, metadata_json
FROM keepsake_made_memory WHERE memory_key = ? AND memory_id = ?
;
SELECT outcome FROM keepsake_message WHERE memory_key = ? AND id = ?
;
SELECT pg_advisory_xact_lock(?)
;
SELECT r.name, r.seq, r.id, n.seq AS there
FROM keepsake_reference r
LEFT JOIN keepsake_message n ON n.memory_key = ? AND n.seq = r.seq AND n.id = r.id
WHERE r.memory_key = ?
ORDER BY r.name
;
SELECT r.seq, r.id, n.seq AS there
FROM keepsake_reference r
LEFT JOIN keepsake_message n ON n.memory_key = ? AND n.seq = r.seq AND n.id = r.id
WHERE r.memory_key = ? AND r.name = ?
;
SELECT r.seq, r.id, r.parent_seq,
       (SELECT n.id FROM keepsake_message n
        WHERE n.memory_key = ? AND n.seq = r.parent_seq + 1 AND n.run_start < n.seq) AS beside
FROM keepsake_message r
WHERE r.memory_key = ? AND r.run_start = r.seq
;
SELECT revision, head, fingerprint FROM keepsake_made_progress WHERE memory_key = ? AND kind = ?
;
SELECT revision, head, fingerprint FROM keepsake_made_progress WHERE memory_key = ? AND kind = ? FOR UPDATE
;
SELECT revision, head, fingerprint FROM keepsake_progress WHERE discussion_id = ? AND kind = ?
;
SELECT run_end.seq, l.id, l.depth, l.created_at,
       COALESCE(l.seq = (SELECT m.head_seq FROM keepsake_memory m WHERE m.memory_key = l.memory_key), 0)
         AS current
FROM (
  SELECT (SELECT max(b.seq) FROM keepsake_message b WHERE b.memory_key = r.memory_key AND b.seq < r.seq) AS seq
  FROM keepsake_message r
  WHERE r.memory_key = ? AND r.run_start = r.seq AND r.seq > 1
  UNION
  SELECT max(seq) FROM keepsake_message WHERE memory_key = ?
  UNION
  SELECT m.head_seq FROM keepsake_memory m
  WHERE m.memory_key = ? AND NOT EXISTS (
    SELECT 1 FROM keepsake_message n
    WHERE n.memory_key = m.memory_key AND n.seq = m.head_seq + 1 AND n.run_start < n.seq)
) run_end
LEFT JOIN keepsake_message l ON l.memory_key = ? AND l.seq = run_end.seq
WHERE run_end.seq IS NOT NULL AND run_end.seq NOT IN (
  SELECT r.parent_seq FROM keepsake_message r
  WHERE r.memory_key = ? AND r.run_start = r.seq AND r.parent_seq IS NOT NULL
)
ORDER BY run_end.seq DESC
-- values: [0, 0, 0, 0, 0]
;
SELECT run_end.seq, l.id, l.depth, l.created_at, COALESCE(l.current, false) AS current
FROM (
  SELECT (SELECT max(b.seq) FROM keepsake_message b WHERE b.memory_key = ? AND b.seq < r.seq) AS seq
  FROM keepsake_message r
  WHERE r.memory_key = ? AND r.run_start = r.seq AND r.seq > 1
  UNION
  SELECT max(e.seq) FROM keepsake_message e WHERE e.memory_key = ?
  UNION
  SELECT m.head_seq FROM keepsake_memory m
  WHERE m.memory_key = ? AND NOT EXISTS (
    SELECT FROM keepsake_message n
    WHERE n.memory_key = ? AND n.seq = m.head_seq + 1 AND n.run_start < n.seq)
) run_end
LEFT JOIN LATERAL (
  SELECT l.id, l.depth, l.created_at,
         l.seq = (SELECT m.head_seq FROM keepsake_memory m WHERE m.memory_key = ?) AS current
  FROM keepsake_message l
  WHERE l.memory_key = ? AND l.seq = run_end.seq
  LIMIT 1
) l ON true
WHERE run_end.seq IS NOT NULL AND run_end.seq NOT IN (
  SELECT r.parent_seq FROM keepsake_message r
  WHERE r.memory_key = ? AND r.run_start = r.seq AND r.parent_seq IS NOT NULL
)
ORDER BY run_end.seq DESC
-- values: [0, 0, 0, 0, 0, 0, 0, 0]
;
SELECT s.version, s.covers_seq, CASE WHEN c.id = s.covers_id THEN c.id END AS covers, s.text, s.tokens, s.token_counter, s.replaced_messages,
       s.replaced_tokens, s.model, s.created_at
FROM keepsake_summary s
LEFT JOIN keepsake_message c ON c.memory_key = ? AND c.seq = s.covers_seq
WHERE s.memory_key = ? AND s.version > ? AND s.version <= ?
ORDER BY s.version
LIMIT ?
-- values: [0, 0, 1, 2, 3]
;
SELECT s.version, s.covers_seq, c.id AS covers, s.text, s.tokens, s.token_counter, s.replaced_messages,
       s.replaced_tokens, s.model, s.created_at
FROM keepsake_summary s
LEFT JOIN keepsake_message c ON c.memory_key = ? AND c.seq = s.covers_seq
WHERE s.memory_key = ?
ORDER BY s.version
;
SELECT s.version, s.covers_seq, c.id AS covers, s.text, s.tokens, s.token_counter, s.replaced_messages,
       s.replaced_tokens, s.model, s.created_at
FROM keepsake_summary s
LEFT JOIN keepsake_message c ON c.memory_key = s.memory_key AND c.seq = s.covers_seq
WHERE s.memory_key = ? AND s.covers_seq = ?
ORDER BY s.version DESC
LIMIT 1
;
SELECT seq FROM keepsake_message WHERE memory_key = ? AND id = ?
;
SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
FROM keepsake_message
WHERE memory_key = ? AND id = ?
;
SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
FROM keepsake_message
WHERE memory_key = ? AND id = ANY (?)
ORDER BY seq
;
SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
FROM keepsake_message
WHERE memory_key = ? AND seq < ?
ORDER BY seq DESC
LIMIT ?
;
SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
FROM keepsake_message
WHERE memory_key = ? AND seq = ?
;
SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
FROM keepsake_message
WHERE memory_key = ? AND seq = ANY (?)
ORDER BY seq
;
SELECT seq, id, parent_id, message, tokens, token_counter, created_at, outcome
FROM keepsake_message
WHERE seq > ? AND memory_key = ?
ORDER BY seq
LIMIT ?
;
SELECT sequence, newest, amount, vectors FROM keepsake_index_vector
WHERE memory = ? AND model = ? AND sequence >= ?
ORDER BY sequence
;
SELECT t.tenant, m.app_id, m.conversation_id, m.node_id, CASE WHEN n.named THEN v.amount ELSE n.most END,
  v.sequence, v.newest, v.amount, v.vectors
FROM (
  SELECT v.memory, v.model, v.sequence,
    ? + v.amount - SUM(v.amount) OVER (ORDER BY v.newest DESC, v.memory DESC, v.sequence DESC) AS most,
    (m.memory_key, v.sequence / 128) IN (SELECT unhex(value ->> 0), value ->> 1 FROM json_each(?)) AS named
  FROM keepsake_index_memory m
  JOIN keepsake_index_tenant t ON t.number = m.tenant
  JOIN keepsake_index_vector v ON v.memory = m.number
  WHERE v.model = (SELECT d.number FROM keepsake_index_model d WHERE d.model = ?)
    AND m.memory_key IN (SELECT unhex(value) FROM json_each(?))
) n
CROSS JOIN keepsake_index_vector v
JOIN keepsake_index_memory m ON m.number = n.memory
JOIN keepsake_index_tenant t ON t.number = m.tenant
WHERE (n.most > 0 OR n.named) AND v.memory = n.memory AND v.model = n.model AND v.sequence = n.sequence
;
SELECT t.tenant, m.app_id, m.conversation_id, m.node_id, CASE WHEN n.named THEN v.amount ELSE n.most END,
  v.sequence, v.newest, v.amount, v.vectors
FROM (
  SELECT v.memory, v.model, v.sequence,
    ? + v.amount - SUM(v.amount) OVER (ORDER BY v.newest DESC, v.memory DESC, v.sequence DESC) AS most,
    (m.memory_key, v.sequence / 128) IN (SELECT unhex(value ->> 0), value ->> 1 FROM json_each(?)) AS named
  FROM keepsake_index_memory m
  JOIN keepsake_index_tenant t ON t.number = m.tenant
  JOIN keepsake_index_vector v ON v.memory = m.number
  WHERE v.model = (SELECT d.number FROM keepsake_index_model d WHERE d.model = ?)
    AND t.tenant = ?
) n
CROSS JOIN keepsake_index_vector v
JOIN keepsake_index_memory m ON m.number = n.memory
JOIN keepsake_index_tenant t ON t.number = m.tenant
WHERE (n.most > 0 OR n.named) AND v.memory = n.memory AND v.model = n.model AND v.sequence = n.sequence
;
SELECT t.tenant, m.app_id, m.conversation_id, m.node_id, d.number, d.model, d.used,
  k.epoch, k.sequence, k.weight, k.measured
FROM keepsake_index_vector_mark k
JOIN keepsake_index_model d ON d.number = k.model
JOIN keepsake_index_memory m ON m.number = k.memory
JOIN keepsake_index_tenant t ON t.number = m.tenant
WHERE d.model = ? AND m.memory_key = ANY (?::bytea[])
;
SELECT t.tenant, m.app_id, m.conversation_id, m.node_id, d.number, d.model, d.used,
  k.epoch, k.sequence, k.weight, k.measured
FROM keepsake_index_vector_mark k
JOIN keepsake_index_model d ON d.number = k.model
JOIN keepsake_index_memory m ON m.number = k.memory
JOIN keepsake_index_tenant t ON t.number = m.tenant
WHERE d.model = ? AND m.memory_key IN (SELECT unhex(value) FROM json_each(?))
;
SELECT t.tenant, m.app_id, m.conversation_id, m.node_id, d.number, d.model, d.used,
  k.epoch, k.sequence, k.weight, k.measured
FROM keepsake_index_vector_mark k
JOIN keepsake_index_model d ON d.number = k.model
JOIN keepsake_index_memory m ON m.number = k.memory
JOIN keepsake_index_tenant t ON t.number = m.tenant
WHERE k.memory = ?
;
SELECT t.term, t.messages
FROM unnest(?::text[]) AS n (term)
CROSS JOIN LATERAL (
  SELECT t.term, t.messages FROM keepsake_index_term t
  WHERE t.tenant = ? AND t.term = n.term
  LIMIT 1
) AS t
;
SELECT tenant FROM keepsake_index_tenant
;
SELECT tenant, app_id, conversation_id, node_id
FROM keepsake_memory
WHERE tenant = ? AND conversation_id = ? AND node_id IS NOT NULL
;
SELECT tenant, app_id, conversation_id, node_id, title, metadata, last_seq, tokens, created_at,
       last_message_at, stored_at
FROM keepsake_memory
WHERE memory_key = ? AND tenant IS NOT NULL
;
SELECT type, content, %s
FROM SPRING_AI_CHAT_MEMORY
WHERE conversation_id = ?
ORDER BY %s
;
SELECT v.anchor_seq, v.view, CASE WHEN a.id = v.anchor_id THEN a.id END AS anchor
FROM keepsake_view v
LEFT JOIN keepsake_message a ON a.memory_key = ? AND a.seq = v.anchor_seq
WHERE v.memory_key = ? AND v.anchor_seq > ? AND v.anchor_seq <= ?
ORDER BY v.anchor_seq
LIMIT ?
-- values: [0, 0, 1, 2, 3]
;
SELECT v.tenant, v.app_id, v.conversation_id, v.node_id, CASE WHEN v.named THEN v.amount ELSE v.most END,
  v.sequence, v.newest, v.amount, v.vectors
FROM (
  SELECT t.tenant, m.app_id, m.conversation_id, m.node_id,
    ? + v.amount - SUM(v.amount) OVER (ORDER BY v.newest DESC, v.memory DESC, v.sequence DESC) AS most,
    (m.memory_key, v.sequence / 128) IN (SELECT * FROM unnest(?::bytea[], ?::bigint[])) AS named,
    v.sequence, v.newest, v.amount, v.vectors
  FROM keepsake_index_memory m
  JOIN keepsake_index_tenant t ON t.number = m.tenant
  JOIN keepsake_index_vector v ON v.memory = m.number
  WHERE v.model = (SELECT d.number FROM keepsake_index_model d WHERE d.model = ?)
    AND m.memory_key = ANY (?::bytea[])
) v
WHERE v.most > 0 OR v.named
;
SELECT v.tenant, v.app_id, v.conversation_id, v.node_id, CASE WHEN v.named THEN v.amount ELSE v.most END,
  v.sequence, v.newest, v.amount, v.vectors
FROM (
  SELECT t.tenant, m.app_id, m.conversation_id, m.node_id,
    ? + v.amount - SUM(v.amount) OVER (ORDER BY v.newest DESC, v.memory DESC, v.sequence DESC) AS most,
    (m.memory_key, v.sequence / 128) IN (SELECT * FROM unnest(?::bytea[], ?::bigint[])) AS named,
    v.sequence, v.newest, v.amount, v.vectors
  FROM keepsake_index_memory m
  JOIN keepsake_index_tenant t ON t.number = m.tenant
  JOIN keepsake_index_vector v ON v.memory = m.number
  WHERE v.model = (SELECT d.number FROM keepsake_index_model d WHERE d.model = ?)
    AND t.tenant = ?
) v
WHERE v.most > 0 OR v.named
;
SELECT v.view, a.id AS anchor
FROM keepsake_view v
LEFT JOIN keepsake_message a ON a.memory_key = v.memory_key AND a.seq = v.anchor_seq
WHERE v.memory_key = ? AND v.anchor_seq = ?
;
SELECT w.term, w.memory, w.weight
FROM keepsake_word w JOIN memories m ON m.id = w.memory
WHERE ? IS NOT NULL AND w.term IN (SELECT value FROM json_each(?)) AND m.discussion_id = ? AND m.trust <= ?
;
SELECT w.term, w.number, w.weight
FROM keepsake_made_word w JOIN keepsake_made_memory m ON m.memory_key = w.memory_key AND m.number = w.number
WHERE w.memory_key = ? AND w.term IN (SELECT jsonb_array_elements_text(CAST(? AS jsonb)))
  AND m.memory_key = ? AND m.kind = 'FACT' AND m.trust <= ?
;
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY
;
UPDATE keepsake_index_memory SET sequence = ?, messages = messages + ?, length = length + ? WHERE number = ?
;
UPDATE keepsake_index_model SET used = ? WHERE number = ? AND used < ?
;
UPDATE keepsake_index_tenant SET messages = messages + ?, length = length + ? WHERE number = ?
;
UPDATE keepsake_index_term AS t
SET messages = t.messages - p.messages
FROM (
  SELECT term, CAST(SUM(messages) AS bigint) AS messages
  FROM keepsake_index_posting WHERE memory = ? GROUP BY term
) AS p
WHERE t.tenant = ? AND t.term = p.term
;
UPDATE keepsake_index_vector_mark SET sequence = ?, weight = ?, measured = ?
WHERE model = (SELECT d.number FROM keepsake_index_model d WHERE d.model = ?)
  AND memory = (SELECT m.number FROM keepsake_index_memory m WHERE m.memory_key = ?)
  AND epoch = ? AND sequence = ? AND weight = ? AND measured = ?
RETURNING memory, model, EXISTS (
  SELECT 1 FROM keepsake_index_vector_mark k JOIN keepsake_index_model d ON d.number = k.model
  WHERE k.memory = keepsake_index_vector_mark.memory
    AND d.used < CASE WHEN k.model = keepsake_index_vector_mark.model THEN ? ELSE ? END)
;
UPDATE keepsake_listed SET place = ?
FROM keepsake_memory m, json_each(CASE WHEN json_valid(m.lists) THEN m.lists ELSE '[]' END) AS list
WHERE m.memory_key = ? AND (? OR m.active_at / 60000000 < ? / 60000000)
  AND keepsake_listed.list = list.value AND keepsake_listed.place = m.active_at
  AND keepsake_listed.number = m.number
-- values: [1, 0, 2, 1]
;
UPDATE keepsake_listed l SET place = ?
FROM keepsake_memory m
WHERE m.memory_key = ? AND (? OR m.active_at / 60000000 < ? / 60000000)
  AND l.memory_key = ? AND l.list = ANY (m.lists) AND l.place = m.active_at AND l.number = m.number
-- values: [1, 0, 2, 1, 0]
;
UPDATE keepsake_listed_name SET listed_at = ? WHERE name = ?
;
UPDATE keepsake_made_memory SET memory_text = ?, metadata_json = ?, shown = ?, trust = ?, pinned = ?
WHERE memory_key = ? AND kind = ? AND number = ?
;
UPDATE keepsake_made_progress SET revision = ?, head = ?, fingerprint = ? WHERE memory_key = ? AND kind = ?
;
UPDATE keepsake_made_step SET processed_at = ? WHERE memory_key = ? AND kind = ? AND number = ?
;
UPDATE keepsake_memory
SET head_seq = ?, head_id = (SELECT id FROM keepsake_message WHERE memory_key = ? AND seq = ?),
    epoch = ?, revision = ?, last_seq = ?, tokens = ?
WHERE memory_key = ?
-- values: [0, 1, 0, 2, 3, 4, 5, 1]
;
UPDATE keepsake_memory
SET head_seq = ?, head_id = (SELECT id FROM keepsake_message WHERE memory_key = ? AND seq = ?),
    revision = revision + 1
WHERE memory_key = ? AND epoch = ?
-- values: [0, 1, 0, 1, 2]
;
UPDATE keepsake_memory
SET head_view_seq = ?, head_covers_seq = ?,
    summaries = CASE WHEN summaries < 1152921504606846976 THEN summaries + 1 ELSE 1 END
WHERE memory_key = ?
-- values: [1, 2, 0]
;
UPDATE keepsake_memory
SET last_seq = ?, head_seq = ?, head_id = ?, tokens = tokens + ?,
    last_message_at = MAX(COALESCE(last_message_at, ?), ?)
WHERE memory_key = ?
-- values: [1, 1, 2, 3, 4, 4, 0]
;
UPDATE keepsake_memory
SET last_seq = ?, tokens = tokens + ?, last_message_at = CASE WHEN last_message_at > ? THEN last_message_at ELSE ? END
WHERE memory_key = ?
;
UPDATE keepsake_memory
SET lists = ?, active_at = CASE WHEN active_at < 9223372036854775807 THEN active_at + 1 ELSE active_at - 1 END
WHERE memory_key = ?
;
UPDATE keepsake_memory SET active_at = ?
WHERE memory_key = ? AND (? OR active_at / 60000000 < ? / 60000000)
;
UPDATE keepsake_memory SET created_at = ? WHERE memory_key = ? AND created_at > ?
;
UPDATE keepsake_memory SET metadata = ? WHERE memory_key = ?
;
UPDATE keepsake_memory SET revision = revision + 1 WHERE memory_key = ?
;
UPDATE keepsake_memory SET title = ?, metadata = ? WHERE memory_key = ?
;
UPDATE keepsake_memory m
SET head_seq = n.seq, head_id = n.id, head_run_start = n.run_start, head_depth = n.depth,
    head_path_tokens = n.path_tokens, head_system_seq = n.system_seq, head_user_seq = n.user_seq,
    head_runs = r.runs, epoch = ?::bigint, revision = ?::bigint, last_seq = ?::bigint,
    tokens = ?::bigint
FROM (SELECT 1) one
LEFT JOIN keepsake_message n ON n.memory_key = ? AND n.seq = ?::bigint
LEFT JOIN keepsake_message r ON r.memory_key = ? AND r.seq = n.run_start
WHERE m.memory_key = ?
-- values: [2, 3, 4, 5, 1, 0, 1, 1]
;
UPDATE keepsake_memory m
SET head_seq = n.seq, head_id = n.id, head_run_start = n.run_start, head_depth = n.depth,
    head_path_tokens = n.path_tokens, head_system_seq = n.system_seq, head_user_seq = n.user_seq,
    head_runs = r.runs, revision = m.revision + 1
FROM keepsake_message n, keepsake_message r
WHERE m.memory_key = ? AND m.epoch = ?
  AND n.memory_key = ? AND n.seq = ?
  AND r.memory_key = ? AND r.seq = n.run_start
  AND (m.head_seq IS NULL
       OR EXISTS (SELECT FROM keepsake_message h
                  WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id))
-- values: [1, 2, 1, 0, 1, 1]
;
UPDATE keepsake_memory m
SET last_seq = n.seq, tokens = m.tokens + ?, last_message_at = GREATEST(m.last_message_at, ?),
    head_seq = n.seq, head_id = ?, head_run_start = n.run_start, head_depth = n.depth,
    head_path_tokens = n.path_tokens, head_system_seq = n.system_seq, head_user_seq = n.user_seq,
    head_runs = r.runs
FROM keepsake_message n, keepsake_message r
WHERE m.memory_key = ?
  AND n.memory_key = ? AND n.seq = ?
  AND r.memory_key = ? AND r.seq = n.run_start
-- values: [3, 4, 2, 0, 0, 1, 0]
;
UPDATE keepsake_message SET made = NULL, request = NULL WHERE seq = ? AND memory_key = ?
;
UPDATE keepsake_message SET outcome = ? WHERE memory_key = ? AND id = ?
;
UPDATE keepsake_message SET outcome = ? WHERE memory_key = ? AND seq = ?
;
UPDATE keepsake_progress SET revision = ?, head = ?, fingerprint = ? WHERE discussion_id = ? AND kind = ?
;
UPDATE memories SET memory_text = ?, metadata_json = ?, shown = ?, trust = ?, pinned = ?
WHERE discussion_id = ? AND kind = ? AND id = ?
;
UPDATE vector_memory_tracker SET timestamp = ? WHERE discussion_id = ? AND kind = ? AND id = ?
;
VACUUM
;
WITH RECURSIVE given AS MATERIALIZED (
  SELECT ?::bigint AS now, ?::bigint AS epoch, ?::bigint AS revision,
         ?::boolean AS any_head, ?::text AS expected_head,
         ?::bigint AS expected_last_seq, ?::boolean AS under_head,
         ?::text AS parent_id, ?::boolean AS importing, ?::bigint AS size,
         ?::bigint AS tokens, ?::text AS last_id, ?::bigint AS last_time,
         LEAST(?::bigint, (?::bigint[])[1]) AS first_time,
         ?::bigint AS system_place, ?::bigint AS user_place, ?::text AS anchor_id,
         ?::text AS view, ?::text[] AS named
),
seen AS MATERIALIZED (
  SELECT s.* FROM keepsake_memory s WHERE s.memory_key = ?
),
parent AS MATERIALIZED (
  SELECT p.seq, p.run_start, p.depth, p.path_tokens, p.system_seq, p.user_seq, r.runs
  FROM keepsake_message p
  LEFT JOIN keepsake_message r ON r.memory_key = ? AND r.seq = p.run_start
  WHERE p.memory_key = ? AND p.id = ?
),
anchor AS MATERIALIZED (
  SELECT a.seq FROM keepsake_message a WHERE a.memory_key = ? AND a.id = ?
),
named AS MATERIALIZED (
  SELECT count(*) AS found
  FROM unnest(?::text[]) AS name (id)
  CROSS JOIN LATERAL (
    SELECT n.seq FROM keepsake_message n
    WHERE n.memory_key = ? AND n.id = name.id
    LIMIT 1
  ) n
),
run (low, high, view_seq, covers_seq) AS (
  SELECT b.run_start, b.seq,
         (SELECT max(v.anchor_seq) FROM keepsake_view v
          WHERE v.memory_key = ? AND v.anchor_seq <= b.seq),
         (SELECT max(s.covers_seq) FROM keepsake_summary s
          WHERE s.memory_key = ? AND s.covers_seq <= b.seq)
  FROM (SELECT parent.run_start, parent.seq FROM parent
        UNION ALL
        SELECT seen.head_run_start, seen.head_seq FROM seen CROSS JOIN given
        WHERE given.under_head AND given.anchor_id IS NOT NULL) b (run_start, seq)
  UNION ALL
  SELECT p.run_start, p.seq,
         CASE WHEN run.view_seq >= run.low OR run.view_seq <= p.seq THEN run.view_seq ELSE
           (SELECT max(v.anchor_seq) FROM keepsake_view v
            WHERE v.memory_key = ? AND v.anchor_seq <= p.seq) END,
         CASE WHEN run.covers_seq >= run.low OR run.covers_seq <= p.seq THEN run.covers_seq ELSE
           (SELECT max(s.covers_seq) FROM keepsake_summary s
            WHERE s.memory_key = ? AND s.covers_seq <= p.seq) END
  FROM run
  CROSS JOIN LATERAL (
    SELECT f.parent_seq FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq = run.low
    LIMIT 1
  ) f
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq = f.parent_seq
    LIMIT 1
  ) p
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
  SELECT ?, COALESCE(seen.number, nextval('keepsake_memory_number')), ?::text, ?::text,
         ?::text, ?::text, ?::text, ?::bigint[], COALESCE(seen.epoch, 1),
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
               WHERE x.memory_key = ? AND x.seq <= 1152921504606846976)
             <= COALESCE(seen.last_seq, 0)
        ELSE EXISTS (SELECT FROM keepsake_message h
                     WHERE h.memory_key = ? AND h.seq = seen.head_seq AND h.id = seen.head_id
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
listed AS (
  INSERT INTO keepsake_listed (memory_key, list, place, number, tie)
  SELECT memory.memory_key, list.id * orders.sign, CASE WHEN orders.sign = 1 THEN memory.active_at ELSE 0 END,
         memory.number, ('x' || encode(substring(memory.memory_key FROM 17 FOR 8), 'hex'))::bit(64)::bigint
  FROM memory
  CROSS JOIN unnest(memory.lists) AS list (id)
  CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
  WHERE memory.prev_active_at IS NULL
),
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
  CROSS JOIN unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::integer[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
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
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
-- values: [26, 1, 2, 3, 4, 27, 28, 29, 30, 10, 6, 5, 7, 26, 17, 8, 9, 31, 32, 33, 0, 0, 0, 29, 0, 31, 33, 0, 0, 0, 0, 0, 0, 0, 0, 20, 21, 22, 23, 24, 25, 0, 0, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0]
;
WITH RECURSIVE given AS MATERIALIZED (
  SELECT ?::bigint AS now, ?::bigint AS epoch, ?::bigint AS revision,
         ?::boolean AS any_head, ?::text AS expected_head,
         ?::bigint AS expected_last_seq, ?::boolean AS under_head,
         ?::text AS parent_id, ?::boolean AS importing, ?::bigint AS size,
         ?::bigint AS tokens, ?::text AS last_id, ?::bigint AS last_time,
         LEAST(?::bigint, (?::bigint[])[1]) AS first_time,
         ?::bigint AS system_place, ?::bigint AS user_place, ?::text AS anchor_id,
         ?::text AS view, ?::text[] AS named
),
seen AS MATERIALIZED (
  SELECT s.* FROM keepsake_memory s WHERE s.memory_key = ?
),
parent AS MATERIALIZED (
  SELECT p.seq, p.run_start, p.depth, p.path_tokens, p.system_seq, p.user_seq, r.runs
  FROM keepsake_message p
  LEFT JOIN keepsake_message r ON r.memory_key = ? AND r.seq = p.run_start
  WHERE p.memory_key = ? AND p.id = ?
),
anchor AS MATERIALIZED (
  SELECT a.seq FROM keepsake_message a WHERE a.memory_key = ? AND a.id = ?
),
named AS MATERIALIZED (
  SELECT count(*) AS found
  FROM unnest(?::text[]) AS name (id)
  CROSS JOIN LATERAL (
    SELECT n.seq FROM keepsake_message n
    WHERE n.memory_key = ? AND n.id = name.id
    LIMIT 1
  ) n
),
run (low, high, view_seq, covers_seq) AS (
  SELECT b.run_start, b.seq,
         (SELECT max(v.anchor_seq) FROM keepsake_view v
          WHERE v.memory_key = ? AND v.anchor_seq <= b.seq),
         (SELECT max(s.covers_seq) FROM keepsake_summary s
          WHERE s.memory_key = ? AND s.covers_seq <= b.seq)
  FROM (SELECT parent.run_start, parent.seq FROM parent
        UNION ALL
        SELECT seen.head_run_start, seen.head_seq FROM seen CROSS JOIN given
        WHERE given.under_head AND given.anchor_id IS NOT NULL) b (run_start, seq)
  UNION ALL
  SELECT p.run_start, p.seq,
         CASE WHEN run.view_seq >= run.low OR run.view_seq <= p.seq THEN run.view_seq ELSE
           (SELECT max(v.anchor_seq) FROM keepsake_view v
            WHERE v.memory_key = ? AND v.anchor_seq <= p.seq) END,
         CASE WHEN run.covers_seq >= run.low OR run.covers_seq <= p.seq THEN run.covers_seq ELSE
           (SELECT max(s.covers_seq) FROM keepsake_summary s
            WHERE s.memory_key = ? AND s.covers_seq <= p.seq) END
  FROM run
  CROSS JOIN LATERAL (
    SELECT f.parent_seq FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq = run.low
    LIMIT 1
  ) f
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq = f.parent_seq
    LIMIT 1
  ) p
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
  SELECT ?, COALESCE(seen.number, nextval('keepsake_memory_number')), ?::text, ?::text,
         ?::text, ?::text, ?::text, ?::bigint[], COALESCE(seen.epoch, 1),
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
               WHERE x.memory_key = ? AND x.seq <= 1152921504606846976)
             <= COALESCE(seen.last_seq, 0)
        ELSE EXISTS (SELECT FROM keepsake_message h
                     WHERE h.memory_key = ? AND h.seq = seen.head_seq AND h.id = seen.head_id
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
listed AS (
  INSERT INTO keepsake_listed (memory_key, list, place, number, tie)
  SELECT memory.memory_key, list.id * orders.sign, CASE WHEN orders.sign = 1 THEN memory.active_at ELSE 0 END,
         memory.number, ('x' || encode(substring(memory.memory_key FROM 17 FOR 8), 'hex'))::bit(64)::bigint
  FROM memory
  CROSS JOIN unnest(memory.lists) AS list (id)
  CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
  WHERE memory.prev_active_at IS NULL
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, runs, message, outcome, made, request)
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
         new.message, new.outcome, new.made, new.request
  FROM memory
  CROSS JOIN given
  LEFT JOIN parent ON true
  CROSS JOIN unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::integer[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[])
    WITH ORDINALITY AS new (id, parent_id, message, token_counter, tokens, tokens_so_far, created_at,
                            system_place, user_place, outcome, made, request, place)
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
, sums AS (
  INSERT INTO keepsake_usage AS u (memory_key, day, tenant, input_tokens, output_tokens, cached_tokens)
  SELECT memory.memory_key, used.day, ?::text, used.input, used.output, used.cached
  FROM memory
  CROSS JOIN unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
    AS used (day, input, output, cached)
  ON CONFLICT (memory_key, day) DO UPDATE
    SET input_tokens = u.input_tokens + excluded.input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens,
        cached_tokens = u.cached_tokens + excluded.cached_tokens
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
-- values: [26, 1, 2, 3, 4, 27, 28, 29, 30, 10, 6, 5, 7, 26, 17, 8, 9, 31, 32, 33, 0, 0, 0, 29, 0, 31, 33, 0, 0, 0, 0, 0, 0, 0, 0, 20, 21, 22, 23, 24, 25, 0, 0, 11, 12, 13, 14, 15, 16, 17, 18, 19, 34, 35, 36, 20, 37, 38, 39, 40, 0]
;
WITH RECURSIVE given AS MATERIALIZED (
  SELECT ?::text AS from_id, ?::text AS after_id, ?::bigint AS max_messages,
         ?::bigint AS max_tokens, ?::bigint AS stretch, ?::boolean AS to_summary
),
memory AS MATERIALIZED (
  SELECT m.*
  FROM keepsake_memory m
  WHERE m.memory_key = ?
),
start AS MATERIALIZED (
  SELECT s.seq, s.run_start, s.depth, s.path_tokens, s.system_seq, s.user_seq
  FROM keepsake_message s
  WHERE s.memory_key = ? AND s.seq = CASE
    WHEN ?::text IS NULL THEN (SELECT head_seq FROM memory)
    ELSE (SELECT f.seq FROM keepsake_message f
          WHERE f.memory_key = ? AND f.id = ?::text) END
    AND s.id = COALESCE(?::text, (SELECT head_id FROM memory))
),
after AS MATERIALIZED (
  SELECT a.*
  FROM keepsake_message a
  WHERE a.memory_key = ? AND a.id = ?::text
),
chain (low, high, view_seq, covers_seq) AS (
  SELECT start.run_start, start.seq,
         (SELECT max(v.anchor_seq) FROM keepsake_view v
          WHERE v.memory_key = ? AND v.anchor_seq <= start.seq),
         CASE WHEN given.to_summary THEN
           (SELECT max(s.covers_seq) FROM keepsake_summary s
            WHERE s.memory_key = ? AND s.covers_seq <= start.seq) END
  FROM start
  CROSS JOIN given
  UNION ALL
  SELECT p.run_start, p.seq,
         CASE WHEN chain.view_seq >= chain.low OR chain.view_seq <= p.seq THEN chain.view_seq ELSE
           (SELECT max(v.anchor_seq) FROM keepsake_view v
            WHERE v.memory_key = ? AND v.anchor_seq <= p.seq) END,
         CASE WHEN chain.covers_seq >= chain.low OR chain.covers_seq <= p.seq THEN chain.covers_seq
           WHEN given.to_summary THEN
             (SELECT max(s.covers_seq) FROM keepsake_summary s
              WHERE s.memory_key = ? AND s.covers_seq <= p.seq) END
  FROM chain
  CROSS JOIN given
  CROSS JOIN LATERAL (
    SELECT f.parent_seq, f.depth FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq = chain.low
    LIMIT 1
  ) run_start
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq = run_start.parent_seq
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
                                 WHERE f.memory_key = ? AND f.seq = c.low
                                   AND f.parent_seq IS NULL AND f.depth = 1)
          FROM chain c ORDER BY c.high LIMIT 1) AS broken
),
floor AS MATERIALIZED (
  SELECT GREATEST(found.after_seq, found.covers_seq, 0) AS seq, COALESCE(found.after_seq, 0) AS after_seq
  FROM found
),
part (low, high, run_start, above_depth, stretch, room) AS (
  SELECT GREATEST(start.run_start, floor.seq + 1, start.seq - given.max_messages + 1,
                  start.seq - given.stretch + 1),
         start.seq, start.run_start, start.seq - start.depth, given.stretch, given.max_messages
  FROM start
  CROSS JOIN floor
  CROSS JOIN given
  WHERE given.max_messages > 0 AND given.max_tokens > 0 AND start.seq > floor.seq
  UNION ALL
  SELECT GREATEST(p.run_start, floor.seq + 1, p.seq - (given.max_messages - start.depth + p.depth) + 1,
                  p.seq - LEAST(part.stretch * 2, 1099511627776) + 1),
         p.seq, p.run_start, p.seq - p.depth, LEAST(part.stretch * 2, 1099511627776),
         part.room - (part.high - part.low + 1)
  FROM part
  CROSS JOIN start
  CROSS JOIN floor
  CROSS JOIN given
  CROSS JOIN LATERAL (
    SELECT f.parent_seq FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq = part.low
    LIMIT 1
  ) oldest
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth, p.path_tokens FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq = oldest.parent_seq
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
         WHEN given.from_id IS NULL
           AND (start.run_start, start.depth, start.path_tokens, start.system_seq, start.user_seq)
             IS DISTINCT FROM (memory.head_run_start, memory.head_depth, memory.head_path_tokens,
                               memory.head_system_seq, memory.head_user_seq)
           THEN 'the head is not as its row says'
         WHEN memory.head_seq IS NULL
           AND (SELECT max(x.seq) FROM keepsake_message x
                WHERE x.memory_key = ? AND x.seq <= 1152921504606846976)
               > COALESCE(memory.last_seq, 0)
           THEN 'there are messages that its row does not know of'
       END AS message, NULL::integer AS tokens, NULL::text AS token_counter, NULL::bigint AS created_at,
       NULL::text AS outcome, NULL::bigint AS place,
       concat(false, ',', memory.epoch, ',', memory.revision, ',', start.seq, ',', start.system_seq, ',', start.user_seq,
              ',', found.view_seq, ',', floor.seq, ',', memory.head_id) AS memory,
       (SELECT seq FROM after) AS named_after_seq, floor.after_seq
FROM floor
CROSS JOIN given
CROSS JOIN found
LEFT JOIN memory ON true
LEFT JOIN start ON true
UNION ALL
SELECT 2, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
       CASE WHEN n.run_start = part.run_start AND n.seq - n.depth = part.above_depth AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
         THEN start.path_tokens - n.path_tokens END, NULL, NULL, NULL
FROM part
CROSS JOIN start
CROSS JOIN given
CROSS JOIN LATERAL (
  SELECT n.* FROM keepsake_message n
  WHERE n.memory_key = ? AND n.seq BETWEEN part.low AND part.high
    AND start.path_tokens - n.path_tokens < given.max_tokens
  ORDER BY n.seq DESC
  LIMIT 1000000000
) n
UNION ALL
SELECT 7, n.seq, n.id, n.parent_id, n.parent_seq, NULL, n.tokens, NULL, NULL, NULL,
       start.path_tokens - n.path_tokens, NULL, NULL, NULL
FROM after n
CROSS JOIN start
UNION ALL
SELECT 3, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, NULL, NULL, NULL, NULL
FROM start
CROSS JOIN floor
CROSS JOIN given
CROSS JOIN LATERAL (
  SELECT n.* FROM keepsake_message n
  WHERE n.memory_key = ? AND n.seq IN (start.system_seq, start.user_seq)
  LIMIT 2
) n
WHERE n.seq > floor.after_seq
  AND (n.seq <= floor.seq OR start.depth - n.depth >= given.max_messages
       OR start.path_tokens - n.path_tokens >= given.max_tokens)
UNION ALL
SELECT 4, v.anchor_seq, v.anchor_id, NULL, NULL, v.view, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM found
CROSS JOIN LATERAL (
  SELECT v.anchor_seq, v.anchor_id, v.view FROM keepsake_view v
  WHERE v.memory_key = ? AND v.anchor_seq = found.view_seq
  LIMIT 1
) v
UNION ALL
SELECT 5, s.covers_seq, s.covers_id, s.model, s.replaced_messages, s.text, s.tokens, s.token_counter,
       s.created_at, s.version::text, s.replaced_tokens, NULL, NULL, NULL
FROM found
CROSS JOIN LATERAL (
  SELECT s.* FROM keepsake_summary s
  WHERE s.memory_key = ? AND s.covers_seq = found.covers_seq
  ORDER BY s.version DESC
  LIMIT 1
) s
-- values: [4, 5, 1, 3, 6, 7, 0, 0, 4, 0, 4, 4, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
;
WITH RECURSIVE given AS MATERIALIZED (
  SELECT COALESCE(?::text, (SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text)) AS from_id, ?::text AS after_id, ?::bigint AS max_messages,
         ?::bigint AS max_tokens, ?::bigint AS stretch, ?::boolean AS to_summary
),
memory AS MATERIALIZED (
  SELECT m.*
  FROM keepsake_memory m
  WHERE m.memory_key = ?
),
start AS MATERIALIZED (
  SELECT s.seq, s.run_start, s.depth, s.path_tokens, s.system_seq, s.user_seq
  FROM keepsake_message s
  WHERE s.memory_key = ? AND s.seq = CASE
    WHEN COALESCE(?::text, (SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text)) IS NULL THEN (SELECT head_seq FROM memory)
    ELSE (SELECT f.seq FROM keepsake_message f
          WHERE f.memory_key = ? AND f.id = COALESCE(?::text, (SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text))) END
    AND s.id = COALESCE(COALESCE(?::text, (SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text)), (SELECT head_id FROM memory))
),
after AS MATERIALIZED (
  SELECT a.*
  FROM keepsake_message a
  WHERE a.memory_key = ? AND a.id = ?::text
),
chain (low, high, view_seq, covers_seq) AS (
  SELECT start.run_start, start.seq,
         (SELECT max(v.anchor_seq) FROM keepsake_view v
          WHERE v.memory_key = ? AND v.anchor_seq <= start.seq),
         CASE WHEN given.to_summary THEN
           (SELECT max(s.covers_seq) FROM keepsake_summary s
            WHERE s.memory_key = ? AND s.covers_seq <= start.seq) END
  FROM start
  CROSS JOIN given
  UNION ALL
  SELECT p.run_start, p.seq,
         CASE WHEN chain.view_seq >= chain.low OR chain.view_seq <= p.seq THEN chain.view_seq ELSE
           (SELECT max(v.anchor_seq) FROM keepsake_view v
            WHERE v.memory_key = ? AND v.anchor_seq <= p.seq) END,
         CASE WHEN chain.covers_seq >= chain.low OR chain.covers_seq <= p.seq THEN chain.covers_seq
           WHEN given.to_summary THEN
             (SELECT max(s.covers_seq) FROM keepsake_summary s
              WHERE s.memory_key = ? AND s.covers_seq <= p.seq) END
  FROM chain
  CROSS JOIN given
  CROSS JOIN LATERAL (
    SELECT f.parent_seq, f.depth FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq = chain.low
    LIMIT 1
  ) run_start
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq = run_start.parent_seq
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
                                 WHERE f.memory_key = ? AND f.seq = c.low
                                   AND f.parent_seq IS NULL AND f.depth = 1)
          FROM chain c ORDER BY c.high LIMIT 1) AS broken
),
floor AS MATERIALIZED (
  SELECT GREATEST(found.after_seq, found.covers_seq, 0) AS seq, COALESCE(found.after_seq, 0) AS after_seq
  FROM found
),
part (low, high, run_start, above_depth, stretch, room) AS (
  SELECT GREATEST(start.run_start, floor.seq + 1, start.seq - given.max_messages + 1,
                  start.seq - given.stretch + 1),
         start.seq, start.run_start, start.seq - start.depth, given.stretch, given.max_messages
  FROM start
  CROSS JOIN floor
  CROSS JOIN given
  WHERE given.max_messages > 0 AND given.max_tokens > 0 AND start.seq > floor.seq
  UNION ALL
  SELECT GREATEST(p.run_start, floor.seq + 1, p.seq - (given.max_messages - start.depth + p.depth) + 1,
                  p.seq - LEAST(part.stretch * 2, 1099511627776) + 1),
         p.seq, p.run_start, p.seq - p.depth, LEAST(part.stretch * 2, 1099511627776),
         part.room - (part.high - part.low + 1)
  FROM part
  CROSS JOIN start
  CROSS JOIN floor
  CROSS JOIN given
  CROSS JOIN LATERAL (
    SELECT f.parent_seq FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq = part.low
    LIMIT 1
  ) oldest
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth, p.path_tokens FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq = oldest.parent_seq
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
         WHEN given.from_id IS NULL
           AND (start.run_start, start.depth, start.path_tokens, start.system_seq, start.user_seq)
             IS DISTINCT FROM (memory.head_run_start, memory.head_depth, memory.head_path_tokens,
                               memory.head_system_seq, memory.head_user_seq)
           THEN 'the head is not as its row says'
         WHEN memory.head_seq IS NULL
           AND (SELECT max(x.seq) FROM keepsake_message x
                WHERE x.memory_key = ? AND x.seq <= 1152921504606846976)
               > COALESCE(memory.last_seq, 0)
           THEN 'there are messages that its row does not know of'
       END AS message, NULL::integer AS tokens, NULL::text AS token_counter, NULL::bigint AS created_at,
       NULL::text AS outcome, NULL::bigint AS place,
       concat(false, ',', memory.epoch, ',', memory.revision, ',', start.seq, ',', start.system_seq, ',', start.user_seq,
              ',', found.view_seq, ',', floor.seq, ',', COALESCE((SELECT b.id FROM keepsake_reference b WHERE b.memory_key = ? AND b.name = ?::text), memory.head_id)) AS memory,
       (SELECT seq FROM after) AS named_after_seq, floor.after_seq
FROM floor
CROSS JOIN given
CROSS JOIN found
LEFT JOIN memory ON true
LEFT JOIN start ON true
UNION ALL
SELECT 2, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
       CASE WHEN n.run_start = part.run_start AND n.seq - n.depth = part.above_depth AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
         THEN start.path_tokens - n.path_tokens END, NULL, NULL, NULL
FROM part
CROSS JOIN start
CROSS JOIN given
CROSS JOIN LATERAL (
  SELECT n.* FROM keepsake_message n
  WHERE n.memory_key = ? AND n.seq BETWEEN part.low AND part.high
    AND start.path_tokens - n.path_tokens < given.max_tokens
  ORDER BY n.seq DESC
  LIMIT 1000000000
) n
UNION ALL
SELECT 7, n.seq, n.id, n.parent_id, n.parent_seq, NULL, n.tokens, NULL, NULL, NULL,
       start.path_tokens - n.path_tokens, NULL, NULL, NULL
FROM after n
CROSS JOIN start
UNION ALL
SELECT 3, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, NULL, NULL, NULL, NULL
FROM start
CROSS JOIN floor
CROSS JOIN given
CROSS JOIN LATERAL (
  SELECT n.* FROM keepsake_message n
  WHERE n.memory_key = ? AND n.seq IN (start.system_seq, start.user_seq)
  LIMIT 2
) n
WHERE n.seq > floor.after_seq
  AND (n.seq <= floor.seq OR start.depth - n.depth >= given.max_messages
       OR start.path_tokens - n.path_tokens >= given.max_tokens)
UNION ALL
SELECT 4, v.anchor_seq, v.anchor_id, NULL, NULL, v.view, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM found
CROSS JOIN LATERAL (
  SELECT v.anchor_seq, v.anchor_id, v.view FROM keepsake_view v
  WHERE v.memory_key = ? AND v.anchor_seq = found.view_seq
  LIMIT 1
) v
UNION ALL
SELECT 5, s.covers_seq, s.covers_id, s.model, s.replaced_messages, s.text, s.tokens, s.token_counter,
       s.created_at, s.version::text, s.replaced_tokens, NULL, NULL, NULL
FROM found
CROSS JOIN LATERAL (
  SELECT s.* FROM keepsake_summary s
  WHERE s.memory_key = ? AND s.covers_seq = found.covers_seq
  ORDER BY s.version DESC
  LIMIT 1
) s
-- values: [4, 0, 11, 5, 1, 3, 6, 7, 0, 0, 4, 0, 11, 0, 4, 0, 11, 4, 0, 11, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0]
;
WITH RECURSIVE memory AS MATERIALIZED (
SELECT CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.epoch END AS epoch,
       CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.revision END AS revision,
       CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.last_seq END AS last_seq,
       CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.tokens END AS tokens, m.head_seq, m.head_id,
CASE
  WHEN (SELECT max(x.seq) FROM keepsake_message x
        WHERE x.memory_key = ? AND x.seq <= 1152921504606846976)
       > COALESCE(m.last_seq, 0)
    THEN 'there are messages that its row does not know of'
  WHEN m.head_seq IS NOT NULL AND NOT EXISTS (
      SELECT FROM keepsake_message h
      WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
        AND (h.run_start, h.depth, h.path_tokens) = (m.head_run_start, m.head_depth, m.head_path_tokens)
        AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
        AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
    THEN 'the head is not there, or is not as its row says'
END AS damage
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
),
run (low, high, depth, up, up_id) AS (
  SELECT h.run_start, h.seq, f.depth, f.up, f.parent_id
  FROM memory
  CROSS JOIN LATERAL (
    SELECT h.seq, h.run_start, h.depth FROM keepsake_message h
    WHERE h.memory_key = ? AND h.seq BETWEEN memory.head_seq AND memory.head_seq
    ORDER BY h.seq
    LIMIT 1
  ) h
  LEFT JOIN LATERAL (
    SELECT f.depth, f.parent_id,
           CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE NULLIF(f.parent_seq, 0) END AS up
    FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq BETWEEN h.run_start AND h.run_start
      AND f.run_start = f.seq AND f.depth = h.depth - (h.seq - h.run_start)
      AND (h.seq = h.run_start
           OR EXISTS (SELECT FROM keepsake_message b
                      WHERE b.memory_key = ? AND b.seq BETWEEN h.seq - 1 AND h.seq - 1
                        AND b.run_start = h.run_start))
    ORDER BY f.seq
    LIMIT 1
  ) f ON true
  UNION ALL
  SELECT p.run_start, p.seq, f.depth, f.up, f.parent_id
  FROM run
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth, p.id FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq BETWEEN run.up AND run.up
    ORDER BY p.seq
    LIMIT 1
  ) p
  LEFT JOIN LATERAL (
    SELECT f.depth, f.parent_id,
           CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE NULLIF(f.parent_seq, 0) END AS up
    FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq BETWEEN p.run_start AND p.run_start
      AND f.run_start = f.seq AND f.depth = p.depth - (p.seq - p.run_start)
      AND (p.seq = p.run_start
           OR EXISTS (SELECT FROM keepsake_message b
                      WHERE b.memory_key = ? AND b.seq BETWEEN p.seq - 1 AND p.seq - 1
                        AND b.run_start = p.run_start))
    ORDER BY f.seq
    LIMIT 1
  ) f ON true
  WHERE run.low > ? AND p.seq < run.low AND p.depth = run.depth - 1 AND p.id = run.up_id
)
SELECT memory.*, run.low, run.high, run.up
FROM memory
LEFT JOIN run ON true
;
WITH RECURSIVE memory AS MATERIALIZED (
SELECT CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.epoch END AS epoch,
       CASE WHEN m.memory_key IS NULL THEN 1 ELSE m.revision END AS revision,
       CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.last_seq END AS last_seq,
       CASE WHEN m.memory_key IS NULL THEN 0 ELSE m.tokens END AS tokens, m.head_seq, m.head_id,
CASE
  WHEN (SELECT max(x.seq) FROM keepsake_message x
        WHERE x.memory_key = ? AND x.seq <= 1152921504606846976)
       > COALESCE(m.last_seq, 0)
    THEN 'there are messages that its row does not know of'
  WHEN m.head_seq IS NOT NULL AND NOT EXISTS (
      SELECT FROM keepsake_message h
      WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
        AND (h.run_start, h.depth, h.path_tokens) = (m.head_run_start, m.head_depth, m.head_path_tokens)
        AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
        AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
    THEN 'the head is not there, or is not as its row says'
END AS damage
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
),
run (low, high, depth, up, up_id) AS (
  SELECT h.run_start, h.seq, f.depth, f.up, f.parent_id
  FROM memory
  CROSS JOIN LATERAL (
    SELECT h.seq, h.run_start, h.depth FROM keepsake_message h
    WHERE h.memory_key = ? AND h.seq BETWEEN memory.head_seq AND memory.head_seq
    ORDER BY h.seq
    LIMIT 1
  ) h
  LEFT JOIN LATERAL (
    SELECT f.depth, f.parent_id,
           CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE NULLIF(f.parent_seq, 0) END AS up
    FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq BETWEEN h.run_start AND h.run_start
      AND f.run_start = f.seq AND f.depth = h.depth - (h.seq - h.run_start)
      AND (h.seq = h.run_start
           OR EXISTS (SELECT FROM keepsake_message b
                      WHERE b.memory_key = ? AND b.seq BETWEEN h.seq - 1 AND h.seq - 1
                        AND b.run_start = h.run_start))
    ORDER BY f.seq
    LIMIT 1
  ) f ON true
  UNION ALL
  SELECT p.run_start, p.seq, f.depth, f.up, f.parent_id
  FROM run
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start, p.depth, p.id FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq BETWEEN run.up AND run.up
    ORDER BY p.seq
    LIMIT 1
  ) p
  LEFT JOIN LATERAL (
    SELECT f.depth, f.parent_id,
           CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE NULLIF(f.parent_seq, 0) END AS up
    FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq BETWEEN p.run_start AND p.run_start
      AND f.run_start = f.seq AND f.depth = p.depth - (p.seq - p.run_start)
      AND (p.seq = p.run_start
           OR EXISTS (SELECT FROM keepsake_message b
                      WHERE b.memory_key = ? AND b.seq BETWEEN p.seq - 1 AND p.seq - 1
                        AND b.run_start = p.run_start))
    ORDER BY f.seq
    LIMIT 1
  ) f ON true
  WHERE run.low > ? AND p.seq < run.low AND p.depth = run.depth - 1 AND p.id = run.up_id
)
SELECT memory.*, run.low, run.high, run.up
FROM memory
LEFT JOIN run ON true
-- values: [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
;
WITH RECURSIVE memory AS MATERIALIZED (
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
FROM (SELECT ? AS memory_key) given
LEFT JOIN keepsake_memory m ON m.memory_key = given.memory_key
),
run (low, high, depth, up, up_id) AS (
  SELECT h.run_start, h.seq, f.depth,
         CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE NULLIF(f.parent_seq, 0) END, f.parent_id
  FROM memory
  CROSS JOIN keepsake_message h ON h.memory_key = ? AND h.seq = memory.head_seq
  LEFT JOIN keepsake_message f ON f.memory_key = ? AND f.seq = h.run_start
    AND f.run_start = f.seq AND f.depth = h.depth - (h.seq - h.run_start)
    AND (h.seq = h.run_start
         OR EXISTS (SELECT 1 FROM keepsake_message b
                    WHERE b.memory_key = ? AND b.seq = h.seq - 1 AND b.run_start = h.run_start))
  UNION ALL
  SELECT p.run_start, p.seq, f.depth,
         CASE WHEN f.depth = 1 THEN COALESCE(f.parent_seq, 0) ELSE NULLIF(f.parent_seq, 0) END, f.parent_id
  FROM run
  CROSS JOIN keepsake_message p ON p.memory_key = ? AND p.seq = run.up
  LEFT JOIN keepsake_message f ON f.memory_key = ? AND f.seq = p.run_start
    AND f.run_start = f.seq AND f.depth = p.depth - (p.seq - p.run_start)
    AND (p.seq = p.run_start
         OR EXISTS (SELECT 1 FROM keepsake_message b
                    WHERE b.memory_key = ? AND b.seq = p.seq - 1 AND b.run_start = p.run_start))
  WHERE run.low > ? AND p.seq < run.low AND p.depth = run.depth - 1 AND p.id = run.up_id
)
SELECT memory.*, run.low, run.high, run.up
FROM memory
LEFT JOIN run
-- values: [0, 0, 0, 0, 0, 0, 0, 1]
;
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
;
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
;
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
;
WITH RECURSIVE run (low, high, view_seq, covers_seq) AS (
  SELECT h.run_start, h.seq,
         (SELECT max(v.anchor_seq) FROM keepsake_view v
          WHERE v.memory_key = ? AND v.anchor_seq <= h.seq),
         (SELECT max(s.covers_seq) FROM keepsake_summary s
          WHERE s.memory_key = ? AND s.covers_seq <= h.seq)
  FROM keepsake_memory m
  JOIN keepsake_message h ON h.memory_key = ? AND h.seq = m.head_seq
  WHERE m.memory_key = ?
  UNION ALL
  SELECT p.run_start, p.seq,
         CASE WHEN run.view_seq >= run.low OR run.view_seq <= p.seq THEN run.view_seq ELSE
           (SELECT max(v.anchor_seq) FROM keepsake_view v
            WHERE v.memory_key = ? AND v.anchor_seq <= p.seq) END,
         CASE WHEN run.covers_seq >= run.low OR run.covers_seq <= p.seq THEN run.covers_seq ELSE
           (SELECT max(s.covers_seq) FROM keepsake_summary s
            WHERE s.memory_key = ? AND s.covers_seq <= p.seq) END
  FROM run
  CROSS JOIN LATERAL (
    SELECT f.parent_seq FROM keepsake_message f
    WHERE f.memory_key = ? AND f.seq = run.low
    LIMIT 1
  ) f
  CROSS JOIN LATERAL (
    SELECT p.seq, p.run_start FROM keepsake_message p
    WHERE p.memory_key = ? AND p.seq = f.parent_seq
    LIMIT 1
  ) p
  WHERE p.seq < run.high AND (run.view_seq < run.low OR run.covers_seq < run.low)
)
SELECT counted.view_seq, counted.covers_seq,
       m.head_view_seq IS NOT DISTINCT FROM counted.view_seq
         AND m.head_covers_seq IS NOT DISTINCT FROM counted.covers_seq
         AND m.head_runs IS NOT DISTINCT FROM
           (SELECT r.runs FROM keepsake_message r WHERE r.memory_key = ? AND r.seq = m.head_run_start)
         AS is_so
FROM keepsake_memory m
LEFT JOIN LATERAL (
  SELECT CASE WHEN view_seq >= low THEN view_seq END AS view_seq,
         CASE WHEN covers_seq >= low THEN covers_seq END AS covers_seq
  FROM run
  ORDER BY high
  LIMIT 1
) counted ON true
WHERE m.memory_key = ?
-- values: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
;
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
;
WITH memory AS (
  INSERT INTO keepsake_memory
    (memory_key, tenant, app_id, conversation_id, node_id, metadata, lists, epoch, revision, last_seq,
     tokens, created_at, stored_at, active_at, last_message_at, head_seq, head_run_start, head_depth,
     head_path_tokens, head_system_seq, head_user_seq, head_id)
  SELECT ?::bytea, ?::text, ?::text, ?::text, ?::text,
         ?::text, ?::bigint[], 1, 1, ?::bigint, ?::bigint,
         LEAST(?::bigint, (?::bigint[])[1]), ?, ?::bigint, ?, ?, 1, ?,
         ?, ?::bigint, ?::bigint, ?::text
  WHERE (SELECT max(x.seq) FROM keepsake_message x
         WHERE x.memory_key = ? AND x.seq <= 1152921504606846976) IS NULL
  ON CONFLICT (memory_key) DO NOTHING
  RETURNING memory_key, number, lists, active_at, prev_active_at, last_seq, head_id, epoch, revision
),
listed AS (
  INSERT INTO keepsake_listed (memory_key, list, place, number, tie)
  SELECT memory.memory_key, list.id * orders.sign, CASE WHEN orders.sign = 1 THEN memory.active_at ELSE 0 END,
         memory.number, ('x' || encode(substring(memory.memory_key FROM 17 FOR 8), 'hex'))::bit(64)::bigint
  FROM memory
  CROSS JOIN unnest(memory.lists) AS list (id)
  CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
  WHERE memory.prev_active_at IS NULL
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, message)
  SELECT memory.memory_key, new.place, NULLIF(new.place - 1, 0), new.created_at, 1, new.place,
         new.tokens_so_far, NULLIF(new.system_place, 0), NULLIF(new.user_place, 0), new.tokens, new.id,
         new.parent_id, new.token_counter, new.message
  FROM memory
  CROSS JOIN unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::integer[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
    WITH ORDINALITY AS new (id, parent_id, message, token_counter, tokens, tokens_so_far, created_at,
                            system_place, user_place, place)
)
SELECT last_seq, NULL::text AS prev_head_id, head_id, epoch, revision FROM memory
;
WITH memory AS (
  INSERT INTO keepsake_memory
    (memory_key, tenant, app_id, conversation_id, node_id, metadata, lists, epoch, revision, last_seq,
     tokens, created_at, stored_at, active_at, last_message_at, head_seq, head_run_start, head_depth,
     head_path_tokens, head_system_seq, head_user_seq, head_id)
  SELECT ?::bytea, ?::text, ?::text, ?::text, ?::text,
         ?::text, ?::bigint[], 1, 1, ?::bigint, ?::bigint,
         LEAST(?::bigint, (?::bigint[])[1]), ?, ?::bigint, ?, ?, 1, ?,
         ?, ?::bigint, ?::bigint, ?::text
  WHERE (SELECT max(x.seq) FROM keepsake_message x
         WHERE x.memory_key = ? AND x.seq <= 1152921504606846976) IS NULL
  ON CONFLICT (memory_key) DO NOTHING
  RETURNING memory_key, number, lists, active_at, prev_active_at, last_seq, head_id, epoch, revision
),
listed AS (
  INSERT INTO keepsake_listed (memory_key, list, place, number, tie)
  SELECT memory.memory_key, list.id * orders.sign, CASE WHEN orders.sign = 1 THEN memory.active_at ELSE 0 END,
         memory.number, ('x' || encode(substring(memory.memory_key FROM 17 FOR 8), 'hex'))::bit(64)::bigint
  FROM memory
  CROSS JOIN unnest(memory.lists) AS list (id)
  CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
  WHERE memory.prev_active_at IS NULL
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, message)
  SELECT memory.memory_key, new.place, NULLIF(new.place - 1, 0), new.created_at, 1, new.place,
         new.tokens_so_far, NULLIF(new.system_place, 0), NULLIF(new.user_place, 0), new.tokens, new.id,
         new.parent_id, new.token_counter, new.message
  FROM memory
  CROSS JOIN unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::integer[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
    WITH ORDINALITY AS new (id, parent_id, message, token_counter, tokens, tokens_so_far, created_at,
                            system_place, user_place, place)
)
SELECT last_seq, NULL::text AS prev_head_id, head_id, epoch, revision FROM memory
-- values: [0, 1, 2, 3, 4, 5, 6, 13, 9, 7, 20, 7, 10, 10, 13, 13, 9, 11, 12, 8, 0, 14, 15, 16, 17, 18, 19, 20, 21, 22]
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET last_seq = m.last_seq + 1,
      tokens = m.tokens + ?,
      last_message_at = GREATEST(m.last_message_at, ?),
      prev_head_seq = m.head_seq,
      prev_head_id = m.head_id,
      head_seq = m.last_seq + 1,
      head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
      head_depth = m.head_depth + 1,
      head_path_tokens = m.head_path_tokens + ?,
      head_system_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_system_seq END,
      head_user_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_user_seq END
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
  RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_id, m.head_run_start, m.head_depth,
            m.head_path_tokens, m.head_system_seq, m.head_user_seq, m.prev_head_seq, m.prev_head_id,
            m.lists, m.number, m.active_at, m.prev_active_at,
            CASE WHEN m.head_run_start = m.last_seq THEN m.head_runs END AS runs
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, runs, message)
  SELECT memory_key, last_seq, prev_head_seq, ?, head_run_start, head_depth, head_path_tokens,
         head_system_seq, head_user_seq, ?, head_id, prev_head_id, ?, runs, ?
  FROM memory
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET last_seq = m.last_seq + 1,
      tokens = m.tokens + ?,
      last_message_at = GREATEST(m.last_message_at, ?),
      prev_head_seq = m.head_seq,
      prev_head_id = m.head_id,
      head_seq = m.last_seq + 1,
      head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
      head_depth = m.head_depth + 1,
      head_path_tokens = m.head_path_tokens + ?,
      head_system_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_system_seq END,
      head_user_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_user_seq END
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
  RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_id, m.head_run_start, m.head_depth,
            m.head_path_tokens, m.head_system_seq, m.head_user_seq, m.prev_head_seq, m.prev_head_id,
            m.lists, m.number, m.active_at, m.prev_active_at,
            CASE WHEN m.head_run_start = m.last_seq THEN m.head_runs END AS runs
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, runs, message)
  SELECT memory_key, last_seq, prev_head_seq, ?, head_run_start, head_depth, head_path_tokens,
         head_system_seq, head_user_seq, ?, head_id, prev_head_id, ?, runs, ?
  FROM memory
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
-- values: [6, 7, 5, 7, 0, 7, 6, 8, 9, 0, 1, 2, 3, 4, 0, 0, 7, 6, 10, 11, 0]
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET last_seq = m.last_seq + 1,
      tokens = m.tokens + ?,
      last_message_at = GREATEST(m.last_message_at, ?),
      prev_head_seq = m.head_seq,
      prev_head_id = m.head_id,
      head_seq = m.last_seq + 1,
      head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
      head_depth = m.head_depth + 1,
      head_path_tokens = m.head_path_tokens + ?,
      head_system_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_system_seq END,
      head_user_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_user_seq END
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
  RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_id, m.head_run_start, m.head_depth,
            m.head_path_tokens, m.head_system_seq, m.head_user_seq, m.prev_head_seq, m.prev_head_id,
            m.lists, m.number, m.active_at, m.prev_active_at,
            CASE WHEN m.head_run_start = m.last_seq THEN m.head_runs END AS runs
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, runs, message, outcome, made, request)
  SELECT memory_key, last_seq, prev_head_seq, ?, head_run_start, head_depth, head_path_tokens,
         head_system_seq, head_user_seq, ?, head_id, prev_head_id, ?, runs, ?, ?::text, ?::text, ?::text
  FROM memory
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET last_seq = m.last_seq + 1,
      tokens = m.tokens + ?,
      last_message_at = GREATEST(m.last_message_at, ?),
      prev_head_seq = m.head_seq,
      prev_head_id = m.head_id,
      head_seq = m.last_seq + 1,
      head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
      head_depth = m.head_depth + 1,
      head_path_tokens = m.head_path_tokens + ?,
      head_system_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_system_seq END,
      head_user_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_user_seq END
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
  RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_id, m.head_run_start, m.head_depth,
            m.head_path_tokens, m.head_system_seq, m.head_user_seq, m.prev_head_seq, m.prev_head_id,
            m.lists, m.number, m.active_at, m.prev_active_at,
            CASE WHEN m.head_run_start = m.last_seq THEN m.head_runs END AS runs
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, runs, message, outcome, made, request)
  SELECT memory_key, last_seq, prev_head_seq, ?, head_run_start, head_depth, head_path_tokens,
         head_system_seq, head_user_seq, ?, head_id, prev_head_id, ?, runs, ?, ?::text, ?::text, ?::text
  FROM memory
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
-- values: [6, 7, 5, 7, 0, 7, 6, 8, 9, 0, 1, 2, 3, 4, 0, 0, 7, 6, 10, 11, 12, 13, 14, 0]
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET last_seq = m.last_seq + 1,
      tokens = m.tokens + ?,
      last_message_at = GREATEST(m.last_message_at, ?),
      prev_head_seq = m.head_seq,
      prev_head_id = m.head_id,
      head_seq = m.last_seq + 1,
      head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
      head_depth = m.head_depth + 1,
      head_path_tokens = m.head_path_tokens + ?,
      head_system_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_system_seq END,
      head_user_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_user_seq END
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
  RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_id, m.head_run_start, m.head_depth,
            m.head_path_tokens, m.head_system_seq, m.head_user_seq, m.prev_head_seq, m.prev_head_id,
            m.lists, m.number, m.active_at, m.prev_active_at,
            CASE WHEN m.head_run_start = m.last_seq THEN m.head_runs END AS runs
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, runs, message, outcome, made, request)
  SELECT memory_key, last_seq, prev_head_seq, ?, head_run_start, head_depth, head_path_tokens,
         head_system_seq, head_user_seq, ?, head_id, prev_head_id, ?, runs, ?, ?::text, ?::text, ?::text
  FROM memory
)
, sums AS (
  INSERT INTO keepsake_usage AS u (memory_key, day, tenant, input_tokens, output_tokens, cached_tokens)
  SELECT memory.memory_key, ?::bigint, ?::text, ?::bigint, ?::bigint, ?::bigint
  FROM memory
  ON CONFLICT (memory_key, day) DO UPDATE
    SET input_tokens = u.input_tokens + excluded.input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens,
        cached_tokens = u.cached_tokens + excluded.cached_tokens
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET last_seq = m.last_seq + 1,
      tokens = m.tokens + ?,
      last_message_at = GREATEST(m.last_message_at, ?),
      prev_head_seq = m.head_seq,
      prev_head_id = m.head_id,
      head_seq = m.last_seq + 1,
      head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
      head_depth = m.head_depth + 1,
      head_path_tokens = m.head_path_tokens + ?,
      head_system_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_system_seq END,
      head_user_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_user_seq END
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
  RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_id, m.head_run_start, m.head_depth,
            m.head_path_tokens, m.head_system_seq, m.head_user_seq, m.prev_head_seq, m.prev_head_id,
            m.lists, m.number, m.active_at, m.prev_active_at,
            CASE WHEN m.head_run_start = m.last_seq THEN m.head_runs END AS runs
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, runs, message, outcome, made, request)
  SELECT memory_key, last_seq, prev_head_seq, ?, head_run_start, head_depth, head_path_tokens,
         head_system_seq, head_user_seq, ?, head_id, prev_head_id, ?, runs, ?, ?::text, ?::text, ?::text
  FROM memory
)
, sums AS (
  INSERT INTO keepsake_usage AS u (memory_key, day, tenant, input_tokens, output_tokens, cached_tokens)
  SELECT memory.memory_key, ?::bigint, ?::text, ?::bigint, ?::bigint, ?::bigint
  FROM memory
  ON CONFLICT (memory_key, day) DO UPDATE
    SET input_tokens = u.input_tokens + excluded.input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens,
        cached_tokens = u.cached_tokens + excluded.cached_tokens
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
-- values: [6, 7, 5, 7, 0, 7, 6, 8, 9, 0, 1, 2, 3, 4, 0, 0, 7, 6, 10, 11, 12, 13, 14, 15, 19, 16, 17, 18, 0]
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET last_seq = m.last_seq + ?,
      tokens = m.tokens + ?,
      last_message_at = GREATEST(m.last_message_at, ?),
      prev_head_seq = m.head_seq,
      prev_system_seq = m.head_system_seq,
      prev_user_seq = m.head_user_seq,
      prev_head_id = m.head_id,
      head_seq = m.last_seq + ?,
      head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
      head_depth = m.head_depth + ?,
      head_path_tokens = m.head_path_tokens + ?,
      head_system_seq = COALESCE(m.last_seq + ?::bigint, m.head_system_seq),
      head_user_seq = COALESCE(m.last_seq + ?::bigint, m.head_user_seq)
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
  RETURNING m.memory_key, m.epoch, m.revision, m.last_seq - ? AS behind, m.last_seq, m.head_id,
            m.head_run_start, m.head_depth - ? AS depth, m.head_path_tokens - ? AS path_tokens,
            m.prev_head_seq, m.prev_head_id, m.prev_system_seq, m.prev_user_seq,
            m.lists, m.number, m.active_at, m.prev_active_at,
            CASE WHEN m.head_run_start = m.last_seq - ? + 1 THEN m.head_runs END AS runs
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
  CROSS JOIN unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::integer[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
    WITH ORDINALITY AS new (id, parent_id, message, token_counter, tokens, tokens_so_far, created_at,
                            system_place, user_place, place)
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET last_seq = m.last_seq + ?,
      tokens = m.tokens + ?,
      last_message_at = GREATEST(m.last_message_at, ?),
      prev_head_seq = m.head_seq,
      prev_system_seq = m.head_system_seq,
      prev_user_seq = m.head_user_seq,
      prev_head_id = m.head_id,
      head_seq = m.last_seq + ?,
      head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
      head_depth = m.head_depth + ?,
      head_path_tokens = m.head_path_tokens + ?,
      head_system_seq = COALESCE(m.last_seq + ?::bigint, m.head_system_seq),
      head_user_seq = COALESCE(m.last_seq + ?::bigint, m.head_user_seq)
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
  RETURNING m.memory_key, m.epoch, m.revision, m.last_seq - ? AS behind, m.last_seq, m.head_id,
            m.head_run_start, m.head_depth - ? AS depth, m.head_path_tokens - ? AS path_tokens,
            m.prev_head_seq, m.prev_head_id, m.prev_system_seq, m.prev_user_seq,
            m.lists, m.number, m.active_at, m.prev_active_at,
            CASE WHEN m.head_run_start = m.last_seq - ? + 1 THEN m.head_runs END AS runs
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
  CROSS JOIN unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::integer[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
    WITH ORDINALITY AS new (id, parent_id, message, token_counter, tokens, tokens_so_far, created_at,
                            system_place, user_place, place)
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
-- values: [10, 6, 7, 10, 5, 7, 0, 7, 10, 6, 8, 9, 0, 1, 2, 3, 4, 0, 0, 10, 10, 6, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0]
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET last_seq = m.last_seq + ?,
      tokens = m.tokens + ?,
      last_message_at = GREATEST(m.last_message_at, ?),
      prev_head_seq = m.head_seq,
      prev_system_seq = m.head_system_seq,
      prev_user_seq = m.head_user_seq,
      prev_head_id = m.head_id,
      head_seq = m.last_seq + ?,
      head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
      head_depth = m.head_depth + ?,
      head_path_tokens = m.head_path_tokens + ?,
      head_system_seq = COALESCE(m.last_seq + ?::bigint, m.head_system_seq),
      head_user_seq = COALESCE(m.last_seq + ?::bigint, m.head_user_seq)
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
  RETURNING m.memory_key, m.epoch, m.revision, m.last_seq - ? AS behind, m.last_seq, m.head_id,
            m.head_run_start, m.head_depth - ? AS depth, m.head_path_tokens - ? AS path_tokens,
            m.prev_head_seq, m.prev_head_id, m.prev_system_seq, m.prev_user_seq,
            m.lists, m.number, m.active_at, m.prev_active_at,
            CASE WHEN m.head_run_start = m.last_seq - ? + 1 THEN m.head_runs END AS runs
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, runs, message, outcome, made, request)
  SELECT memory.memory_key, behind + place, CASE WHEN place = 1 THEN prev_head_seq ELSE behind + place - 1 END,
         new.created_at, head_run_start, depth + place, path_tokens + new.tokens_so_far,
         CASE WHEN new.system_place > 0 THEN behind + new.system_place ELSE prev_system_seq END,
         CASE WHEN new.user_place > 0 THEN behind + new.user_place ELSE prev_user_seq END,
         new.tokens, new.id, COALESCE(new.parent_id, prev_head_id), new.token_counter,
         CASE WHEN place = 1 THEN runs END, new.message, new.outcome, new.made, new.request
  FROM memory
  CROSS JOIN unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::integer[],
                    ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::text[])
    WITH ORDINALITY AS new (id, parent_id, message, token_counter, tokens, tokens_so_far, created_at,
                            system_place, user_place, outcome, made, request, place)
)
, sums AS (
  INSERT INTO keepsake_usage AS u (memory_key, day, tenant, input_tokens, output_tokens, cached_tokens)
  SELECT memory.memory_key, used.day, ?::text, used.input, used.output, used.cached
  FROM memory
  CROSS JOIN unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
    AS used (day, input, output, cached)
  ON CONFLICT (memory_key, day) DO UPDATE
    SET input_tokens = u.input_tokens + excluded.input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens,
        cached_tokens = u.cached_tokens + excluded.cached_tokens
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
-- values: [10, 6, 7, 10, 5, 7, 0, 7, 10, 6, 8, 9, 0, 1, 2, 3, 4, 0, 0, 10, 10, 6, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 23, 24, 25, 26, 0]
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET revision = m.revision + 1
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND EXISTS (SELECT FROM keepsake_message n
                WHERE n.memory_key = ? AND n.id = ?::text
                  AND n.outcome IS DISTINCT FROM ?::text)
  RETURNING m.memory_key
),
changed AS (
  UPDATE keepsake_message n
  SET outcome = ?::text
  FROM memory
  WHERE n.memory_key = ? AND n.id = ?::text
  RETURNING n.seq
)
SELECT (SELECT count(*) FROM changed) AS changed,
       (SELECT s.epoch FROM keepsake_memory s WHERE s.memory_key = ?) AS epoch,
       EXISTS (SELECT FROM keepsake_message o WHERE o.memory_key = ? AND o.id = ?::text) AS there,
       (SELECT o.outcome FROM keepsake_message o
        WHERE o.memory_key = ? AND o.id = ?::text) AS outcome
-- values: [0, 1, 0, 2, 3, 3, 0, 2, 0, 0, 2, 0, 2]
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET revision = m.revision + 1,
      last_seq = m.last_seq + 1,
      tokens = m.tokens + ?,
      last_message_at = GREATEST(m.last_message_at, ?),
      prev_head_seq = m.head_seq,
      prev_head_id = m.head_id,
      head_seq = m.last_seq + 1,
      head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
      head_depth = m.head_depth + 1,
      head_path_tokens = m.head_path_tokens + ?,
      head_system_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_system_seq END,
      head_user_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_user_seq END,
      head_view_seq = m.last_seq + 1
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
    AND m.epoch = (SELECT s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
    AND (SELECT count(*) FROM unnest(?::text[]) named (id)
         CROSS JOIN LATERAL (
           SELECT FROM keepsake_message n
           WHERE n.memory_key = ? AND n.id BETWEEN named.id AND named.id
           ORDER BY n.id
           LIMIT 1
         ) n) = cardinality(?::text[])
  RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_id, m.head_run_start, m.head_depth,
            m.head_path_tokens, m.head_system_seq, m.head_user_seq, m.prev_head_seq, m.prev_head_id,
            m.lists, m.number, m.active_at, m.prev_active_at,
            CASE WHEN m.head_run_start = m.last_seq THEN m.head_runs END AS runs
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, runs, message)
  SELECT memory_key, last_seq, prev_head_seq, ?, head_run_start, head_depth, head_path_tokens,
         head_system_seq, head_user_seq, ?, head_id, prev_head_id, ?, runs, ?
  FROM memory
),
viewed AS (
  INSERT INTO keepsake_view (memory_key, anchor_seq, anchor_id, view)
  SELECT memory_key, last_seq, head_id,
         replace(?, ':"00000000-0000-0000-0000-000000000000"', ':' || to_json(prev_head_id)::text)
  FROM memory
  ON CONFLICT (memory_key, anchor_seq) DO UPDATE SET anchor_id = excluded.anchor_id, view = excluded.view
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
;
WITH memory AS (
  UPDATE keepsake_memory m
  SET revision = m.revision + 1,
      last_seq = m.last_seq + 1,
      tokens = m.tokens + ?,
      last_message_at = GREATEST(m.last_message_at, ?),
      prev_head_seq = m.head_seq,
      prev_head_id = m.head_id,
      head_seq = m.last_seq + 1,
      head_id = ?,
      prev_active_at = m.active_at,
      active_at = CASE
        WHEN m.active_at / 60000000 < ? / 60000000
          AND (m.active_at, m.epoch)
            = (SELECT s.active_at, s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
        THEN ? ELSE m.active_at END,
      head_run_start = CASE WHEN m.head_seq = m.last_seq THEN m.head_run_start ELSE m.last_seq + 1 END,
      head_runs = CASE WHEN m.head_seq = m.last_seq THEN m.head_runs
        ELSE (ARRAY[m.head_run_start, m.head_seq, m.head_seq - m.head_depth] || m.head_runs)[1:24] END,
      head_depth = m.head_depth + 1,
      head_path_tokens = m.head_path_tokens + ?,
      head_system_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_system_seq END,
      head_user_seq = CASE WHEN ? THEN m.last_seq + 1 ELSE m.head_user_seq END,
      head_view_seq = m.last_seq + 1
  WHERE m.memory_key = ? AND m.tenant IS NOT NULL AND m.head_seq IS NOT NULL
    AND m.last_seq < 1152921504606846976
    AND m.epoch = COALESCE(?::bigint, m.epoch)
    AND m.revision = COALESCE(?::bigint, m.revision)
    AND (? OR m.head_id = ?::text)
    AND (EXISTS (SELECT FROM keepsake_message h
                 WHERE h.memory_key = ? AND h.seq = m.head_seq AND h.id = m.head_id
                   AND (h.run_start, h.depth, h.path_tokens)
                     = (m.head_run_start, m.head_depth, m.head_path_tokens)
                   AND h.system_seq IS NOT DISTINCT FROM m.head_system_seq
                   AND h.user_seq IS NOT DISTINCT FROM m.head_user_seq)
         OR m.last_seq <> (SELECT s.last_seq FROM keepsake_memory s WHERE s.memory_key = ?))
    AND m.epoch = (SELECT s.epoch FROM keepsake_memory s WHERE s.memory_key = ?)
    AND (SELECT count(*) FROM unnest(?::text[]) named (id)
         CROSS JOIN LATERAL (
           SELECT FROM keepsake_message n
           WHERE n.memory_key = ? AND n.id BETWEEN named.id AND named.id
           ORDER BY n.id
           LIMIT 1
         ) n) = cardinality(?::text[])
  RETURNING m.memory_key, m.epoch, m.revision, m.last_seq, m.head_id, m.head_run_start, m.head_depth,
            m.head_path_tokens, m.head_system_seq, m.head_user_seq, m.prev_head_seq, m.prev_head_id,
            m.lists, m.number, m.active_at, m.prev_active_at,
            CASE WHEN m.head_run_start = m.last_seq THEN m.head_runs END AS runs
),
written AS (
  INSERT INTO keepsake_message
    (memory_key, seq, parent_seq, created_at, run_start, depth, path_tokens, system_seq, user_seq, tokens,
     id, parent_id, token_counter, runs, message)
  SELECT memory_key, last_seq, prev_head_seq, ?, head_run_start, head_depth, head_path_tokens,
         head_system_seq, head_user_seq, ?, head_id, prev_head_id, ?, runs, ?
  FROM memory
),
viewed AS (
  INSERT INTO keepsake_view (memory_key, anchor_seq, anchor_id, view)
  SELECT memory_key, last_seq, head_id,
         replace(?, ':"00000000-0000-0000-0000-000000000000"', ':' || to_json(prev_head_id)::text)
  FROM memory
  ON CONFLICT (memory_key, anchor_seq) DO UPDATE SET anchor_id = excluded.anchor_id, view = excluded.view
)
, moved AS (
  UPDATE keepsake_listed l
  SET place = memory.active_at
  FROM memory
  WHERE memory.active_at <> memory.prev_active_at AND l.memory_key = ?
    AND l.list = ANY (memory.lists) AND l.place = memory.prev_active_at AND l.number = memory.number
)
SELECT last_seq, prev_head_id, head_id, epoch, revision FROM memory
-- values: [6, 7, 5, 7, 0, 7, 6, 8, 9, 0, 1, 2, 3, 4, 0, 0, 0, 13, 0, 13, 7, 6, 10, 11, 12, 0]
;

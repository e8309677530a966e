-- OLDEST
(SELECT n.kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place,
CASE WHEN n.kind = 2 AND n.seq < m.head_seq THEN NULL ELSE
       concat(false, ',', m.epoch, ',', m.revision, ',', m.head_seq, ',', m.head_system_seq, ',', m.head_user_seq, ',',
              m.head_view_seq, ',', m.head_covers_seq, ',', m.head_id) END AS memory
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
LEFT JOIN LATERAL (
  (SELECT 2 AS kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
          CASE WHEN n.run_start = m.head_run_start AND n.seq - n.depth = m.head_seq - m.head_depth
                 AND (n.seq < m.head_seq
                      OR (n.id = m.head_id AND n.system_seq IS NOT DISTINCT FROM m.head_system_seq
                          AND n.user_seq IS NOT DISTINCT FROM m.head_user_seq))
                 AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
            THEN m.head_path_tokens - n.path_tokens END AS place
   FROM keepsake_message n
   WHERE n.memory_key = ?
     AND n.seq BETWEEN GREATEST(m.head_run_start, m.head_seq - ? + 1) AND m.head_seq
     AND m.head_path_tokens - n.path_tokens < ?
   ORDER BY n.seq DESC)
) n ON true
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
         THEN branch.path_tokens - n.path_tokens END AS place, NULL::text AS memory
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
-- values: [0, 0, 1, 3, 0, 5, 4, 0, 0, 4, 0, 0, 0, 0, 9, 9, 8, 3]
;
-- ORPHANS
SELECT n.kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place,
CASE WHEN n.kind = 2 AND n.seq < m.head_seq THEN NULL ELSE
       concat(CASE WHEN m.head_seq IS NULL THEN
         (SELECT max(x.seq) FROM keepsake_message x
          WHERE x.memory_key = ? AND x.seq <= 1152921504606846976) > COALESCE(m.last_seq, 0) END, ',', m.epoch, ',', m.revision, ',', m.head_seq, ',', m.head_system_seq, ',', m.head_user_seq, ',',
              m.head_view_seq, ',', m.head_covers_seq, ',', m.head_id) END AS memory
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
LEFT JOIN LATERAL (
  (SELECT 2 AS kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
          CASE WHEN n.run_start = m.head_run_start AND n.seq - n.depth = m.head_seq - m.head_depth
                 AND (n.seq < m.head_seq
                      OR (n.id = m.head_id AND n.system_seq IS NOT DISTINCT FROM m.head_system_seq
                          AND n.user_seq IS NOT DISTINCT FROM m.head_user_seq))
                 AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
            THEN m.head_path_tokens - n.path_tokens END AS place
   FROM keepsake_message n
   WHERE n.memory_key = ?
     AND n.seq BETWEEN GREATEST(m.head_run_start, m.head_seq - ? + 1) AND m.head_seq
     AND m.head_path_tokens - n.path_tokens < ?
   ORDER BY n.seq DESC)
) n ON true
-- values: [0, 0, 0, 1, 3]
;
-- ORPHANS+RUNS+SYSTEM+USER+VIEW+SUMMARY+OLDEST
(SELECT n.kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place,
CASE WHEN n.kind = 2 AND n.seq < m.head_seq THEN NULL ELSE
       concat(CASE WHEN m.head_seq IS NULL THEN
         (SELECT max(x.seq) FROM keepsake_message x
          WHERE x.memory_key = ? AND x.seq <= 1152921504606846976) > COALESCE(m.last_seq, 0) END, ',', m.epoch, ',', m.revision, ',', m.head_seq, ',', m.head_system_seq, ',', m.head_user_seq, ',',
              m.head_view_seq, ',', m.head_covers_seq, ',', m.head_id) END AS memory
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
LEFT JOIN LATERAL (
  (SELECT 2 AS kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
          CASE WHEN n.run_start = m.head_run_start AND n.seq - n.depth = m.head_seq - m.head_depth
                 AND (n.seq < m.head_seq
                      OR (n.id = m.head_id AND n.system_seq IS NOT DISTINCT FROM m.head_system_seq
                          AND n.user_seq IS NOT DISTINCT FROM m.head_user_seq))
                 AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
            THEN m.head_path_tokens - n.path_tokens END AS place
   FROM keepsake_message n
   WHERE n.memory_key = ?
     AND n.seq BETWEEN GREATEST(m.head_run_start, m.head_seq - ? + 1, m.head_covers_seq + 1) AND m.head_seq
     AND m.head_path_tokens - n.path_tokens < ?
   ORDER BY n.seq DESC)
  UNION ALL
  (SELECT 2, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place
   FROM (VALUES (1), (4), (7), (10), (13), (16), (19), (22)) run (i)
   CROSS JOIN LATERAL (
     SELECT n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
            CASE WHEN n.run_start = m.head_runs[run.i] AND n.seq - n.depth = m.head_runs[run.i + 2] AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
              THEN m.head_path_tokens - n.path_tokens END AS place
     FROM keepsake_message n
     WHERE n.memory_key = ?
       AND n.seq BETWEEN GREATEST(m.head_runs[run.i], m.head_depth - ? + m.head_runs[run.i + 2] + 1, m.head_covers_seq + 1)
                     AND m.head_runs[run.i + 1]
       AND m.head_path_tokens - n.path_tokens < ?
     ORDER BY n.seq DESC) n
   WHERE m.head_runs[run.i + 1] - m.head_runs[run.i + 2] > m.head_depth - ?)
  UNION ALL
  (SELECT 3, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, NULL
   FROM keepsake_message n
   WHERE n.memory_key = ? AND n.seq BETWEEN m.head_system_seq AND m.head_system_seq
     AND (n.seq < GREATEST(m.head_run_start, m.head_seq - ? + 1, m.head_covers_seq + 1)
          OR m.head_path_tokens - n.path_tokens >= ?)
   ORDER BY n.seq DESC)
  UNION ALL
  (SELECT 3, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, NULL
   FROM keepsake_message n
   WHERE n.memory_key = ? AND n.seq BETWEEN m.head_user_seq AND m.head_user_seq
     AND (n.seq < GREATEST(m.head_run_start, m.head_seq - ? + 1, m.head_covers_seq + 1)
          OR m.head_path_tokens - n.path_tokens >= ?)
   ORDER BY n.seq DESC)
  UNION ALL
  SELECT 4, v.anchor_seq, v.anchor_id, NULL, NULL, v.view, NULL, NULL, NULL, NULL, NULL
  FROM keepsake_view v
  WHERE v.memory_key = ? AND v.anchor_seq = m.head_view_seq AND v.anchor_seq >= ?
  UNION ALL
  (SELECT 5, s.covers_seq, s.covers_id, s.model, s.replaced_messages, s.text, s.tokens, s.token_counter,
          s.created_at, s.version::text, s.replaced_tokens
   FROM keepsake_summary s
   WHERE s.memory_key = ? AND s.covers_seq = m.head_covers_seq
     AND s.covers_seq >= ? AND s.version >= ?
   ORDER BY s.version DESC
   LIMIT 1)
) n ON true
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
         THEN branch.path_tokens - n.path_tokens END AS place, NULL::text AS memory
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
-- values: [0, 0, 0, 1, 3, 0, 1, 3, 1, 0, 1, 3, 0, 2, 3, 0, 10, 0, 10, 10, 0, 5, 4, 0, 0, 4, 0, 0, 0, 0, 9, 9, 8, 3]
;
-- RUNS
SELECT n.kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place,
CASE WHEN n.kind = 2 AND n.seq < m.head_seq THEN NULL ELSE
       concat(false, ',', m.epoch, ',', m.revision, ',', m.head_seq, ',', m.head_system_seq, ',', m.head_user_seq, ',',
              m.head_view_seq, ',', m.head_covers_seq, ',', m.head_id) END AS memory
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
LEFT JOIN LATERAL (
  (SELECT 2 AS kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
          CASE WHEN n.run_start = m.head_run_start AND n.seq - n.depth = m.head_seq - m.head_depth
                 AND (n.seq < m.head_seq
                      OR (n.id = m.head_id AND n.system_seq IS NOT DISTINCT FROM m.head_system_seq
                          AND n.user_seq IS NOT DISTINCT FROM m.head_user_seq))
                 AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
            THEN m.head_path_tokens - n.path_tokens END AS place
   FROM keepsake_message n
   WHERE n.memory_key = ?
     AND n.seq BETWEEN GREATEST(m.head_run_start, m.head_seq - ? + 1) AND m.head_seq
     AND m.head_path_tokens - n.path_tokens < ?
   ORDER BY n.seq DESC)
  UNION ALL
  (SELECT 2, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place
   FROM (VALUES (1), (4), (7), (10), (13), (16), (19), (22)) run (i)
   CROSS JOIN LATERAL (
     SELECT n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
            CASE WHEN n.run_start = m.head_runs[run.i] AND n.seq - n.depth = m.head_runs[run.i + 2] AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
              THEN m.head_path_tokens - n.path_tokens END AS place
     FROM keepsake_message n
     WHERE n.memory_key = ?
       AND n.seq BETWEEN GREATEST(m.head_runs[run.i], m.head_depth - ? + m.head_runs[run.i + 2] + 1)
                     AND m.head_runs[run.i + 1]
       AND m.head_path_tokens - n.path_tokens < ?
     ORDER BY n.seq DESC) n
   WHERE m.head_runs[run.i + 1] - m.head_runs[run.i + 2] > m.head_depth - ?)
) n ON true
-- values: [0, 0, 1, 3, 0, 1, 3, 1]
;
-- SUMMARY
SELECT n.kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place,
CASE WHEN n.kind = 2 AND n.seq < m.head_seq THEN NULL ELSE
       concat(false, ',', m.epoch, ',', m.revision, ',', m.head_seq, ',', m.head_system_seq, ',', m.head_user_seq, ',',
              m.head_view_seq, ',', m.head_covers_seq, ',', m.head_id) END AS memory
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
LEFT JOIN LATERAL (
  (SELECT 2 AS kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
          CASE WHEN n.run_start = m.head_run_start AND n.seq - n.depth = m.head_seq - m.head_depth
                 AND (n.seq < m.head_seq
                      OR (n.id = m.head_id AND n.system_seq IS NOT DISTINCT FROM m.head_system_seq
                          AND n.user_seq IS NOT DISTINCT FROM m.head_user_seq))
                 AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
            THEN m.head_path_tokens - n.path_tokens END AS place
   FROM keepsake_message n
   WHERE n.memory_key = ?
     AND n.seq BETWEEN GREATEST(m.head_run_start, m.head_seq - ? + 1, m.head_covers_seq + 1) AND m.head_seq
     AND m.head_path_tokens - n.path_tokens < ?
   ORDER BY n.seq DESC)
  UNION ALL
  (SELECT 5, s.covers_seq, s.covers_id, s.model, s.replaced_messages, s.text, s.tokens, s.token_counter,
          s.created_at, s.version::text, s.replaced_tokens
   FROM keepsake_summary s
   WHERE s.memory_key = ? AND s.covers_seq = m.head_covers_seq
     AND s.covers_seq >= ? AND s.version >= ?
   ORDER BY s.version DESC
   LIMIT 1)
) n ON true
-- values: [0, 0, 1, 3, 0, 10, 10]
;
-- SYSTEM
SELECT n.kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place,
CASE WHEN n.kind = 2 AND n.seq < m.head_seq THEN NULL ELSE
       concat(false, ',', m.epoch, ',', m.revision, ',', m.head_seq, ',', m.head_system_seq, ',', m.head_user_seq, ',',
              m.head_view_seq, ',', m.head_covers_seq, ',', m.head_id) END AS memory
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
LEFT JOIN LATERAL (
  (SELECT 2 AS kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
          CASE WHEN n.run_start = m.head_run_start AND n.seq - n.depth = m.head_seq - m.head_depth
                 AND (n.seq < m.head_seq
                      OR (n.id = m.head_id AND n.system_seq IS NOT DISTINCT FROM m.head_system_seq
                          AND n.user_seq IS NOT DISTINCT FROM m.head_user_seq))
                 AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
            THEN m.head_path_tokens - n.path_tokens END AS place
   FROM keepsake_message n
   WHERE n.memory_key = ?
     AND n.seq BETWEEN GREATEST(m.head_run_start, m.head_seq - ? + 1) AND m.head_seq
     AND m.head_path_tokens - n.path_tokens < ?
   ORDER BY n.seq DESC)
  UNION ALL
  (SELECT 3, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, NULL
   FROM keepsake_message n
   WHERE n.memory_key = ? AND n.seq BETWEEN m.head_system_seq AND m.head_system_seq
     AND (n.seq < GREATEST(m.head_run_start, m.head_seq - ? + 1)
          OR m.head_path_tokens - n.path_tokens >= ?)
   ORDER BY n.seq DESC)
) n ON true
-- values: [0, 0, 1, 3, 0, 1, 3]
;
-- USER
SELECT n.kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place,
CASE WHEN n.kind = 2 AND n.seq < m.head_seq THEN NULL ELSE
       concat(false, ',', m.epoch, ',', m.revision, ',', m.head_seq, ',', m.head_system_seq, ',', m.head_user_seq, ',',
              m.head_view_seq, ',', m.head_covers_seq, ',', m.head_id) END AS memory
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
LEFT JOIN LATERAL (
  (SELECT 2 AS kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
          CASE WHEN n.run_start = m.head_run_start AND n.seq - n.depth = m.head_seq - m.head_depth
                 AND (n.seq < m.head_seq
                      OR (n.id = m.head_id AND n.system_seq IS NOT DISTINCT FROM m.head_system_seq
                          AND n.user_seq IS NOT DISTINCT FROM m.head_user_seq))
                 AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
            THEN m.head_path_tokens - n.path_tokens END AS place
   FROM keepsake_message n
   WHERE n.memory_key = ?
     AND n.seq BETWEEN GREATEST(m.head_run_start, m.head_seq - ? + 1) AND m.head_seq
     AND m.head_path_tokens - n.path_tokens < ?
   ORDER BY n.seq DESC)
  UNION ALL
  (SELECT 3, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, NULL
   FROM keepsake_message n
   WHERE n.memory_key = ? AND n.seq BETWEEN m.head_user_seq AND m.head_user_seq
     AND (n.seq < GREATEST(m.head_run_start, m.head_seq - ? + 1)
          OR m.head_path_tokens - n.path_tokens >= ?)
   ORDER BY n.seq DESC)
) n ON true
-- values: [0, 0, 1, 3, 0, 2, 3]
;
-- VIEW
SELECT n.kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place,
CASE WHEN n.kind = 2 AND n.seq < m.head_seq THEN NULL ELSE
       concat(false, ',', m.epoch, ',', m.revision, ',', m.head_seq, ',', m.head_system_seq, ',', m.head_user_seq, ',',
              m.head_view_seq, ',', m.head_covers_seq, ',', m.head_id) END AS memory
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
LEFT JOIN LATERAL (
  (SELECT 2 AS kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
          CASE WHEN n.run_start = m.head_run_start AND n.seq - n.depth = m.head_seq - m.head_depth
                 AND (n.seq < m.head_seq
                      OR (n.id = m.head_id AND n.system_seq IS NOT DISTINCT FROM m.head_system_seq
                          AND n.user_seq IS NOT DISTINCT FROM m.head_user_seq))
                 AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
            THEN m.head_path_tokens - n.path_tokens END AS place
   FROM keepsake_message n
   WHERE n.memory_key = ?
     AND n.seq BETWEEN GREATEST(m.head_run_start, m.head_seq - ? + 1) AND m.head_seq
     AND m.head_path_tokens - n.path_tokens < ?
   ORDER BY n.seq DESC)
  UNION ALL
  SELECT 4, v.anchor_seq, v.anchor_id, NULL, NULL, v.view, NULL, NULL, NULL, NULL, NULL
  FROM keepsake_view v
  WHERE v.memory_key = ? AND v.anchor_seq = m.head_view_seq AND v.anchor_seq >= ?
) n ON true
-- values: [0, 0, 1, 3, 0, 10]
;
-- none
SELECT n.kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome, n.place,
CASE WHEN n.kind = 2 AND n.seq < m.head_seq THEN NULL ELSE
       concat(false, ',', m.epoch, ',', m.revision, ',', m.head_seq, ',', m.head_system_seq, ',', m.head_user_seq, ',',
              m.head_view_seq, ',', m.head_covers_seq, ',', m.head_id) END AS memory
FROM (SELECT 1) one
LEFT JOIN keepsake_memory m ON m.memory_key = ?
LEFT JOIN LATERAL (
  (SELECT 2 AS kind, n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome,
          CASE WHEN n.run_start = m.head_run_start AND n.seq - n.depth = m.head_seq - m.head_depth
                 AND (n.seq < m.head_seq
                      OR (n.id = m.head_id AND n.system_seq IS NOT DISTINCT FROM m.head_system_seq
                          AND n.user_seq IS NOT DISTINCT FROM m.head_user_seq))
                 AND CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
  WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END
            THEN m.head_path_tokens - n.path_tokens END AS place
   FROM keepsake_message n
   WHERE n.memory_key = ?
     AND n.seq BETWEEN GREATEST(m.head_run_start, m.head_seq - ? + 1) AND m.head_seq
     AND m.head_path_tokens - n.path_tokens < ?
   ORDER BY n.seq DESC)
) n ON true
-- values: [0, 0, 1, 3]
;

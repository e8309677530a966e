package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.NamedSql;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The statements of a bounded read on PostgreSQL. For each table, the key is a separate parameter, as in
 * {@link PostgresSql}.
 *
 * <p>A read from the head is composed of {@link Part}s, because each part costs the server a twentieth of a short read
 * even if it finds nothing. The general read has all of them. Each part has parameters of other types than the others,
 * so that the server refuses the values of one read for another.
 *
 * <p>Rows are of several kinds. The first is the memory's own row, which only the general read has. The second is
 * messages of the branch. The third is the system and user message in force if they are older. The fourth is the view,
 * the fifth the summary, the sixth the oldest messages, and the seventh the ancestor to stop behind.
 *
 * <p>{@code place} is the number of tokens of the branch behind a message. It is null if the memory's row, its run and
 * its parent contradict the message's place. The reader checks one against the other. {@code memory} is the memory's
 * row, with commas between its columns, in one or a few of the returned rows.
 */
final class PostgresReadSql {

    private static final String ROW =
            "n.seq, n.id, n.parent_id, n.parent_seq, n.message, n.tokens, n.token_counter, n.created_at, n.outcome";

    /** The rule within any run: each message follows the one before it, and a root has depth 1. */
    private static final String FOLLOWS =
            """
            CASE WHEN n.seq > n.run_start THEN n.parent_seq = n.seq - 1
              WHEN n.parent_seq IS NULL THEN n.depth = 1 ELSE n.parent_seq >= 1 END""";

    /** The parts that a read from the head may have in addition to the head's run. */
    enum Part {
        /** Whether there are messages although the memory's row counts none, because rows were edited by hand. */
        ORPHANS,
        /** The runs below the head's run. */
        RUNS,
        /** The system message in force, if it is older. */
        SYSTEM,
        /** The user message in force, if it is older. */
        USER,
        VIEW,
        /** The newest summary, and no message that it covers. */
        SUMMARY,
        OLDEST
    }

    /** The memory's row, which need not be repeated with each message. */
    private static final String MEMORY =
            """
            CASE WHEN n.kind = 2 AND n.seq < m.head_seq THEN NULL ELSE
                   concat(%s, ',', m.epoch, ',', m.revision, ',', m.head_seq, ',', m.head_system_seq, ',', m.head_user_seq, ',',
                          m.head_view_seq, ',', m.head_covers_seq, ',', m.head_id) END AS memory
            """;

    private static final String ORPHANS =
            """
            CASE WHEN m.head_seq IS NULL THEN
                     (SELECT max(x.seq) FROM keepsake_message x
                      WHERE x.memory_key = :memory_key AND x.seq <= 1152921504606846976) > COALESCE(m.last_seq, 0) END""";

    /** The newest messages, as far as they are in the head's run. */
    private static final String HEAD_RUN =
            """
              (SELECT 2 AS kind, %s,
                      CASE WHEN n.run_start = m.head_run_start AND n.seq - n.depth = m.head_seq - m.head_depth
                             AND (n.seq < m.head_seq
                                  OR (n.id = m.head_id AND n.system_seq IS NOT DISTINCT FROM m.head_system_seq
                                      AND n.user_seq IS NOT DISTINCT FROM m.head_user_seq))
                             AND %s
                        THEN m.head_path_tokens - n.path_tokens END AS place
               FROM keepsake_message n
               WHERE n.memory_key = :memory_key
                 AND n.seq BETWEEN GREATEST(m.head_run_start, m.head_seq - :rows + 1%s) AND m.head_seq
                 AND m.head_path_tokens - n.path_tokens < :max_tokens
               ORDER BY n.seq DESC)
            """;

    /** The same of the runs below, which the memory's row repeats. */
    private static final String OLDER_RUNS =
            """
              UNION ALL
              (SELECT 2, %s, n.place
               FROM (VALUES (1), (4), (7), (10), (13), (16), (19), (22)) run (i)
               CROSS JOIN LATERAL (
                 SELECT %s,
                        CASE WHEN n.run_start = m.head_runs[run.i] AND n.seq - n.depth = m.head_runs[run.i + 2] AND %s
                          THEN m.head_path_tokens - n.path_tokens END AS place
                 FROM keepsake_message n
                 WHERE n.memory_key = :memory_key
                   AND n.seq BETWEEN GREATEST(m.head_runs[run.i], m.head_depth - :rows + m.head_runs[run.i + 2] + 1%s)
                                 AND m.head_runs[run.i + 1]
                   AND m.head_path_tokens - n.path_tokens < :max_tokens
                 ORDER BY n.seq DESC) n
               WHERE m.head_runs[run.i + 1] - m.head_runs[run.i + 2] > m.head_depth - :rows)
            """;

    /** A message that is in force and before the newest messages. As a range, it is looked up by the primary key. */
    private static final String IN_FORCE =
            """
              UNION ALL
              (SELECT 3, %s, NULL
               FROM keepsake_message n
               WHERE n.memory_key = :memory_key AND n.seq BETWEEN m.%s AND m.%s
                 AND (n.seq < GREATEST(m.head_run_start, m.head_seq - :%s + 1%s)
                      OR m.head_path_tokens - n.path_tokens >= :max_tokens)
               ORDER BY n.seq DESC)
            """;

    private static final String VIEW =
            """
              UNION ALL
              SELECT 4, v.anchor_seq, v.anchor_id, NULL, NULL, v.view, NULL, NULL, NULL, NULL, NULL
              FROM keepsake_view v
              WHERE v.memory_key = :memory_key AND v.anchor_seq = m.head_view_seq AND v.anchor_seq >= :one
            """;

    private static final String SUMMARY =
            """
              UNION ALL
              (SELECT 5, s.covers_seq, s.covers_id, s.model, s.replaced_messages, s.text, s.tokens, s.token_counter,
                      s.created_at, s.version::text, s.replaced_tokens
               FROM keepsake_summary s
               WHERE s.memory_key = :memory_key AND s.covers_seq = m.head_covers_seq
                 AND s.covers_seq >= :one AND s.version >= :one
               ORDER BY s.version DESC
               LIMIT 1)
            """;

    private static String read(Set<Part> parts) {
        String floor = parts.contains(Part.SUMMARY) ? ", m.head_covers_seq + 1" : "";
        StringBuilder sql = new StringBuilder("SELECT n.kind, " + ROW + ", n.place,\n");
        sql.append(MEMORY.formatted(parts.contains(Part.ORPHANS) ? ORPHANS : "false"));
        sql.append("FROM (SELECT 1) one\n");
        sql.append("LEFT JOIN keepsake_memory m ON m.memory_key = :memory_key\n");
        sql.append("LEFT JOIN LATERAL (\n");
        sql.append(HEAD_RUN.formatted(ROW, FOLLOWS, floor));
        if (parts.contains(Part.RUNS)) {
            sql.append(OLDER_RUNS.formatted(ROW, ROW, FOLLOWS, floor));
        }
        if (parts.contains(Part.SYSTEM)) {
            sql.append(IN_FORCE.formatted(ROW, "head_system_seq", "head_system_seq", "rows", floor));
        }
        if (parts.contains(Part.USER)) {
            sql.append(IN_FORCE.formatted(ROW, "head_user_seq", "head_user_seq", "short_rows", floor));
        }
        if (parts.contains(Part.VIEW)) {
            sql.append(VIEW);
        }
        if (parts.contains(Part.SUMMARY)) {
            sql.append(SUMMARY);
        }
        return sql.append(") n ON true\n").toString();
    }

    /**
     * Any bounded read.
     *
     * <p>{@code chain} goes from run to run only while a view, a summary or the ancestor to stop behind must still be
     * found below. {@code part} is a stretch of a run that is read. If only tokens bound the read, stretches grow, so
     * that at most about twice the returned rows are read. Depth and tokens along the path determine the end.
     */
    private static final String GENERAL =
            """
            WITH RECURSIVE given AS MATERIALIZED (
              SELECT :from_id::text AS from_id, :after_id::text AS after_id, :rows::bigint AS max_messages,
                     :max_tokens::bigint AS max_tokens, :stretch::bigint AS stretch, :to_summary::boolean AS to_summary
            ),
            memory AS MATERIALIZED (
              SELECT m.*
              FROM keepsake_memory m
              WHERE m.memory_key = :memory_key
            ),
            start AS MATERIALIZED (
              SELECT s.seq, s.run_start, s.depth, s.path_tokens, s.system_seq, s.user_seq
              FROM keepsake_message s
              WHERE s.memory_key = :memory_key AND s.seq = CASE
                WHEN :from_id::text IS NULL THEN (SELECT head_seq FROM memory)
                ELSE (SELECT f.seq FROM keepsake_message f
                      WHERE f.memory_key = :memory_key AND f.id = :from_id::text) END
                AND s.id = COALESCE(:from_id::text, (SELECT head_id FROM memory))
            ),
            after AS MATERIALIZED (
              SELECT a.*
              FROM keepsake_message a
              WHERE a.memory_key = :memory_key AND a.id = :after_id::text
            ),
            chain (low, high, view_seq, covers_seq) AS (
              SELECT start.run_start, start.seq,
                     (SELECT max(v.anchor_seq) FROM keepsake_view v
                      WHERE v.memory_key = :memory_key AND v.anchor_seq <= start.seq),
                     CASE WHEN given.to_summary THEN
                       (SELECT max(s.covers_seq) FROM keepsake_summary s
                        WHERE s.memory_key = :memory_key AND s.covers_seq <= start.seq) END
              FROM start
              CROSS JOIN given
              UNION ALL
              SELECT p.run_start, p.seq,
                     CASE WHEN chain.view_seq >= chain.low OR chain.view_seq <= p.seq THEN chain.view_seq ELSE
                       (SELECT max(v.anchor_seq) FROM keepsake_view v
                        WHERE v.memory_key = :memory_key AND v.anchor_seq <= p.seq) END,
                     CASE WHEN chain.covers_seq >= chain.low OR chain.covers_seq <= p.seq THEN chain.covers_seq
                       WHEN given.to_summary THEN
                         (SELECT max(s.covers_seq) FROM keepsake_summary s
                          WHERE s.memory_key = :memory_key AND s.covers_seq <= p.seq) END
              FROM chain
              CROSS JOIN given
              CROSS JOIN LATERAL (
                SELECT f.parent_seq, f.depth FROM keepsake_message f
                WHERE f.memory_key = :memory_key AND f.seq = chain.low
                LIMIT 1
              ) run_start
              CROSS JOIN LATERAL (
                SELECT p.seq, p.run_start, p.depth FROM keepsake_message p
                WHERE p.memory_key = :memory_key AND p.seq = run_start.parent_seq
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
                                             WHERE f.memory_key = :memory_key AND f.seq = c.low
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
                WHERE f.memory_key = :memory_key AND f.seq = part.low
                LIMIT 1
              ) oldest
              CROSS JOIN LATERAL (
                SELECT p.seq, p.run_start, p.depth, p.path_tokens FROM keepsake_message p
                WHERE p.memory_key = :memory_key AND p.seq = oldest.parent_seq
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
                            WHERE x.memory_key = :memory_key AND x.seq <= 1152921504606846976)
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
            SELECT 2, %1$s,
                   CASE WHEN n.run_start = part.run_start AND n.seq - n.depth = part.above_depth AND %2$s
                     THEN start.path_tokens - n.path_tokens END, NULL, NULL, NULL
            FROM part
            CROSS JOIN start
            CROSS JOIN given
            CROSS JOIN LATERAL (
              SELECT n.* FROM keepsake_message n
              WHERE n.memory_key = :memory_key AND n.seq BETWEEN part.low AND part.high
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
            SELECT 3, %1$s, NULL, NULL, NULL, NULL
            FROM start
            CROSS JOIN floor
            CROSS JOIN given
            CROSS JOIN LATERAL (
              SELECT n.* FROM keepsake_message n
              WHERE n.memory_key = :memory_key AND n.seq IN (start.system_seq, start.user_seq)
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
              WHERE v.memory_key = :memory_key AND v.anchor_seq = found.view_seq
              LIMIT 1
            ) v
            UNION ALL
            SELECT 5, s.covers_seq, s.covers_id, s.model, s.replaced_messages, s.text, s.tokens, s.token_counter,
                   s.created_at, s.version::text, s.replaced_tokens, NULL, NULL, NULL
            FROM found
            CROSS JOIN LATERAL (
              SELECT s.* FROM keepsake_summary s
              WHERE s.memory_key = :memory_key AND s.covers_seq = found.covers_seq
              ORDER BY s.version DESC
              LIMIT 1
            ) s
            """
                    .formatted(ROW, FOLLOWS);

    /**
     * The oldest part of the same range, in rows of a sixth kind: from run to run to its beginning, with the wanted
     * part of the runs there. A run's depth is the depth of its first message. Messages of the newest part are not
     * returned again; {@code known} is 0 if count and tokens alone do not determine that part. A look-up by sequence is
     * written as an ordered range, so that a plan for small tables uses the primary key too.
     */
    private static final String OLDEST =
            """
            WITH RECURSIVE branch AS MATERIALIZED (
              SELECT s.seq, s.run_start, s.depth, s.path_tokens,
                     COALESCE((SELECT a.depth FROM keepsake_message a
                               WHERE a.memory_key = :memory_key AND a.id = :after_id::text), 0) AS floor_depth
              FROM (
                SELECT CASE
                  WHEN :from_id::text IS NULL THEN
                    (SELECT m.head_seq FROM keepsake_memory m WHERE m.memory_key = :memory_key)
                  ELSE (SELECT f.seq FROM keepsake_message f
                        WHERE f.memory_key = :memory_key AND f.id = :from_id::text) END AS seq
              ) branch_end
              CROSS JOIN LATERAL (
                SELECT s.* FROM keepsake_message s
                WHERE s.memory_key = :memory_key AND s.seq BETWEEN branch_end.seq AND branch_end.seq
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
                WHERE f.memory_key = :memory_key AND f.seq BETWEEN run.low AND run.low
                ORDER BY f.seq
                LIMIT 1
              ) run_start
              CROSS JOIN LATERAL (
                SELECT p.seq, p.run_start, p.depth FROM keepsake_message p
                WHERE p.memory_key = :memory_key AND p.seq BETWEEN run_start.parent_seq AND run_start.parent_seq
                ORDER BY p.seq
                LIMIT 1
              ) p
              WHERE run.depth > branch.floor_depth + 1 AND p.seq < run.high
            )
            SELECT 6 AS kind, %s,
                   CASE WHEN n.run_start = run.low AND n.depth - n.seq = run.depth - run.low AND %s
                     THEN branch.path_tokens - n.path_tokens END AS place, NULL::text AS memory%s
            FROM run
            CROSS JOIN branch
            CROSS JOIN LATERAL (
              SELECT n.* FROM keepsake_message n
              WHERE n.memory_key = :memory_key
                AND n.seq BETWEEN GREATEST(run.low, run.low + branch.floor_depth + 1 - run.depth)
                              AND LEAST(run.high, run.low + branch.floor_depth + :wanted::bigint - run.depth)
              ORDER BY n.seq
              LIMIT 1000000000
            ) n
            WHERE run.depth <= branch.floor_depth + :wanted::bigint
              AND (branch.depth - n.depth >= :known::bigint
                   OR branch.path_tokens - n.path_tokens >= :max_tokens::bigint)
            """;

    private static final String PARAMETERS =
            "memory_key rows short_rows max_tokens from_id after_id stretch to_summary known wanted one reference";

    static final NamedSql READ_GENERAL = NamedSql.of(GENERAL, PARAMETERS);

    /** The newest message of a named branch, which is null as long as that is the current branch. */
    private static final String REFERENCE =
            "(SELECT b.id FROM keepsake_reference b WHERE b.memory_key = :memory_key AND b.name = :reference::text)";

    /** The read of a named branch. */
    static final NamedSql READ_NAMED = NamedSql.of(named(GENERAL), PARAMETERS);

    static final NamedSql READ_NAMED_AND_OLDEST = andOldest(named(GENERAL), ", NULL::bigint, NULL::bigint", true);

    static final NamedSql READ_GENERAL_AND_OLDEST = andOldest(GENERAL, ", NULL::bigint, NULL::bigint", false);

    /** The reads from the head, by their parts. Each is composed at its first use. */
    private static final Map<Set<Part>, NamedSql> FROM_HEAD = new ConcurrentHashMap<>();

    private static final Set<String> TEXTS_FROM_HEAD = ConcurrentHashMap.newKeySet();

    /**
     * Returns the statement that reads from the head: one join of the memory's row with one range of messages and the given
     * parts. The caller checks whether that was sufficient.
     */
    static NamedSql fromHead(Set<Part> parts) {
        NamedSql known = FROM_HEAD.get(parts);
        return known != null ? known : FROM_HEAD.computeIfAbsent(Set.copyOf(parts), PostgresReadSql::compose);
    }

    /** Returns whether a text is a read from the head that was used. */
    static boolean isFromHead(String text) {
        return TEXTS_FROM_HEAD.contains(text);
    }

    private static NamedSql compose(Set<Part> parts) {
        String read = read(parts);
        NamedSql composed = parts.contains(Part.OLDEST) ? andOldest(read, "", false) : NamedSql.of(read, PARAMETERS);
        TEXTS_FROM_HEAD.add(composed.text());
        return composed;
    }

    /** Both, in one snapshot and one round trip. */
    private static NamedSql andOldest(String read, String moreColumns, boolean named) {
        String oldest = OLDEST.formatted(ROW, FOLLOWS, moreColumns);
        return NamedSql.of("(" + read + ")\nUNION ALL\n(" + (named ? named(oldest) : oldest) + ")", PARAMETERS);
    }

    /** Replaces the head by the named branch. */
    private static String named(String read) {
        return read.replace(":from_id::text", "COALESCE(:from_id::text, " + REFERENCE + ")")
                .replace("memory.head_id) AS memory", "COALESCE(" + REFERENCE + ", memory.head_id)) AS memory");
    }

    private PostgresReadSql() {}
}

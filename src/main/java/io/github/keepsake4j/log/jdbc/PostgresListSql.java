package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.sql.NamedSql;

/** PostgreSQL's statements of the lists of memories. Appends move memories on them in {@link PostgresSql}. */
final class PostgresListSql {

    /**
     * A page of a list. A row of it that disagrees with the memory's row has no memory. Numbers repeat if a replica or a
     * restored database continued with an old sequence, so a part of the key decides. The list is a range: of an
     * equality, the planner expects few rows where there are no statistics, and sorts the whole list. The join is above the
     * limit, because the planner expects few rows of it too.
     */
    static final NamedSql LIST = NamedSql.of(
            """
            SELECT m.memory_key, l.place, l.number, l.tie, m.tenant, m.app_id, m.conversation_id, m.node_id, m.title, m.metadata,
                   m.last_seq, m.tokens, m.created_at, m.last_message_at, m.stored_at
            FROM (
              SELECT l.* FROM keepsake_listed l
              WHERE l.list >= :list
                AND (l.list, l.place, l.number, l.tie) < (:list, :place, :number, :tie)
              ORDER BY l.list DESC, l.place DESC, l.number DESC, l.tie DESC
              LIMIT :rows
            ) l
            LEFT JOIN keepsake_memory m ON m.memory_key = l.memory_key AND m.number = l.number AND m.tenant = :tenant
              AND l.place = CASE WHEN l.list > 0 THEN m.active_at ELSE 0 END
            ORDER BY l.list DESC, l.place DESC, l.number DESC, l.tie DESC
            """,
            ListCursor.PARAMETERS);

    /** {@link #LIST} of the memories with usage in some days, each in a row for each day. */
    static final NamedSql USAGE = NamedSql.of(
            """
            SELECT m.memory_key, l.place, l.number, l.tie, m.tenant, m.app_id, m.conversation_id, m.node_id, m.title, m.metadata,
                   m.last_seq, m.tokens, m.created_at, m.last_message_at, m.stored_at,
                   u.day, u.input_tokens, u.output_tokens, u.cached_tokens
            FROM (
              SELECT l.* FROM keepsake_listed l
              WHERE l.list = :list AND (l.place, l.number, l.tie) < (:place, :number, :tie)
                AND l.memory_key IN (SELECT memory_key FROM keepsake_usage
                                     WHERE tenant = :tenant AND day >= :from_day AND day < :to_day)
              ORDER BY l.place DESC, l.number DESC, l.tie DESC
              LIMIT :rows
            ) l
            LEFT JOIN keepsake_memory m ON m.memory_key = l.memory_key AND m.number = l.number AND m.tenant = :tenant
              AND l.place = CASE WHEN l.list > 0 THEN m.active_at ELSE 0 END
            LEFT JOIN keepsake_usage u
              ON u.memory_key = m.memory_key AND u.tenant = :tenant AND u.day >= :from_day AND u.day < :to_day
            ORDER BY l.place DESC, l.number DESC, l.tie DESC, u.day
            """,
            ListCursor.PARAMETERS);

    static final NamedSql MOVE = NamedSql.of(
            """
            UPDATE keepsake_listed l SET place = :time
            FROM keepsake_memory m
            WHERE m.memory_key = :memory_key AND (:begins OR m.active_at / 60000000 < :time / 60000000)
              AND l.memory_key = :memory_key AND l.list = ANY (m.lists) AND l.place = m.active_at AND l.number = m.number
            """,
            "memory_key time begins");

    static final NamedSql MISSING_ON_LISTS = NamedSql.of(
            """
            SELECT 1 AS missing FROM keepsake_memory m
            WHERE m.memory_key = :memory_key AND m.tenant IS NOT NULL AND m.lists IS NULL
            UNION ALL
            SELECT 1
            FROM keepsake_memory m
            CROSS JOIN unnest(m.lists) AS list (id)
            CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
            WHERE m.memory_key = :memory_key AND NOT EXISTS (
              SELECT FROM keepsake_listed l
              WHERE l.memory_key = :memory_key AND l.list = list.id * orders.sign
                AND l.place = CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END AND l.number = m.number)
            """,
            "memory_key");

    static final NamedSql PUT_ON_LISTS = NamedSql.of(
            """
            INSERT INTO keepsake_listed (memory_key, list, place, number, tie)
            SELECT m.memory_key, list.id * orders.sign, CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END, m.number,
                   ('x' || encode(substring(m.memory_key FROM 17 FOR 8), 'hex'))::bit(64)::bigint
            FROM keepsake_memory m
            CROSS JOIN unnest(:lists::bigint[]) AS list (id)
            CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
            WHERE m.memory_key = :memory_key AND NOT EXISTS (
              SELECT FROM keepsake_listed l
              WHERE l.memory_key = :memory_key AND l.list = list.id * orders.sign
                AND l.place = CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END AND l.number = m.number)
            """,
            "lists memory_key");

    static final NamedSql TAKE_OFF_LISTS = NamedSql.of(
            """
            DELETE FROM keepsake_listed l
            USING keepsake_memory m
            CROSS JOIN unnest(m.lists) AS list (id)
            CROSS JOIN (VALUES (1), (-1)) AS orders (sign)
            WHERE m.epoch = :epoch AND m.memory_key = :memory_key AND l.memory_key = :memory_key
              AND l.list = list.id * orders.sign AND l.place = CASE WHEN orders.sign = 1 THEN m.active_at ELSE 0 END
              AND l.number = m.number
            """,
            "epoch memory_key");

    private PostgresListSql() {}
}

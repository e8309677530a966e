package io.github.keepsake4j.log.jdbc;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Decides which statements the driver prepares on PostgreSQL. Behind a transaction pooler, the name of a prepared
 * statement may belong to another statement. So only frequent statements are prepared, and only if the server refuses
 * the values of one of them for any other. A test tries all pairs. A statement that looks up ids is prepared only if it
 * uses an ordered range: a plan from the time when the tables were small is kept, and may look up an id by reading the
 * whole memory. Statements that delete or move are never prepared.
 */
final class Prepared {

    /** All but the reads from the head, which are composed when they are used. */
    static final Set<String> TEXTS = texts();

    private Prepared() {}

    static boolean is(String text) {
        return TEXTS.contains(text) || PostgresReadSql.isFromHead(text);
    }

    private static Set<String> texts() {
        Set<String> texts = new HashSet<>();
        List.of(
                        PostgresSql.RUNS_OF_HEAD,
                        PostgresSql.APPEND_FIRST,
                        PostgresSql.APPEND_ONE,
                        PostgresSql.APPEND_ONE_WITH_NOTES,
                        PostgresSql.APPEND_ONE_WITH_USAGE,
                        PostgresSql.APPEND_ONE_AND_VIEW,
                        PostgresSql.APPEND_MANY)
                .forEach(one -> texts.add(one.text()));
        texts.addAll(List.of(Sql.HISTORY_BACK, Sql.HISTORY_FORWARD));
        return Set.copyOf(texts);
    }
}

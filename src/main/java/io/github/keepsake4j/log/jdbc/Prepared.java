package io.github.keepsake4j.log.jdbc;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What the driver prepares on PostgreSQL. Behind a transaction pooler a name of what was prepared may be that of another
 * statement. So only statements that are sent often are prepared, and only such that the server refuses the values of one of them
 * for any other. A test tries all pairs. A statement that looks up ids is not prepared either, unless it asks for an ordered
 * range: a plan that was made while the tables were small stays, and may look up an id by reading the whole memory. Nothing that
 * deletes or moves is prepared.
 */
final class Prepared {

    static final Set<String> TEXTS = texts();

    private Prepared() {}

    private static Set<String> texts() {
        Set<String> texts = new HashSet<>();
        PostgresReadSql.READS.values().forEach(read -> texts.add(read.text()));
        List.of(
                        PostgresSql.RUNS_OF_HEAD,
                        PostgresSql.APPEND_ONE,
                        PostgresSql.APPEND_ONE_WITH_NOTES,
                        PostgresSql.APPEND_ONE_AND_VIEW,
                        PostgresSql.APPEND_MANY)
                .forEach(one -> texts.add(one.text()));
        texts.addAll(List.of(Sql.HISTORY_BACK, Sql.HISTORY_FORWARD));
        return Set.copyOf(texts);
    }
}

package io.github.keepsake4j.log.jdbc;

import net.ttddyy.dsproxy.QueryInfo;

/** The texts of statements as this library writes them, without the number that is added for the plan. */
final class SentText {

    private SentText() {}

    static String of(QueryInfo query) {
        return of(query.getQuery());
    }

    static String of(String sql) {
        return sql.replaceAll("/\\* \\d+ \\*/$", "");
    }
}

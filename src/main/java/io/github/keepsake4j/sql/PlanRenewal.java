package io.github.keepsake4j.sql;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes the server plan prepared statements again while the tables grow. A plan for tables of a few pages reads them
 * whole, and stays on its connection until the tables are analyzed, which autovacuum does about a minute later. So a
 * statement's text gets another comment whenever this process has done four times as much work as before. The driver
 * and the server treat it as another statement, which is planned for the present tables. Thread-safe.
 */
final class PlanRenewal {

    /** Calls and added rows. Reading a whole table of fewer rows costs nothing. */
    private static final long FIRST = 64;

    private static final int FACTOR = 4;

    /** The texts that are sent until this amount of work is done. */
    private record Generation(int number, long until, Map<String, String> texts) {
        Generation next() {
            return new Generation(number + 1, until * FACTOR, new ConcurrentHashMap<>());
        }
    }

    private final AtomicLong work = new AtomicLong();
    private volatile Generation generation = new Generation(0, FIRST, new ConcurrentHashMap<>());

    /** Counts rows that were added. */
    void added(int rows) {
        work.addAndGet(rows);
    }

    /** Counts a call and returns the text to send. It is the same instance each time, because the driver looks it up. */
    String text(String sql) {
        Generation now = generation;
        if (work.incrementAndGet() >= now.until()) {
            now = renew();
        }
        int number = now.number();
        return now.texts().computeIfAbsent(sql, text -> text + "/* " + number + " */");
    }

    private synchronized Generation renew() {
        while (work.get() >= generation.until()) {
            generation = generation.next();
        }
        return generation;
    }
}

package io.github.keepsake4j.benchmark;

import com.zaxxer.hikari.HikariDataSource;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.testing.Postgres;
import java.util.List;
import java.util.function.Function;
import javax.sql.DataSource;

/** A pool on one database, with this library's log and the hand-written code on it. Both use the same connections. */
final class Site implements AutoCloseable {

    private final HikariDataSource pool;
    private final MessageLog log;
    private final HandWritten handWritten;
    private final String variant;

    Site(DataSource database, int connections) {
        this(database, connections, "", PostgresMessageLog::open);
    }

    /**
     * Creates a site with a log of other settings.
     *
     * @param variant what is behind a history's name in the names of the operations
     * @param newLog creates the log on the pool
     */
    Site(DataSource database, int connections, String variant, Function<DataSource, MessageLog> newLog) {
        this.pool = Postgres.trustingPool(database, connections, true);
        this.log = newLog.apply(pool);
        this.handWritten = new HandWritten(pool);
        this.variant = variant;
    }

    HandWritten handWritten() {
        return handWritten;
    }

    void append(ConversationKey key, NewMessage message) {
        log.append(key, Append.underHead(message));
    }

    void read(ConversationKey key, int limit) {
        int size = log.read(key, ReadQuery.newest(limit)).messages().size();
        if (size != limit) {
            throw new IllegalStateException(size + " messages instead of " + limit);
        }
    }

    /** Returns the appends of this library, of the floor, and of the bare insert. */
    List<Operation> appends(History ours, History floor) {
        int[] calls = new int[2];
        String name = "append " + ours.name() + variant;
        return List.of(
                new Operation(name + " keepsake", () -> append(ours.key(calls[0]++), Payload.ordered())),
                new Operation(name + " floor", () -> handWritten.append(floor.key(calls[1]++))),
                new Operation(name + " bare insert", handWritten::insert));
    }

    /** Returns the reads of this library, of the floor, and of the floor with decoded messages. */
    List<Operation> reads(History ours, History floor, int limit) {
        int[] calls = new int[3];
        String name = "read " + limit + " " + ours.name() + variant;
        return List.of(
                new Operation(name + " keepsake", () -> read(ours.key(calls[0]++), limit)),
                new Operation(name + " floor", () -> handWritten.read(floor.key(calls[1]++), limit, false)),
                new Operation(
                        name + " floor with decoding", () -> handWritten.read(floor.key(calls[2]++), limit, true)));
    }

    @Override
    public void close() {
        log.close();
        pool.close();
    }
}

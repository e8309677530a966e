package io.github.keepsake4j.log;

import io.github.keepsake4j.message.MemoryKey;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** The environment of the contract's parts. {@link MessageLogContract} describes what a backend provides. */
public interface LogUnderTest {

    /** Returns the log, which is empty when the test begins. */
    MessageLog log();

    /** Returns the clock with which the log was opened. */
    TestClock clock();

    /** Lets time pass for leases. A test of a store with a clock of its own overrides this method and the next one. */
    default void passTime(Duration duration) throws Exception {
        clock().advance(duration);
    }

    /** Returns the time by which leases end. */
    default Instant storeTime() throws Exception {
        return clock().instant().truncatedTo(ChronoUnit.MICROS);
    }

    /**
     * Returns a second log on the same storage, as another process would open it, or the same log if its storage cannot
     * be shared.
     */
    MessageLog reopen() throws Exception;

    /** Returns keys in the order in which a list shows them; here, the last created one first. */
    default List<MemoryKey> asListed(List<MemoryKey> lastCreatedFirst) {
        return lastCreatedFirst;
    }

    /** Returns whether a check reports a parent that is missing, because nothing else would show a removed message. */
    default boolean reportsMissingParents() {
        return false;
    }

    /** Damages the stored form of one message. */
    void corrupt(MemoryKey key, String messageId) throws Exception;

    /** Returns the stored form of one message. */
    String rawBytes(MemoryKey key, String messageId) throws Exception;
}

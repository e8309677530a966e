package io.github.keepsake4j.log;

import io.github.keepsake4j.message.MemoryKey;

/** What the parts of the contract get to work with. {@link MessageLogContract} says what a backend provides. */
public interface LogUnderTest {

    /** What ends an outage. */
    interface Outage extends AutoCloseable {

        @Override
        void close();
    }

    /** The log, empty when the test begins. */
    MessageLog log();

    /** The clock that the log was opened with. */
    TestClock clock();

    /** A second log on the same storage, as another process would see it, or the same log where there is none. */
    MessageLog reopen() throws Exception;

    /** Scribbles over the stored form of one message. */
    void corrupt(MemoryKey key, String messageId) throws Exception;

    /** The stored form of one message, as it is. */
    String rawBytes(MemoryKey key, String messageId) throws Exception;

    /** Makes the storage unreachable until closed. */
    Outage breakStorage() throws Exception;
}

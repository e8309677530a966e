package io.github.keepsake4j.log;

import io.github.keepsake4j.message.MemoryKey;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * The contract of every backend, regardless of its storage. A backend's test extends this class and implements how to
 * open an empty storage and how to damage it. The tests are in the interfaces, by subject. A storage that can be
 * unreachable has {@link OutageContract} too.
 */
@Timeout(600)
public abstract class MessageLogContract
        implements AppendContract,
                TreeContract,
                ReadContract,
                OldestContract,
                ViewContract,
                BesideMessagesContract,
                OutcomeContract,
                ReferenceContract,
                ListingContract,
                EraseContract,
                KeyContract,
                FidelityContract,
                FailureContract,
                DamageContract,
                TimesContract,
                ConcurrencyContract,
                RandomTreeContract {

    private final TestClock clock = new TestClock();
    private final List<MessageLog> opened = new ArrayList<>();

    /** Opens a log on a fresh, empty storage. */
    protected abstract MessageLog open(Clock clock) throws Exception;

    /** Opens a second log, with the same clock, on the storage that {@link #open} made. The contract closes it. */
    protected MessageLog openAgain(Clock clock) throws Exception {
        return log();
    }

    @BeforeEach
    void openStorage() throws Exception {
        opened.add(open(clock));
    }

    @AfterEach
    void closeLogs() {
        opened.forEach(MessageLog::close);
    }

    @Override
    public final MessageLog log() {
        return opened.get(0);
    }

    @Override
    public final TestClock clock() {
        return clock;
    }

    @Override
    public final MessageLog reopen() throws Exception {
        MessageLog second = openAgain(clock);
        opened.add(second);
        return second;
    }

    @Override
    public abstract void corrupt(MemoryKey key, String messageId) throws Exception;

    @Override
    public abstract String rawBytes(MemoryKey key, String messageId) throws Exception;
}

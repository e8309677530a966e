package io.github.keepsake4j.base;

import io.github.keepsake4j.message.StorageUnavailableException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The locks of a directory, between threads and between processes. Each lock is two bytes of one file. A process opens that
 * file once, however many logs it has, because POSIX drops all of a process's locks on a file when it closes <em>any</em>
 * descriptor of it. For the same reason the file is empty: nothing else then has a reason to open it.
 *
 * <p>The first byte is the lock. The second byte is a queue: a caller locks it first, and releases it when it has the
 * lock. Without it, the threads of one process would pass the lock among themselves, and another process would never
 * get it.
 */
public final class LockFile {

    private static final String NAME = "keepsake.lock";
    private static final long FIRST_PAUSE = 50_000;
    private static final long LONGEST_PAUSE = 1_000_000;

    /** Those that this process has open, by path. */
    private static final Map<Path, LockFile> OPEN = new HashMap<>();

    /**
     * Work that is done while a lock is held.
     *
     * @param <T> the type of the result
     */
    @FunctionalInterface
    public interface Work<T> {
        /**
         * Does it.
         *
         * @return the result
         * @throws IOException if a file cannot be used
         */
        T run() throws IOException;
    }

    private final Path path;
    private final FileChannel channel;
    private final @Nullable Object identity;

    /** The threads of this process that hold or want a lock. */
    private final InUse<Long, ReentrantLock> queues = new InUse<>(() -> new ReentrantLock(true));

    private int users;

    private LockFile(Path path, FileChannel channel) throws IOException {
        this.path = path;
        this.channel = channel;
        this.identity = SmallFiles.identity(path);
    }

    /**
     * Opens the lock file of a directory. It is made if it does not exist.
     *
     * @param directory an existing directory
     * @return the lock file, to be closed
     * @throws IOException if it cannot be opened
     */
    public static LockFile open(Path directory) throws IOException {
        Path path = directory.toRealPath().resolve(NAME);
        synchronized (OPEN) {
            LockFile open = OPEN.get(path);
            if (open == null || !open.isThere()) {
                // A file whose name was deleted stays open until its users have closed it.
                SmallFiles.create(path);
                open = new LockFile(path, FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE));
                OPEN.put(path, open);
            }
            open.users++;
            return open;
        }
    }

    /** Keeps the file open until {@link #close}, so that closing a log releases no lock that another log holds. */
    private void use() throws IOException {
        synchronized (OPEN) {
            if (users == 0) {
                throw new ClosedChannelException();
            }
            users++;
        }
    }

    /**
     * Ends one use. The last one closes the file.
     *
     * @throws IOException if it cannot be closed
     */
    public void close() throws IOException {
        synchronized (OPEN) {
            if (--users == 0) {
                OPEN.remove(path, this);
                channel.close();
            }
        }
    }

    /**
     * Returns whether the file still has its name. If not, other processes may lock another file.
     *
     * @return whether it is there
     */
    public boolean isThere() {
        try {
            return Objects.equals(identity, SmallFiles.identity(path));
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Returns whether another file has the name.
     *
     * @return whether it is replaced
     */
    public boolean isReplaced() {
        return Files.exists(path) && !isThere();
    }

    /**
     * Does something while a lock is held.
     *
     * @param number the lock
     * @param what the action, for the error
     * @param timeout how long to wait for the lock
     * @param work the work
     * @param <T> the type of the result
     * @return the result
     * @throws IOException if the work throws it, or the file cannot be locked
     * @throws StorageUnavailableException if the lock does not become free in time
     */
    public <T> T holding(long number, Object what, Duration timeout, Work<T> work) throws IOException {
        long deadline = System.nanoTime() + timeout.toNanos();
        use();
        ReentrantLock queue = queues.enter(number);
        try {
            if (!Uninterrupted.lock(queue, deadline)) {
                throw busy(what, timeout);
            }
            try (FileLock lock = acquire(number, deadline)) {
                if (lock == null) {
                    throw busy(what, timeout);
                }
                return work.run();
            } finally {
                queue.unlock();
            }
        } finally {
            queues.leave(number);
            close();
        }
    }

    private @Nullable FileLock acquire(long number, long deadline) throws IOException {
        try (FileLock place = poll(2 * number + 1, deadline)) {
            return place == null ? null : poll(2 * number, deadline);
        }
    }

    /**
     * Returns whether another thread or process holds a lock.
     *
     * @param number the lock
     * @return whether it is held
     * @throws IOException if the file cannot be locked
     */
    public boolean isHeld(long number) throws IOException {
        use();
        ReentrantLock queue = queues.enter(number);
        try {
            if (!queue.tryLock()) {
                return true;
            }
            try (FileLock lock = attempt(2 * number)) {
                return lock == null;
            } finally {
                queue.unlock();
            }
        } finally {
            queues.leave(number);
            close();
        }
    }

    private @Nullable FileLock poll(long place, long deadline) throws IOException {
        boolean interrupted = false;
        try {
            for (long pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
                FileLock lock = attempt(place);
                if (lock != null || System.nanoTime() > deadline) {
                    return lock;
                }
                LockSupport.parkNanos(pause);
                // An interrupted thread would not pause.
                interrupted |= Thread.interrupted();
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Does not use {@link FileChannel#lock}: that closes the channel if the thread is interrupted. */
    private @Nullable FileLock attempt(long place) throws IOException {
        try {
            return channel.tryLock(place, 1, false);
        } catch (OverlappingFileLockException e) {
            // This class is loaded twice in this process, and the other one holds it.
            return null;
        }
    }

    private StorageUnavailableException busy(Object what, Duration timeout) {
        return new StorageUnavailableException(
                what + ": another thread or process held the lock for " + timeout.toMillis() + " ms. Retry the call");
    }
}

package io.github.keepsake4j.testing;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A log whose calls are counted. It can be made to fail, and it reports when a lease was refused. */
public class WatchedLog {

    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final ConcurrentHashMap<String, RuntimeException> failures = new ConcurrentHashMap<>();
    private final Set<String> lost = ConcurrentHashMap.newKeySet();
    private volatile CountDownLatch refused = new CountDownLatch(1);
    private final MessageLog log;

    public WatchedLog(MessageLog inner) {
        log = Watched.log(inner, call -> {
            String word = call.word();
            calls.add(word);
            called(word, call.arguments());
            RuntimeException failure = failures.get(word);
            if (failure != null) {
                throw failure;
            }
            Object result = call.proceed();
            if (word.equals("acquireLease") && result.equals(Optional.empty())) {
                refused.countDown();
            }
            if (lost.remove(word)) {
                throw new StorageUnavailableException("the answer was lost", null);
            }
            return result;
        });
    }

    /** Called on the caller's thread, before the call reaches the log. */
    protected void called(String method, Object[] arguments) {
        called(method);
    }

    /** The same for a test that does not look at the arguments. */
    protected void called(String method) {}

    public MessageLog log() {
        return log;
    }

    /** Returns the names of the methods that were called, in order. */
    public List<String> calls() {
        return calls;
    }

    public long calls(String method) {
        return calls.stream().filter(method::equals).count();
    }

    /** Makes calls of a method fail, or, with null, succeed again. */
    public void fail(String method, RuntimeException failure) {
        if (failure == null) {
            failures.remove(method);
        } else {
            failures.put(method, failure);
        }
    }

    /** Makes the next call of a method succeed and loses its answer. */
    public void loseAnswer(String method) {
        lost.add(method);
    }

    /** Waits until a lease was refused, counted from the previous call of this method. */
    public void awaitRefusal() throws InterruptedException {
        if (!refused.await(2, TimeUnit.MINUTES)) {
            throw new IllegalStateException("no lease was refused");
        }
        refused = new CountDownLatch(1);
    }
}

package io.github.keepsake4j.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class KeyLocksTest {

    private static final Duration NEVER_OVER = Duration.ofDays(1);

    private final KeyLocks<String> locks = new KeyLocks<>();
    private final CountDownLatch release = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();
    private final List<String> order = Collections.synchronizedList(new ArrayList<>());

    @AfterEach
    void end() throws Exception {
        release.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Test
    void waiting_threads_get_the_lock_in_the_order_in_which_they_asked() throws Exception {
        holds("a");
        for (int i = 0; i < 5; i++) {
            String name = "waiter" + i;
            boolean limited = i % 2 == 0;
            Thread waiter = started(() -> {
                if (limited) {
                    locks.lockedIfWithin("a", NEVER_OVER, () -> order.add(name));
                } else {
                    locks.locked("a", () -> order.add(name));
                }
            });
            Awaitility.await().until(() -> waiter.getState().name().endsWith("WAITING"));
        }
        assertThat(order).isEmpty();
        end();
        assertThat(order).containsExactly("waiter0", "waiter1", "waiter2", "waiter3", "waiter4");
        assertThat(locks.isUsed("a")).isFalse();
    }

    @Test
    void another_key_does_not_wait() throws Exception {
        holds("a");
        assertThat(locks.<String>locked("b", () -> "done")).isEqualTo("done");
        assertThat(locks.isUsed("a")).isTrue();
        assertThat(locks.isUsed("b")).isFalse();
    }

    @Test
    void after_the_limit_the_work_runs_without_the_lock() throws Exception {
        holds("a");
        assertThat(locks.<String>lockedIfWithin("a", Duration.ofMillis(1), () -> "done"))
                .isEqualTo("done");
        assertThat(locks.isUsed("a")).isTrue();
    }

    @Test
    void a_thread_that_hangs_costs_one_wait() throws Exception {
        holds("a");
        locks.<String>lockedIfWithin("a", Duration.ofMillis(1), () -> "waited");
        assertThat(locks.<String>lockedIfWithin("a", NEVER_OVER, () -> "done")).isEqualTo("done");
        end();
        assertThat(locks.isUsed("a")).isFalse();
    }

    @Test
    void an_interrupted_thread_does_not_wait_and_stays_interrupted() throws Exception {
        holds("a");
        Thread.currentThread().interrupt();
        boolean interrupted = locks.<Boolean>lockedIfWithin(
                "a", NEVER_OVER, () -> Thread.currentThread().isInterrupted());
        assertThat(Thread.interrupted()).isTrue();
        assertThat(interrupted).isTrue();
    }

    @Test
    void work_may_ask_for_the_same_key_and_may_fail() {
        assertThatThrownBy(() -> locks.locked(
                        "a",
                        () -> locks.lockedIfWithin("a", NEVER_OVER, () -> {
                            throw new IllegalStateException("planned");
                        })))
                .hasMessage("planned");
        assertThat(locks.isUsed("a")).isFalse();
    }

    /** Holds a key in another thread until the end of the test. */
    private void holds(String key) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        started(() -> locks.locked(key, () -> {
            held.countDown();
            return awaited();
        }));
        held.await();
    }

    private boolean awaited() {
        try {
            release.await();
            return true;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Thread started(Runnable work) {
        Thread thread = new Thread(work);
        threads.add(thread);
        thread.start();
        return thread;
    }
}

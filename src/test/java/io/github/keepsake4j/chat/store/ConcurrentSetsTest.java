package io.github.keepsake4j.chat.store;

import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.log.HeadConflictException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Place;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Threads of one process set and clear the list of one memory at the same time. */
class ConcurrentSetsTest {

    private static final int BUSY = 7;
    private static final int CALLS = 10;

    @TempDir
    Path directory;

    private final AtomicInteger conflicts = new AtomicInteger();

    /** A thread that was first knows the newest position, so without turns it is first again and again. */
    @ParameterizedTest
    @EnumSource
    void busy_threads_let_the_others_set_and_clear(Home home) throws Exception {
        try (MessageLog log = Place.in(home, directory).open()) {
            KeepsakeChatMemoryStore store =
                    Keepsake.builder().messageLog(watched(log)).build().chatMemoryStore();
            AtomicInteger sets = new AtomicInteger();
            AtomicInteger others = new AtomicInteger(2);
            List<Callable<Void>> work = new ArrayList<>();
            for (int thread = 0; thread < BUSY; thread++) {
                String name = "busy" + thread;
                work.add(() -> {
                    while (others.get() > 0) {
                        store.updateMessages("alice", list(name, sets.incrementAndGet()));
                    }
                    return null;
                });
            }
            work.add(() -> calls(others, () -> store.updateMessages("alice", list("other", sets.get()))));
            work.add(() -> calls(others, () -> store.deleteMessages("alice")));
            inThreads(work);
            // A thread that waits for its turn has no conflict. A few begin before there is anyone to wait for.
            assertThat(conflicts).as("conflicts").hasValueLessThan(sets.get() + 2 * CALLS);
            assertThat(store.getMessages("alice")).isNotEmpty();
        }
    }

    private static Void calls(AtomicInteger others, Runnable call) {
        try {
            for (int i = 0; i < CALLS; i++) {
                call.run();
            }
        } finally {
            others.decrementAndGet();
        }
        return null;
    }

    private static List<ChatMessage> list(String name, int number) {
        return List.of(user(name + " " + number), user(name + " " + number + " again"));
    }

    private static void inThreads(List<Callable<Void>> work) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(work.size());
        try {
            for (Future<Void> done : threads.invokeAll(work)) {
                done.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private MessageLog watched(MessageLog log) {
        return (MessageLog) Proxy.newProxyInstance(
                MessageLog.class.getClassLoader(), new Class<?>[] {MessageLog.class}, (proxy, method, arguments) -> {
                    try {
                        return method.invoke(log, arguments);
                    } catch (InvocationTargetException e) {
                        if (e.getCause() instanceof HeadConflictException) {
                            conflicts.incrementAndGet();
                        }
                        throw e.getCause();
                    }
                });
    }
}

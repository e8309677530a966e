package io.github.keepsake4j.chat.store;

import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.user;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Place;
import io.github.keepsake4j.testing.Watched;
import io.github.keepsake4j.testing.WordCounter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** Threads of one process set and clear the list of one memory at the same time. */
class ConcurrentSetsTest {

    private static final int BUSY = 7;
    private static final int CALLS = 10;

    @TempDir
    Path directory;

    /** A thread that was first knows the newest position, so without turns it is first again and again. */
    @ParameterizedTest
    @Homes
    void busy_threads_let_the_others_set_and_clear(Home home) throws Exception {
        AtomicInteger conflicts = new AtomicInteger();
        Metrics counted = new Metrics() {
            @Override
            public void conflict(String backend) {
                conflicts.incrementAndGet();
            }
        };
        try (MessageLog log = Place.in(home, directory).open()) {
            KeepsakeChatMemoryStore store =
                    Keepsake.builder().messageLog(log).metrics(counted).build().chatMemoryStore();
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
            work.add(() -> calls(others, () -> store.updateMessages("alice", list("other", sets.incrementAndGet()))));
            work.add(() -> calls(others, () -> store.deleteMessages("alice")));
            StockMemoriesTest.inThreads(work);
            // One for each, because a thread that waits for its turn knows an old position. Without turns it is 3 to 8.
            assertThat(conflicts).as("conflicts").hasValueLessThan(2 * (sets.get() + CALLS));
            assertThat(Logs.details(log, ConversationKey.of("default", "alice"))
                            .info()
                            .messages())
                    .as("messages of %s sets", sets)
                    .isEqualTo(2L * sets.get());
        }
    }

    /** The other thread's clear changes nothing, so the list is compared with what its caller has seen. */
    @Test
    void a_set_that_waits_for_its_turn_writes_what_it_writes_without() throws Exception {
        MessageLog log = new InMemoryMessageLog();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        MessageLog failing = Watched.log(log, call -> {
            if (Thread.currentThread().getName().equals("clearing")) {
                begun.countDown();
                release.await();
                throw new StorageUnavailableException("planned", null);
            }
            return call.proceed();
        });
        Keepsake keepsake = Keepsake.builder()
                .messageLog(failing)
                .tokenCountEstimator(new WordCounter())
                .strategy(SlidingWindow.withMaxMessages(6))
                .build();
        Keepsake all = Keepsake.builder()
                .messageLog(log)
                .tokenCountEstimator(new WordCounter())
                .build();
        KeepsakeChatMemory memory = keepsake.chatMemory("alice");
        for (int i = 0; i < 6; i++) {
            memory.add(user("q" + i));
            memory.add(ai("a" + i));
        }
        List<ChatMessage> before = all.chatMemoryStore().getMessages("alice");
        List<ChatMessage> list = memory.messages();
        assertThat(list).hasSize(6);

        Thread clearing =
                new Thread(() -> catchThrowable(() -> keepsake.chatMemoryStore().deleteMessages("alice")), "clearing");
        clearing.start();
        begun.await();
        FutureTask<Void> set = new FutureTask<>(() -> memory.set(list), null);
        Thread setting = new Thread(set);
        setting.start();
        await().until(() -> setting.getState() == Thread.State.TIMED_WAITING);
        release.countDown();
        clearing.join();
        set.get();

        assertThat(all.chatMemoryStore().getMessages("alice")).isEqualTo(before).hasSize(12);
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
}

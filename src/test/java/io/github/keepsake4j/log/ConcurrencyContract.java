package io.github.keepsake4j.log;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.Threads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Many threads at once, and two logs on one storage. */
public interface ConcurrencyContract extends LogUnderTest {

    int THREADS = 8;

    /**
     * Returns the number of appends per thread in a full run. It is smaller where each append writes the whole memory.
     */
    default int appendsPerThreadInFull() {
        return 400;
    }

    /** One acknowledged append. */
    record Acknowledged(int thread, Append append, AppendResult result) {}

    @Test
    default void nothing_that_was_acknowledged_is_lost_or_doubled() throws Exception {
        long seed = System.nanoTime();
        MessageLog second = reopen();
        Collection<Acknowledged> acknowledged = new ConcurrentLinkedQueue<>();
        Threads.run(THREADS, thread -> {
            Random random = new Random(seed + thread);
            MessageLog log = thread % 2 == 0 ? log() : second;
            String own = null;
            for (int i = 0; i < Counts.of(25, appendsPerThreadInFull()); i++) {
                Append append = randomAppend(random, "t" + thread + "-" + i, own);
                AppendResult result;
                try {
                    result = log.append(KEY, append);
                } catch (HeadConflictException e) {
                    // Another writer was first, so this does what a caller would do then.
                    append = Append.under(append.parent(), append.messages());
                    result = log.append(KEY, append);
                }
                assertThat(result.replayed()).isFalse();
                acknowledged.add(new Acknowledged(thread, append, result));
                own = append.messages().get(append.messages().size() - 1).id();
                if (random.nextInt(4) == 0) {
                    assertThat(log.append(KEY, append).replayed()).isTrue();
                }
            }
        });

        assertAllThereOnce(acknowledged, seed);
        assertOneLine(acknowledged, seed);
    }

    /** The first of them makes the memory. */
    @Test
    default void metadata_that_is_merged_at_the_same_time_is_all_there() throws Exception {
        MessageLog second = reopen();
        int each = Counts.of(6, 50);
        Map<String, String> expected = new ConcurrentHashMap<>();
        Threads.run(THREADS, thread -> {
            MessageLog log = thread % 2 == 0 ? log() : second;
            for (int i = 0; i < each; i++) {
                String name = thread + "-" + i;
                expected.put(name, "text");
                assertThat(Logs.mergeMetadata(log, KEY, Map.of(name, "text"))).containsEntry(name, "text");
            }
        });

        assertThat(Logs.mergeMetadata(log(), KEY, Map.of())).isEqualTo(expected);
    }

    private static Append randomAppend(Random random, String id, String own) {
        List<NewMessage> messages = IntStream.rangeClosed(0, random.nextInt(3))
                .mapToObj(i -> user(id + "-" + i))
                .toList();
        return switch (random.nextInt(4)) {
            case 0 -> Append.under(own == null ? Parent.root() : Parent.of(own), messages);
            case 1 -> Append.under(Parent.head(), messages).expectingHead(own);
            default -> Append.under(Parent.head(), messages);
        };
    }

    private void assertAllThereOnce(Collection<Acknowledged> acknowledged, long seed) {
        List<LoggedMessage> all = history(log(), KEY);
        Map<String, LoggedMessage> byId = new HashMap<>();
        all.forEach(message -> assertThat(byId.put(message.id(), message))
                .as("twice: %s", message.id())
                .isNull());
        assertThat(all)
                .as("seed %s", seed)
                .extracting(LoggedMessage::sequence)
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, all.size()).boxed().toList());
        Map<Integer, Long> lastOfThread = new HashMap<>();
        Set<String> expected = new HashSet<>();
        for (Acknowledged one : acknowledged) {
            String parent = one.append().parent() instanceof Parent.Of of
                    ? of.id()
                    : one.result().previousHead();
            if (one.append().parent() instanceof Parent.Root) {
                parent = null;
            }
            for (NewMessage message : one.append().messages()) {
                expected.add(message.id());
                LoggedMessage stored = byId.get(message.id());
                assertThat(stored).as("seed %s: %s", seed, message.id()).isNotNull();
                assertThat(stored.message()).isEqualTo(message.message());
                assertThat(stored.parentId())
                        .as("seed %s: parent of %s", seed, message.id())
                        .isEqualTo(parent);
                Long before = lastOfThread.put(one.thread(), stored.sequence());
                assertThat(before == null || before < stored.sequence())
                        .as("seed %s: order of thread %s", seed, one.thread())
                        .isTrue();
                assertThat(parent == null || byId.get(parent).sequence() < stored.sequence())
                        .isTrue();
                parent = message.id();
            }
        }
        assertThat(byId.keySet()).as("seed %s", seed).isEqualTo(expected);
    }

    /**
     * Checks that the appends are in one line: each append moved the head on from where exactly one other append had
     * put it.
     */
    private void assertOneLine(Collection<Acknowledged> acknowledged, long seed) {
        Map<String, String> next = new HashMap<>();
        for (Acknowledged one : acknowledged) {
            assertThat(next.put(one.result().previousHead(), one.result().head()))
                    .as("seed %s: two appends after %s", seed, one.result().previousHead())
                    .isNull();
        }
        String head = null;
        int steps = 0;
        while (next.containsKey(head)) {
            head = next.get(head);
            steps++;
        }
        assertThat(steps).as("seed %s", seed).isEqualTo(acknowledged.size());
        assertThat(log().read(KEY, ReadQuery.newest(1)).head()).isEqualTo(head);
        assertThat(log().read(KEY, ReadQuery.wholeBranch()).missingParent()).isNull();
    }

    /** Where there is no memory yet, there is nothing to lock either. */
    @Test
    default void the_first_appends_of_aMemory_are_all_there() throws Exception {
        MessageLog second = reopen();
        for (int round = 0; round < Counts.of(8, 20); round++) {
            MemoryKey key = ConversationKey.of("acme", "new" + round);
            CyclicBarrier start = new CyclicBarrier(4);
            Threads.run(4, thread -> {
                start.await();
                for (int i = 0; i < 3; i++) {
                    (thread % 2 == 0 ? log() : second).append(key, batch(thread + "-" + i));
                }
            });
            assertThat(branch(log(), key)).as("round %s", round).hasSize(12).doesNotHaveDuplicates();
        }
    }

    @Test
    default void the_same_batch_from_many_threads_is_stored_once() throws Exception {
        MessageLog second = reopen();
        for (int round = 0; round < 20; round++) {
            Append batch = batch("r" + round + "-a", "r" + round + "-b");
            AtomicInteger stored = new AtomicInteger();
            CyclicBarrier start = new CyclicBarrier(4);
            Threads.run(4, thread -> {
                start.await();
                if (!(thread % 2 == 0 ? log() : second).append(KEY, batch).replayed()) {
                    stored.incrementAndGet();
                }
            });
            assertThat(stored).as("round %s", round).hasValue(1);
        }
        assertThat(history(log(), KEY)).hasSize(40);
    }

    @Test
    default void one_of_many_compares_and_sets() throws Exception {
        MessageLog second = reopen();
        for (int round = 0; round < 20; round++) {
            String head = log().read(KEY, ReadQuery.newest(0)).head();
            String prefix = "r" + round + "-t";
            AtomicInteger won = new AtomicInteger();
            CyclicBarrier start = new CyclicBarrier(4);
            Threads.run(4, thread -> {
                start.await();
                try {
                    (thread % 2 == 0 ? log() : second)
                            .append(KEY, batch(prefix + thread).expectingHead(head));
                    won.incrementAndGet();
                } catch (HeadConflictException e) {
                    assertThat(e.actualHead()).startsWith(prefix);
                }
            });
            assertThat(won).as("round %s", round).hasValue(1);
        }
        assertThat(branch(log(), KEY)).hasSize(20);
    }

    @Test
    default void one_of_many_takes_aLease() throws Exception {
        MessageLog second = reopen();
        for (int round = 0; round < 20; round++) {
            String name = "work " + round;
            AtomicInteger won = new AtomicInteger();
            CyclicBarrier start = new CyclicBarrier(4);
            Threads.run(4, thread -> {
                start.await();
                (thread % 2 == 0 ? log() : second)
                        .acquireLease(KEY, name, "owner " + thread, Duration.ofMinutes(1))
                        .ifPresent(lease -> won.incrementAndGet());
            });
            assertThat(won).as("round %s", round).hasValue(1);
        }
    }

    @Test
    default void an_erase_leaves_nothing_of_the_epoch_before() throws Exception {
        MessageLog second = reopen();
        for (int round = 0; round < 10; round++) {
            long epoch = log().read(KEY, ReadQuery.newest(0)).epoch();
            String prefix = "r" + round + "-t";
            CyclicBarrier start = new CyclicBarrier(4);
            Threads.run(4, thread -> {
                start.await();
                if (thread == 0) {
                    log().erase(KEY);
                    return;
                }
                try {
                    for (int i = 0; i < 20; i++) {
                        second.append(KEY, batch(prefix + thread + "-" + i).inEpoch(epoch));
                    }
                } catch (ErasedException e) {
                    // This failure is expected.
                }
            });
            assertThat(history(log(), KEY)).as("round %s", round).isEmpty();
        }
    }

    @Test
    default void history_forward_meets_every_message_once_while_others_append() throws Exception {
        assertHistoryMeetsAll(HistoryQuery.oldest(7));
    }

    @Test
    default void history_backward_meets_every_message_once_while_others_append() throws Exception {
        assertHistoryMeetsAll(HistoryQuery.newest(7));
    }

    private void assertHistoryMeetsAll(HistoryQuery first) throws Exception {
        MessageLog second = reopen();
        List<String> before = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            before.add("old" + i);
        }
        log().append(KEY, batch(before.toArray(new String[0])));
        List<String> met = new ArrayList<>();
        AtomicBoolean done = new AtomicBoolean();
        Threads.run(3, thread -> {
            if (thread > 0) {
                for (int i = 0; i < 200 && !done.get(); i++) {
                    second.append(KEY, i % 5 == 0 ? batchUnder("old50", thread + "-" + i) : batch(thread + "-" + i));
                }
                return;
            }
            Optional<HistoryQuery> next = Optional.of(first);
            while (next.isPresent()) {
                HistoryPage page = log().history(KEY, next.get());
                met.addAll(first.forward() ? met.size() : 0, ids(page.messages()));
                refuseToPageForEver(met);
                next = page.next();
            }
            done.set(true);
        });

        assertThat(met).doesNotHaveDuplicates();
        assertThat(met.stream().filter(id -> id.startsWith("old"))).containsExactlyElementsOf(before);
    }

    @Test
    default void a_list_meets_every_memory_once_while_others_write() throws Exception {
        MessageLog second = reopen();
        List<MemoryKey> before = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            before.add(0, ConversationKey.of("acme", "old" + i));
            log().append(before.get(0), batch("a"));
        }
        List<MemoryKey> met = new ArrayList<>();
        AtomicBoolean done = new AtomicBoolean();
        Threads.run(3, thread -> {
            if (thread > 0) {
                Random random = new Random(thread);
                for (int i = 0; i < 200 && !done.get(); i++) {
                    second.append(before.get(random.nextInt(before.size())), batch(thread + "-" + i));
                    second.append(ConversationKey.of("acme", "new" + thread + "-" + i), batch("a"));
                }
                return;
            }
            Optional<ListQuery> next = Optional.of(ListQuery.first(4));
            while (next.isPresent()) {
                MemoryPage page = log().list("acme", next.get());
                page.memories().forEach(memory -> met.add(memory.key()));
                refuseToPageForEver(met);
                next = page.next();
            }
            done.set(true);
        });

        assertThat(met).doesNotHaveDuplicates();
        assertThat(met.stream().filter(before::contains)).containsExactlyElementsOf(asListed(before));
    }
}

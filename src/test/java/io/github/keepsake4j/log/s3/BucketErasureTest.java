package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.ErasedException;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.NewMessage;
import io.github.keepsake4j.log.Parent;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Usage;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.Outcome;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.retention.CleanUp;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.Tell;
import io.github.keepsake4j.testing.Threads;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An erasure leaves no id in the bucket, and what began before it does not come back. */
@Timeout(600)
class BucketErasureTest extends BucketFixture {

    private static final ConversationKey ALICE = ConversationKey.of("acme-tenant", "alice@example.org");

    @Test
    void an_erasure_leaves_no_id_in_a_name_or_in_bytes() {
        List<MemoryKey> keys = List.of(
                ALICE,
                ConversationKey.of("default", "alice@example.org"),
                ConversationKey.of("acme-tenant", "alice@example.org".repeat(30)),
                NodeKey.of("acme-tenant", "secret-app", "alice@example.org", "secret-node"),
                NodeKey.of("default", "secret-app", "ü@example.org".repeat(35), "secret-node"));
        for (MemoryKey key : keys) {
            log.append(key, batch("a-" + SECRET, "b-" + SECRET));
            log.append(key, Append.viewOnly(View.of(null, List.of())));
            log.append(
                    key, Append.under(Parent.head(), List.of(message("c", UserMessage.from("x".repeat(80_000)), 1))));
            Logs.describe(log, key, "alice", Map.of("mail", "alice@example.org"));
            NewMessage beside = message("d-" + SECRET, UserMessage.from(SECRET), 1)
                    .withOutcome(Outcome.incomplete("secret"))
                    .withUsage(new Usage(1, 2, 3));
            log.append(key, Append.underHead(beside).onBranch("secret-branch"));
            Logs.setOutcome(log, key, "a-" + SECRET, Outcome.failed("secret"), null);
            long epoch = log.erase(key);
            assertThat(another().read(key, ReadQuery.newest(0)).epoch()).isEqualTo(epoch);
            assertThatThrownBy(() -> another().append(key, batch("d").inEpoch(epoch - 1)))
                    .isInstanceOf(ErasedException.class);
        }

        assertNothingOf("alice", "example.org", "acme-tenant", "secret", SECRET, "%40");
    }

    /**
     * A writer has seen that there is nothing. Another one creates the memory, and it is erased, once or twice, while the first
     * one writes. Requests are delayed and answers are lost at random.
     */
    @Test
    void a_writer_that_read_nothing_brings_no_erased_text_back() throws Exception {
        int schedules = Counts.of(20, 1_000);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int refused = 0;
        int erased = 0;
        int stayed = 0;
        for (int i = 0; i < schedules; i++) {
            End outcome = schedule(random.nextLong());
            switch (outcome) {
                case REFUSED -> refused++;
                case ERASED -> erased++;
                case STAYED -> stayed++;
            }
        }
        Tell.line(
                "%d schedules (seed %d): %d writes were refused, %d were erased, %d began anew",
                schedules, seed, refused, erased, stayed);
        assertThat(refused).isPositive();
        assertThat(erased + stayed).isPositive();
    }

    private enum End {
        REFUSED,
        ERASED,
        STAYED
    }

    private End schedule(long seed) throws Exception {
        Random random = new Random(seed);
        bucket = server.newBucket();
        boolean bound = random.nextInt(3) > 0;
        boolean moving = random.nextBoolean();
        List<MessageLog> logs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            logs.add(another(builder -> builder.moveContentsAbove(moving ? 128 : Long.MAX_VALUE)));
        }
        MessageLog late = logs.get(0);
        long before = late.read(ALICE, ReadQuery.newest(1)).epoch();
        Append write = Append.under(Parent.head(), List.of(message("late", UserMessage.from(SECRET + " late"), 1)));
        Append append = bound ? write.inEpoch(before) : write;
        CountDownLatch begin = disturb(random, random.nextInt(20));
        AtomicReference<End> outcome = new AtomicReference<>();
        AtomicLong epoch = new AtomicLong();
        int erasers = 1 + random.nextInt(2);
        int[] delays = random.ints(4, 0, 12).toArray();
        try {
            Threads.run(1 + erasers, thread -> {
                if (thread == 0) {
                    try {
                        assertThat(begin.await(60, TimeUnit.SECONDS)).isTrue();
                        until(() -> late.append(ALICE, append));
                        outcome.set(End.STAYED);
                    } catch (ErasedException e) {
                        outcome.set(End.REFUSED);
                    }
                } else {
                    sleep(delays[thread]);
                    MessageLog log = logs.get(thread);
                    String id = SECRET + " created " + thread;
                    until(() -> log.append(
                            ALICE,
                            Append.under(
                                    Parent.head(),
                                    List.of(message(
                                            id,
                                            UserMessage.from(
                                                    TextContent.from(id),
                                                    ImageContent.from("c2VjcmV0".repeat(40), "image/png")),
                                            1)))));
                    AtomicLong own = new AtomicLong();
                    until(() -> own.set(log.erase(ALICE)));
                    epoch.accumulateAndGet(own.get(), Math::max);
                    while (begin.getCount() > 0) {
                        begin.countDown();
                    }
                }
            });
        } finally {
            server.leaveAlone();
        }
        MessageLog fresh = another();
        List<String> there = ids(history(fresh, ALICE));
        assertThat(there).as("seed %s", seed).isSubsetOf("late");
        assertThat(fresh.read(ALICE, ReadQuery.newest(0)).epoch())
                .as("seed %s", seed)
                .isEqualTo(epoch.get());
        if (bound) {
            assertThat(there).as("seed %s: it began before the erasure", seed).isEmpty();
        } else if (!there.isEmpty()) {
            assertThat(outcome.get()).isEqualTo(End.STAYED);
            fresh.erase(ALICE);
        }
        assertThat(allObjects()).as("seed %s", seed).noneMatch(object -> object.contains("alice"));
        assertNothingOf("alice", "example.org", "acme-tenant", SECRET, "c2VjcmV0");
        return outcome.get() == End.STAYED && there.isEmpty() ? End.ERASED : outcome.get();
    }

    /**
     * Delays requests, and loses some before they are served and some answers.
     *
     * @return what opens after some requests, so that a writer begins anywhere in the others' work however fast they are
     */
    private CountDownLatch disturb(Random seeds, int requests) {
        Random random = new Random(seeds.nextLong());
        CountDownLatch begin = new CountDownLatch(requests);
        server.before(request -> {
            begin.countDown();
            int dice = next(random, 100);
            if (dice < 3) {
                S3Server.fail(503);
            }
            sleep(dice < 40 ? next(random, 8) : 0);
        });
        server.after(request -> {
            if (next(random, 100) < 3) {
                S3Server.fail(500);
            }
        });
        return begin;
    }

    private static int next(Random random, int bound) {
        synchronized (random) {
            return random.nextInt(bound);
        }
    }

    /** Delays a request. The delay is part of the test. */
    private static void sleep(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Repeats a call as a caller does until it is known to have succeeded. */
    private static void until(Runnable call) {
        for (int i = 0; i < 20; i++) {
            try {
                call.run();
                return;
            } catch (StorageUnavailableException e) {
                assertThat(e.isRetryable()).isTrue();
            }
        }
        throw new AssertionError("20 times in vain");
    }

    @Test
    void a_writer_that_is_refused_leaves_no_id_even_if_an_answer_is_lost() {
        MessageLog late = another();
        long before = late.read(ALICE, ReadQuery.newest(1)).epoch();
        log.append(ALICE, batch("a"));
        log.erase(ALICE);
        AtomicLong puts = new AtomicLong();
        server.after(request -> {
            // The first one creates the document, and the second one is to take it back.
            if (request.equals("PUT " + nameOf(ALICE)) && puts.incrementAndGet() == 2) {
                S3Server.fail(500);
            }
        });

        assertThatThrownBy(() -> late.append(ALICE, batch("late").inEpoch(before)))
                .isInstanceOf(ErasedException.class);

        server.leaveAlone();
        assertThat(puts).hasValue(2);
        assertNothingOf("alice", "acme-tenant", "late");
    }

    @Test
    void an_erasure_that_is_left_half_way_hides_the_memory_and_the_next_writer_ends_it() {
        MessageLog other = another();
        long before = log.append(ALICE, batch("a")).epoch();
        log.append(ALICE, Append.viewOnly(View.of(null, List.of())));
        eraseHalfWay();

        assertThat(branch(other, ALICE)).isEmpty();
        assertThat(list(other, ALICE.tenant(), 10)).isEmpty();
        assertThatThrownBy(() -> other.append(ALICE, batch("b").inEpoch(before)))
                .isInstanceOf(ErasedException.class);
        other.append(ALICE, batch("b"));
        assertThat(ids(history(another(), ALICE))).containsExactly("b");
        assertThat(objects()).containsExactly(nameOf(ALICE));
    }

    @Test
    void an_erasure_that_is_left_half_way_is_ended_by_the_next_clean_up() {
        log.append(ALICE, batch("a"));
        log.append(ALICE, Append.viewOnly(View.of(null, List.of())));
        eraseHalfWay();
        assertThat(objects()).isNotEmpty();

        assertThat(CleanUp.of(another()).run(ALICE.tenant())).isEqualTo(new CleanUp.Report(0, 0, 0, 0));

        assertNothingOf("alice", "acme-tenant", SECRET);
    }

    /** The eraser writes its mark and nothing after it, as if it was killed. */
    private void eraseHalfWay() {
        MessageLog dying = another();
        AtomicBoolean marked = new AtomicBoolean();
        server.before(request -> {
            if (marked.get()) {
                S3Server.fail(503);
            }
        });
        server.after(request -> marked.compareAndSet(false, request.equals("PUT " + nameOf(ALICE))));
        assertThatThrownBy(() -> dying.erase(ALICE)).isInstanceOf(StorageUnavailableException.class);
        server.leaveAlone();
    }

    @Test
    void a_program_that_writes_into_the_mark_of_an_erasure_loses_nothing() throws Exception {
        log.append(NODE, batch("a"));
        server.after(request -> {
            if (request.equals("PUT " + NODE_OBJECT)) {
                server.leaveAlone();
                put(
                        NODE_OBJECT,
                        """
                        {"version":1,"messages":[{"message_id":"x","role":"user","content":"new"}]}
                        """);
            }
        });

        long epoch = log.erase(NODE);

        assertThat(branch(another(), NODE)).containsExactly("x");
        assertThat(another().read(NODE, ReadQuery.newest(0)).epoch())
                .as("the epoch is not that of a new memory")
                .isEqualTo(epoch);
    }

    @Test
    void tombstones_go_when_no_work_can_be_under_way_from_before() {
        for (int i = 0; i < 5; i++) {
            ConversationKey key = ConversationKey.of(ALICE.tenant(), "c" + i);
            log.append(key, batch("a"));
            log.erase(key);
        }
        log.append(NODE, batch("a"));
        log.erase(NODE);

        assertThat(CleanUp.of(log).run(ALICE.tenant())).isEqualTo(new CleanUp.Report(0, 0, 0, 0));
        assertThat(allObjects()).as("they are new").hasSize(6);
        assertThat(log.removeTombstones(ALICE.tenant(), Instant.now().minus(Duration.ofDays(30))))
                .isZero();
        assertThat(log.removeTombstones(ALICE.tenant(), Instant.now().plusSeconds(60)))
                .isEqualTo(5);
        assertThat(allObjects()).as("another tenant's").hasSize(1);
        log.append(ConversationKey.of(ALICE.tenant(), "c1"), batch("b"));
        assertThat(list(log, ALICE.tenant(), 10)).hasSize(1);
    }

    @Test
    void a_lease_that_ends_after_the_erasure_leaves_no_id() {
        log.append(ALICE, batch("a"));
        log.acquireLease(ALICE, "turn", "me", Duration.ofHours(1));
        log.erase(ALICE);
        log.releaseLease(ALICE, "turn", "me");
        assertNothingOf("alice", "acme-tenant");

        // A lease is renewed until its turn ends.
        log.acquireLease(ALICE, "turn", "me", Duration.ofHours(1));
        log.releaseLease(ALICE, "turn", "me");
        assertNothingOf("alice", "acme-tenant");
    }

    private void assertNothingOf(String... texts) {
        for (String object : allObjects()) {
            assertThat(object).doesNotContainIgnoringCase(texts);
            assertThat(text(object)).as(object).doesNotContainIgnoringCase(texts);
            assertThat(new String(bytes(object), StandardCharsets.ISO_8859_1)).doesNotContainIgnoringCase(texts);
        }
    }
}

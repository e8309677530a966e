package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.*;
import static io.github.keepsake4j.testing.Dialogue.ai;
import static io.github.keepsake4j.testing.Dialogue.call;
import static io.github.keepsake4j.testing.Dialogue.calls;
import static io.github.keepsake4j.testing.Dialogue.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.model.chat.mock.ChatModelMock;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.SystemMessage;
import dev.langchain4j.service.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.Append;
import io.github.keepsake4j.log.AppendResult;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Logs;
import io.github.keepsake4j.testing.S3Server;
import io.github.keepsake4j.testing.Threads;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.S3Client;

/** The requests on the wire, including those when another writer is first or an answer is lost. */
@Timeout(600)
class RequestsTest extends BucketFixture {

    @Test
    void each_call_takes_as_few_requests_as_it_can() {
        assertThat(requests(() -> log.append(NODE, batch("a"))))
                .as("a new memory, which may have been erased")
                .isEqualTo("3 GET, 1 PUT");
        assertThat(requests(() -> log.append(NODE, batch("b")))).isEqualTo("1 PUT");
        assertThat(requests(() -> log.read(NODE, ReadQuery.newest(9)))).isEqualTo("1 GET");
        assertThat(requests(() -> log.append(NODE, batch("b")))).as("a replay").isEqualTo("1 GET");
        assertThat(requests(() -> log.acquireLease(NODE, "work", "one", Duration.ofHours(1))))
                .isEqualTo("1 PUT");
        assertThat(requests(() -> log.acquireLease(NODE, "work", "two", Duration.ofHours(1))))
                .isEqualTo("1 GET");
        assertThat(requests(() -> log.releaseLease(NODE, "work", "two"))).isEqualTo("1 GET");
        MessageLog second = another();
        assertThat(requests(() -> second.append(NODE, batch("c")))).isEqualTo("1 GET, 1 PUT");
        MessageLog third = another();
        assertThat(requests(() -> third.read(NODE, ReadQuery.newest(1)))).isEqualTo("1 GET");
        assertThat(requests(() -> log.append(NODE, batch("d"))))
                .as("another writer was first")
                .isEqualTo("1 GET, 2 PUT");
        assertThat(requests(() -> log.append(NODE, Append.viewOnly(View.of(null, List.of())))))
                .as("a clear")
                .isEqualTo("2 PUT");
        assertThat(requests(() -> log.append(NODE, batch("e")))).isEqualTo("1 PUT");
        assertThat(requests(() -> log.read(NODE, ReadQuery.wholeBranch()))).isEqualTo("1 GET");
        assertThat(requests(() -> second.read(NODE, ReadQuery.wholeBranch()))).isEqualTo("2 GET");
        log.append(NODE, batch("f"));
        assertThat(requests(() -> second.read(NODE, ReadQuery.wholeBranch())))
                .as("what was cleared is fetched once")
                .isEqualTo("1 GET");
    }

    @Test
    void the_server_is_tried_once_for_each_log_and_before_its_first_creation() throws Exception {
        bucket = server.newBucket();
        try (MessageLog first =
                        S3MessageLog.builder().client(client).bucket(bucket).build();
                MessageLog second =
                        S3MessageLog.builder().client(client).bucket(bucket).build()) {
            assertThat(requests(() -> first.read(NODE, ReadQuery.newest(1))))
                    .as("a read needs no try")
                    .isEqualTo("2 GET");
            AtomicInteger tries = new AtomicInteger();
            server.before(request -> {
                if (request.equals("PUT aside/probe")) {
                    tries.incrementAndGet();
                }
            });
            Threads.run(8, thread -> first.append(ConversationKey.of("default", "c" + thread), batch("a")));
            assertThat(tries).as("one object twice, for all threads").hasValue(2);
            second.append(NODE, batch("a"));
            assertThat(tries).as("the object is there").hasValue(3);
            assertThat(requests(() -> second.append(NODE, batch("b")))).isEqualTo("1 PUT");
            assertThat(requests(() -> second.append(ConversationKey.of("default", "new"), batch("a"))))
                    .isEqualTo("3 GET, 1 PUT");
        }
    }

    private static final AiMessage TWO_CALLS =
            AiMessage.from(call("1", "add", "{\"a\":1,\"b\":2}"), call("2", "add", "{\"a\":3,\"b\":4}"));

    interface Assistant {
        @SystemMessage("Be brief")
        String chat(@MemoryId Object id, @UserMessage String text);
    }

    static class Calculator {
        @Tool
        int add(int a, int b) {
            return a + b;
        }
    }

    private static Assistant assistant(Keepsake keepsake, AiMessage... answers) {
        return AiServices.builder(Assistant.class)
                .chatModel(ChatModelMock.thatAlwaysResponds(answers))
                .chatMemoryProvider(keepsake.chatMemoryProvider())
                .tools(new Calculator())
                .build();
    }

    @Test
    void a_turn_of_an_ai_service_is_one_read_and_one_write_in_turn_mode() {
        MessageLog turns = another(S3MessageLog.Builder::turnMode);
        Assistant assistant = assistant(
                Keepsake.builder().messageLog(turns).build(),
                TWO_CALLS,
                ai("3 and 7"),
                TWO_CALLS,
                ai("again"),
                ai("bye"));

        assertThat(requests(() -> assistant.chat(NODE, "first")))
                .as("a new memory")
                .isEqualTo("3 GET, 1 PUT");
        int unchanged = wire.count("304");
        assertThat(requests(() -> assistant.chat(NODE, "again"))).isEqualTo("1 GET, 1 PUT");
        assertThat(requests(() -> assistant.chat(NODE, "bye"))).isEqualTo("1 GET, 1 PUT");
        assertThat(requests(() -> turns.read(NODE, ReadQuery.newest(50)))).isEqualTo("1 GET");
        assertThat(wire.count("304") - unchanged).as("unchanged").isEqualTo(3);

        assertThat(another().read(NODE, ReadQuery.wholeBranch()).messages())
                .extracting(message -> message.message().type().name())
                .containsExactly(
                        "SYSTEM",
                        "USER",
                        "AI",
                        "TOOL_EXECUTION_RESULT",
                        "TOOL_EXECUTION_RESULT",
                        "AI",
                        "USER",
                        "AI",
                        "TOOL_EXECUTION_RESULT",
                        "TOOL_EXECUTION_RESULT",
                        "AI",
                        "USER",
                        "AI");
        turns.close();
    }

    @Test
    void the_same_turn_is_a_write_for_each_append_otherwise() {
        Assistant assistant = assistant(Keepsake.builder().messageLog(log).build(), TWO_CALLS, ai("3 and 7"));
        assertThat(requests(() -> assistant.chat(NODE, "first"))).isEqualTo("3 GET, 5 PUT");
    }

    @Test
    void a_memory_that_is_added_to_before_it_is_read_takes_no_more_in_turn_mode() {
        MessageLog turns = another(S3MessageLog.Builder::turnMode);
        Keepsake keepsake = Keepsake.builder().messageLog(turns).build();
        for (int turn = 0; turn < 3; turn++) {
            ChatMemory memory = keepsake.chatMemory(NODE);
            int number = turn;
            assertThat(requests(() -> {
                        memory.add(dev.langchain4j.data.message.UserMessage.from("question " + number));
                        assertThat(memory.messages()).hasSize(5 * number + 1);
                        memory.add(calls("a" + number, "b" + number));
                        memory.add(result("a" + number));
                        memory.add(result("b" + number));
                        assertThat(memory.messages()).hasSize(5 * number + 4);
                        memory.add(ai("answer " + number));
                    }))
                    .as("turn %s", turn)
                    .isEqualTo(turn == 0 ? "3 GET, 1 PUT" : "1 GET, 1 PUT");
        }
        assertThat(another().read(NODE, ReadQuery.wholeBranch()).messages()).hasSize(15);
        turns.close();
    }

    /** A node of a workflow engine does this: it knows its messages when the model has answered. */
    @Test
    void a_turn_that_is_appended_as_one_batch_is_one_read_and_one_write() {
        log.append(NODE, batch("a", "b"));
        assertThat(requests(() -> {
                    Tail tail = log.read(NODE, ReadQuery.newest(50));
                    log.append(NODE, batch("c", "d").inEpoch(tail.epoch()).expectingHead(tail.head()));
                }))
                .isEqualTo("1 GET, 1 PUT");
    }

    @Test
    void a_list_reads_only_what_has_changed() {
        for (int i = 0; i < 5; i++) {
            log.append(ConversationKey.of("default", "c" + i), batch("a"));
        }
        MessageLog fresh = another();
        assertThat(requests(() -> fresh.list("default", ListQuery.first(2)))).isEqualTo("2 GET, 1 LIST");
        assertThat(requests(() -> fresh.list("default", ListQuery.first(9)))).isEqualTo("3 GET, 1 LIST");
        assertThat(requests(() -> fresh.list("default", ListQuery.first(9).byActivity())))
                .isEqualTo("1 LIST");
        log.append(ConversationKey.of("default", "c3"), batch("b"));
        assertThat(requests(() -> fresh.list("default", ListQuery.first(9)))).isEqualTo("1 GET, 1 LIST");
    }

    @Test
    void what_has_not_changed_is_not_transferred() {
        AtomicInteger bytes = new AtomicInteger();
        AtomicInteger unchanged = new AtomicInteger();
        try (S3Client watched = S3Server.client(server.port(), new ExecutionInterceptor() {
            @Override
            public void beforeUnmarshalling(Context.BeforeUnmarshalling context, ExecutionAttributes attributes) {
                unchanged.addAndGet(context.httpResponse().statusCode() == 304 ? 1 : 0);
                context.httpResponse()
                        .firstMatchingHeader("Content-Length")
                        .ifPresent(length -> bytes.addAndGet(Integer.parseInt(length)));
            }
        })) {
            MessageLog reader =
                    S3MessageLog.builder().client(watched).bucket(bucket).build();
            log.append(NODE, batch("a"));
            reader.read(NODE, ReadQuery.newest(1));
            assertThat(bytes.get()).isGreaterThan(100);
            bytes.set(0);

            for (int i = 0; i < 5; i++) {
                assertThat(ids(reader.read(NODE, ReadQuery.newest(1)).messages()))
                        .containsExactly("a");
            }
            assertThat(unchanged).hasValue(5);
            assertThat(bytes).hasValue(0);
            log.append(NODE, batch("b"));
            assertThat(ids(reader.read(NODE, ReadQuery.newest(1)).messages())).containsExactly("b");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {412, 409, 404})
    void who_was_first_is_built_upon(int status) {
        log.append(NODE, batch("a"));
        MessageLog other = another();
        once("PUT", true, () -> {
            if (status == 404) {
                client.deleteObject(request -> request.bucket(bucket).key(NODE_OBJECT));
            } else {
                other.append(NODE, batch("x"));
            }
            if (status == 409) {
                S3Server.fail(409);
            }
        });

        AppendResult result = log.append(NODE, batch("b"));

        assertThat(result.previousHead()).isEqualTo(status == 404 ? null : "x");
        assertThat(branch(another(), NODE)).isEqualTo(status == 404 ? List.of("b") : List.of("a", "x", "b"));
    }

    @Test
    void an_answer_that_is_lost_does_not_make_a_writer_lose_to_itself() {
        log.append(NODE, batch("a"));
        Map<String, Runnable> changes = Map.of(
                "append",
                        () -> {
                            AppendResult result = log.append(NODE, batch("b"));
                            assertThat(result.replayed()).isFalse();
                            assertThat(result.previousHead()).isEqualTo("a");
                        },
                "lease",
                        () -> assertThat(log.acquireLease(NODE, "work", "one", Duration.ofHours(1)))
                                .isPresent(),
                "summary",
                        () -> Logs.putSummary(
                                log, NODE, new Summary("a", "text", 1, "c", 1, 1, null, Instant.EPOCH), 1),
                "clear", () -> log.append(NODE, Append.viewOnly(View.of(null, List.of()))));
        for (String name : List.of("append", "lease", "summary", "clear")) {
            MessageLog other = another();
            once("PUT", false, () -> {
                // Other writers continue from the written document.
                for (int i = 0; i < 5 && !name.equals("clear"); i++) {
                    Logs.describe(other, NODE, "title " + name + i, Map.of());
                }
                S3Server.fail(500);
            });
            changes.get(name).run();
        }

        assertThat(ids(history(another(), NODE))).containsExactly("a", "b");
        assertThat(Logs.summaries(another(), NODE)).hasSize(1);
        assertThat(another().acquireLease(NODE, "work", "two", Duration.ofHours(1)))
                .isEmpty();
        assertThat(list(another(), "default", 1).get(0).title()).isEqualTo("title summary4");
    }

    /** The remains of an answer whose connection was cut within its head. */
    @ParameterizedTest
    @ValueSource(strings = {"PUT", "GET"})
    void an_answer_without_its_etag_is_none(String kind) {
        AtomicInteger cut = new AtomicInteger();
        try (S3Client client = S3Server.client(server.port(), wire, new ExecutionInterceptor() {
            @Override
            public SdkHttpResponse modifyHttpResponse(
                    Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
                SdkHttpResponse response = context.httpResponse();
                boolean first = context.httpRequest().method().name().equals(kind)
                        && response.statusCode() == 200
                        && cut.getAndIncrement() == 0;
                return first ? response.copy(changed -> changed.removeHeader("ETag")) : response;
            }
        })) {
            log.append(NODE, batch("a"));
            MessageLog cutOff =
                    S3MessageLog.builder().client(client).bucket(bucket).build();
            assertThat(cutOff.append(NODE, batch("b")).replayed()).isFalse();
            assertThat(cutOff.append(NODE, batch("c")).previousHead()).isEqualTo("b");
            assertThat(cut.get()).isPositive();
        }
        assertThat(ids(history(another(), NODE))).containsExactly("a", "b", "c");
    }

    @Test
    void an_erase_whose_answer_is_lost_erases_once() {
        log.append(NODE, batch("a"));
        MessageLog other = another();
        once("PUT", false, () -> {
            other.append(NODE, batch("new"));
            S3Server.fail(500);
        });

        long epoch = log.erase(NODE);

        assertThat(branch(another(), NODE)).containsExactly("new");
        assertThat(another().read(NODE, ReadQuery.newest(0)).epoch()).isEqualTo(epoch);
    }

    @Test
    void a_write_without_an_answer_is_looked_for_before_it_is_repeated() {
        log.append(NODE, batch("a"));
        AtomicInteger puts = new AtomicInteger();
        server.after(request -> {
            if (request.startsWith("PUT") && puts.incrementAndGet() == 1) {
                // From now on no write succeeds, so the client gives up.
                server.before(next -> {
                    if (next.startsWith("PUT")) {
                        S3Server.fail(503);
                    }
                });
                S3Server.fail(500);
            }
        });

        assertThat(log.append(NODE, batch("b")).replayed()).isFalse();
        server.leaveAlone();
        assertThat(branch(another(), NODE)).containsExactly("a", "b");
    }

    @Test
    void a_clear_that_fails_half_way_loses_nothing() throws Exception {
        log.append(NODE, batch("a", "b"));
        server.before(request -> {
            if (request.equals("PUT " + NODE_OBJECT)) {
                S3Server.fail(503);
            }
        });
        assertThatThrownBy(() -> log.append(NODE, Append.viewOnly(View.of(null, List.of()))))
                .isInstanceOf(StorageUnavailableException.class);
        server.leaveAlone();

        assertThat(PlainProgram.thread(text(NODE_OBJECT))).containsExactly("a", "b");
        assertThat(branch(another(), NODE)).containsExactly("a", "b");
        another().append(NODE, Append.viewOnly(View.of(null, List.of())));
        assertThat(PlainProgram.read(text(NODE_OBJECT))).isEmpty();
        assertThat(ids(history(another(), NODE))).containsExactly("a", "b");
    }

    @Test
    void contents_beside_the_document_may_be_removed_during_a_read() {
        log.append(NODE, batch("a", "b"));
        log.append(NODE, Append.viewOnly(View.of(null, List.of())));
        MessageLog reader = another();
        AtomicInteger gets = new AtomicInteger();
        server.before(request -> {
            if (request.startsWith("GET") && gets.incrementAndGet() == 2) {
                Logs.moveHead(log, NODE, "a", null);
            }
        });

        assertThat(ids(history(reader, NODE))).containsExactly("a", "b");
    }

    @Test
    void denied_access_is_a_clear_error_that_no_retry_mends() throws Exception {
        S3Server strict = S3Server.start(S3Server.Kind.CHECKS_SIGNATURES);
        try {
            String closed = strict.newBucket();
            try (MessageLog stranger =
                    S3MessageLog.connect(strict.endpoint(), S3Server.REGION, S3Server.ACCESS_KEY, "wrong", closed)) {
                assertThatThrownBy(() -> stranger.read(NODE, ReadQuery.newest(1)))
                        .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                                .isFalse())
                        .hasMessageContaining("Check the access key")
                        .hasMessageContaining(closed)
                        .hasMessageContaining(NODE.canonical());
            }
            for (boolean chunked : new boolean[] {false, true}) {
                try (MessageLog own = S3MessageLog.connect(
                        strict.endpoint(),
                        S3Server.REGION,
                        S3Server.ACCESS_KEY,
                        S3Server.SECRET_KEY,
                        closed,
                        builder -> builder.chunkedSigning(chunked))) {
                    own.append(NODE, batch("m" + chunked));
                    assertThat(branch(own, NODE)).endsWith("m" + chunked);
                }
            }
        } finally {
            strict.stop();
        }
    }

    @Test
    void a_bucket_that_does_not_exist_is_a_clear_error_that_no_retry_mends() {
        assertThatThrownBy(() -> S3MessageLog.builder()
                        .client(client)
                        .bucket("not-there")
                        .build()
                        .append(NODE, batch("a")))
                .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                        .isFalse())
                .hasMessageContaining("the bucket not-there does not exist");
    }

    @Test
    void a_client_that_was_given_stays_open_and_ones_own_is_closed() {
        log.append(NODE, batch("a"));
        log.close();
        assertThatCode(() -> client.listBuckets()).doesNotThrowAnyException();
        assertThatThrownBy(() -> log.read(NODE, ReadQuery.newest(1))).isInstanceOf(StorageClosedException.class);
        S3MessageLog own = S3MessageLog.connect(
                server.endpoint(), S3Server.REGION, S3Server.ACCESS_KEY, S3Server.SECRET_KEY, bucket);
        own.append(NODE, batch("b"));
        own.close();
        own.close();
        List<Runnable> calls = List.of(
                () -> own.read(NODE, ReadQuery.newest(1)),
                () -> own.append(NODE, batch("c")),
                () -> own.list("default", ListQuery.first(1)),
                () -> own.erase(NODE));
        for (Runnable call : calls) {
            assertThatThrownBy(call::run)
                    .isInstanceOfSatisfying(StorageClosedException.class, e -> assertThat(e.isRetryable())
                            .isFalse());
        }
        assertThat(branch(another(), NODE)).containsExactly("a", "b");
    }

    @Test
    void a_log_that_is_closed_while_a_request_is_under_way_says_so() {
        S3MessageLog own = S3MessageLog.connect(
                server.endpoint(), S3Server.REGION, S3Server.ACCESS_KEY, S3Server.SECRET_KEY, bucket);
        once("PUT", false, () -> {
            own.close();
            S3Server.fail(500);
        });
        assertThatThrownBy(() -> own.append(NODE, batch("a"))).isInstanceOf(StorageClosedException.class);
    }

    @Test
    void what_does_not_go_together_is_refused() {
        assertThatThrownBy(() -> S3MessageLog.builder().client(client).build())
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("bucket");
        assertThatThrownBy(() -> S3MessageLog.builder()
                        .client(client)
                        .bucket("b")
                        .endpoint(URI.create("http://x"))
                        .build())
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("client");
    }
}

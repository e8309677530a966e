package io.github.keepsake4j.log.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.keepsake4j.log.ConcurrencyContract;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.TestClock;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.testing.S3Server;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.extension.RegisterExtension;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * The contract's tests of concurrency on a server that takes {@code If-None-Match: *} for an object that is there. Each of them
 * is refused by name, and nothing is stored.
 */
@Timeout(300)
class S3RefusedServerTest implements ConcurrencyContract {

    private static S3Server server;
    private static S3Client client;

    private final TestClock clock = new TestClock();
    private final List<MessageLog> opened = new ArrayList<>();
    private String bucket;

    @RegisterExtension
    final InvocationInterceptor refusal = new InvocationInterceptor() {
        @Override
        public void interceptTestMethod(
                Invocation<Void> test, ReflectiveInvocationContext<Method> method, ExtensionContext context) {
            Throwable thrown = catchThrowable(test::proceed);
            while (thrown != null && !(thrown instanceof KeepsakeException)) {
                thrown = thrown.getCause();
            }
            assertThat(thrown)
                    .isInstanceOfSatisfying(KeepsakeException.class, e -> assertThat(e.isRetryable())
                            .isFalse())
                    .hasMessageContaining("bucket " + bucket)
                    .hasMessageContaining("If-None-Match")
                    .hasMessageContaining("versioning");
            assertThat(client.listObjectsV2(request -> request.bucket(bucket)).contents())
                    .extracting(S3Object::key)
                    .containsExactly("aside/probe");
        }
    };

    @BeforeAll
    static void start() throws Exception {
        server = S3Server.start(S3Server.Kind.CREATES_WHAT_IS_THERE);
        client = S3Server.client(server.port());
    }

    @AfterAll
    static void stop() {
        client.close();
        server.stop();
    }

    @BeforeEach
    void open() {
        bucket = server.newBucket();
        reopen();
    }

    @AfterEach
    void close() {
        opened.forEach(MessageLog::close);
    }

    @Override
    public MessageLog log() {
        return opened.get(0);
    }

    @Override
    public TestClock clock() {
        return clock;
    }

    @Override
    public MessageLog reopen() {
        opened.add(S3MessageLog.builder()
                .client(client)
                .bucket(bucket)
                .clock(clock)
                .build());
        return opened.get(opened.size() - 1);
    }

    @Override
    public void corrupt(MemoryKey key, String messageId) {
        throw new UnsupportedOperationException();
    }

    @Override
    public String rawBytes(MemoryKey key, String messageId) {
        throw new UnsupportedOperationException();
    }
}

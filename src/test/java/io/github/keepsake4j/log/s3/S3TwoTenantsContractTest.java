package io.github.keepsake4j.log.s3;

import static io.github.keepsake4j.log.LogTesting.batch;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.TenantMismatchException;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.testing.Logs;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/**
 * The contract beside another tenant's log, whose own documents would have the same names. After each call, that log
 * asks for the memory with the same ids, and it tries to change it after each append. {@link TenantOfADocumentTest}
 * tries each kind of call once.
 */
@Tag("full")
class S3TwoTenantsContractTest extends S3MessageLogTest {

    private static final String HERE = "acme";
    private static final String THERE = "globex";
    private static final AtomicInteger REFUSED = new AtomicInteger();

    private final Queue<String> crossed = new ConcurrentLinkedQueue<>();
    private final AtomicInteger calls = new AtomicInteger();
    private MessageLog neighbour;

    @Override
    S3MessageLog.Builder configured(S3MessageLog.Builder builder) {
        return builder.defaultTenant(HERE);
    }

    @Override
    ObjectNames names() {
        return new ObjectNames("chat/", HERE);
    }

    @Override
    protected MessageLog open(Clock clock) {
        MessageLog log = super.open(clock);
        neighbour = builder(clock).defaultTenant(THERE).build();
        return watched(log);
    }

    @Override
    protected MessageLog openAgain(Clock clock) {
        return watched(configured(builder(clock)).build());
    }

    @AfterEach
    void nothing_crossed() {
        neighbour.close();
        assertThat(crossed).isEmpty();
    }

    @AfterAll
    static void calls_were_refused() {
        assertThat(REFUSED).hasValueGreaterThan(100);
    }

    private MessageLog watched(MessageLog log) {
        return (MessageLog) Proxy.newProxyInstance(
                MessageLog.class.getClassLoader(),
                new Class<?>[] {MessageLog.class},
                (proxy, method, arguments) -> call(log, method, arguments));
    }

    private Object call(MessageLog log, Method method, Object[] arguments) throws Throwable {
        Object result;
        try {
            result = method.invoke(log, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
        MemoryKey key = Logs.key(arguments);
        if (key != null && key.tenant().equals(HERE)) {
            look(there(key));
            // A name that is a hash is each tenant's own.
            if (method.getName().equals("append")
                    && !ObjectNames.isHashed(names().document(key))
                    && !log.history(key, HistoryQuery.newest(1)).messages().isEmpty()) {
                change(there(key));
            }
        }
        return result;
    }

    private static MemoryKey there(MemoryKey key) {
        return key instanceof NodeKey node
                ? NodeKey.of(THERE, node.appId(), node.conversationId(), node.nodeId())
                : ConversationKey.of(THERE, ((ConversationKey) key).conversationId());
    }

    private void look(MemoryKey key) {
        String conversation =
                key instanceof NodeKey node ? node.conversationId() : ((ConversationKey) key).conversationId();
        List<Supplier<Collection<?>>> questions = List.of(
                () -> neighbour.read(key, ReadQuery.wholeBranch()).messages(),
                () -> neighbour.history(key, HistoryQuery.newest(9)).messages(),
                () -> neighbour.branches(key),
                () -> Logs.summaries(neighbour, key),
                () -> Logs.details(neighbour, key).views(),
                () -> neighbour.check(key),
                () -> neighbour.list(THERE, ListQuery.first(9)).memories(),
                () -> neighbour.list(THERE, ListQuery.first(9).byActivity()).memories(),
                () -> neighbour.nodes(ConversationKey.of(THERE, conversation)),
                () -> Logs.usage(neighbour, THERE, LocalDate.MIN, LocalDate.MAX));
        int number = calls.incrementAndGet() % questions.size();
        ask("question " + number, questions.get(number));
    }

    /** Uses a log that remembers nothing: one that saw the name free may take it after an erasure, before the owner does. */
    private void change(MemoryKey key) {
        MessageLog other = builder(clock()).defaultTenant(THERE).build();
        List<Supplier<Collection<?>>> changes = List.of(
                () -> List.of(other.append(key, batch("theirs"))),
                () -> List.of(other.erase(key)),
                () -> List.of(other.eraseIfIdle(key, Instant.MAX)).stream()
                        .filter(erased -> erased)
                        .toList(),
                () -> List.of(Logs.mergeMetadata(other, key, Map.of("a", "b"))));
        int number = calls.get() % changes.size();
        ask("change " + number, changes.get(number));
    }

    private void ask(String what, Supplier<Collection<?>> question) {
        try {
            if (!question.get().isEmpty()) {
                crossed.add(what);
            }
        } catch (TenantMismatchException e) {
            REFUSED.incrementAndGet();
        } catch (UnreadableDataException | StorageUnavailableException e) {
            // A damaged document, or a test's outage.
        } catch (KeepsakeException e) {
            crossed.add(what + ": " + e);
        }
    }
}

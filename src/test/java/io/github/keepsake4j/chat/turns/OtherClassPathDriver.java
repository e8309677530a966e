package io.github.keepsake4j.chat.turns;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.chat.KeepsakeChatMemoryStore;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.Tail;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.words.Words;
import io.github.keepsake4j.recall.words.Words.Token;
import io.github.keepsake4j.summary.SummaryTask;
import io.github.keepsake4j.summary.SummaryWorker;
import io.github.keepsake4j.testing.Dialogue;
import io.github.keepsake4j.testing.Script;
import io.github.keepsake4j.testing.WordCounter;
import io.github.keepsake4j.tokens.TokenCounter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.S3Client;

/** Runs in the class loaders that {@link OtherClassPathsTest} creates. */
public final class OtherClassPathDriver {

    private OtherClassPathDriver() {}

    /** Chats on SQLite and returns the number of messages in the memory. */
    public static String sqlite() throws Exception {
        Path directory = Files.createTempDirectory("keepsake");
        try (MessageLog log = SqliteMessageLog.open(directory.resolve("chat.db"))) {
            ChatMemory memory = Keepsake.builder()
                    .messageLog(log)
                    .tokenCountEstimator(new WordCounter())
                    .build()
                    .chatMemory("alice");
            memory.add(UserMessage.from("1"));
            return Integer.toString(memory.messages().size());
        }
    }

    /** A service whose calls are watched. */
    public interface Assistant {
        TokenStream stream(@MemoryId String id, @dev.langchain4j.service.UserMessage String text);
    }

    /** Streams an answer and returns the conversation. */
    public static String stream() {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(new InMemoryMessageLog())
                .tokenCountEstimator(new WordCounter())
                .build();
        StringBuilder tokens = new StringBuilder();
        StreamingChatModel model = new StreamingChatModel() {
            @Override
            public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
                handler.onPartialResponse("Hello");
                handler.onCompleteResponse(Script.response(AiMessage.from("Hello")));
            }
        };
        keepsake.aiServices(Assistant.class).streamingChatModel(model).build().stream("alice", "Hi")
                .onPartialResponse(tokens::append)
                .onError(error -> {})
                .start();
        return tokens + " " + EndingTurns.history(keepsake, "alice");
    }

    /** Opens a log and returns the error. */
    public static String openSqlite() {
        return error(() -> SqliteMessageLog.open(Path.of("chat.db")))
                + error(() -> MessageLogs.sqlite(Path.of("c.db")));
    }

    /** Opens a log and returns the error. */
    public static String openPostgres() {
        return error(() ->
                PostgresMessageLog.open("jdbc:postgresql://127.0.0.1:1/chat", "user", "secret", SchemaMode.EMBEDDED));
    }

    /** Opens a log and returns the error. */
    public static String openRedis() {
        return error(() -> RedisMessageLog.connect(URI.create("redis://127.0.0.1:1")));
    }

    /** Opens a log and returns the error. */
    public static String openS3() {
        return error(
                () -> S3MessageLog.connect(URI.create("http://127.0.0.1:1"), "us-east-1", "key", "secret", "bucket"));
    }

    private static String error(Supplier<MessageLog> opened) {
        try (MessageLog log = opened.get()) {
            return "opened";
        } catch (KeepsakeException e) {
            return e.getMessage();
        }
    }

    /** Splits a word. */
    public static String words() {
        return Words.standard().tokens("walking").stream()
                .map(Token::term)
                .toList()
                .toString();
    }

    /** Makes summaries and returns their number. */
    public static String summary() {
        String micrometer;
        try {
            Class.forName("io.micrometer.core.instrument.MeterRegistry");
            micrometer = "Micrometer";
        } catch (ClassNotFoundException e) {
            micrometer = "no Micrometer";
        }
        MessageLog log = new InMemoryMessageLog();
        MemoryKey key = ConversationKey.of("acme", "42");
        KeepsakeChatMemory memory = Keepsake.builder().messageLog(log).build().chatMemory(key);
        memory.add(UserMessage.from("one two three four five six seven eight nine ten"));
        SummaryWorker worker = new SummaryWorker(
                of -> log,
                (previous, messages) -> "short",
                TokenCounter.standard(),
                Runnable::run,
                Metrics.NONE,
                SummaryWorker.Options.of(Duration.ofSeconds(60), answer -> false));
        int made = worker.summarizeNow(key, () -> {
            Tail tail = log.read(key, ReadQuery.wholeBranch().upToSummary());
            return tail.messages().isEmpty()
                    ? Optional.empty()
                    : Optional.of(
                            new SummaryTask(tail.epoch(), tail.summary(), tail.messages(), 1, Set.of(), Map.of()));
        });
        return micrometer + ", " + made + " made";
    }

    /** Opens a chat's log on a bucket without a server and returns the error. */
    public static String s3() {
        try (MessageLog log =
                S3MessageLog.connect(URI.create("http://127.0.0.1:1"), "us-east-1", "key", "secret", "bucket")) {
            Keepsake.builder().messageLog(log).build().chatMemory("alice").messages();
            return "read";
        } catch (KeepsakeException e) {
            return e.getClass().getSimpleName();
        }
    }

    /** Reads from a Redis server that is not there. */
    public static String redis() {
        try (MessageLog log = RedisMessageLog.builder()
                .server(URI.create("redis://127.0.0.1:1"))
                .checks(RedisMessageLog.Checks.NONE)
                .build()) {
            Keepsake.builder().messageLog(log).build().chatMemory("alice").messages();
            return "read";
        } catch (KeepsakeException e) {
            return e.getClass().getSimpleName();
        }
    }

    /** Does the same with a given client. */
    public static String s3WithAClient() {
        S3Client client = (S3Client) Proxy.newProxyInstance(
                S3Client.class.getClassLoader(), new Class<?>[] {S3Client.class}, new Refusing());
        try (MessageLog log =
                S3MessageLog.builder().client(client).bucket("bucket").build()) {
            Keepsake.builder().messageLog(log).build().chatMemory("alice").messages();
            return "read";
        } catch (KeepsakeException e) {
            return e.getClass().getSimpleName();
        }
    }

    /**
     * A client that reaches no server. It is a class of its own, because the exception that it throws may not be on the
     * class path.
     */
    private static final class Refusing implements InvocationHandler {
        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) {
            if (method.getName().equals("getObject")) {
                throw SdkClientException.create("refused");
            }
            return null;
        }
    }

    /**
     * Calls only methods that the interface of the next core declares. Without that interface, calls the class itself.
     */
    public static String async() throws Exception {
        Keepsake keepsake = Keepsake.builder()
                .messageLog(new InMemoryMessageLog())
                .tokenCountEstimator(new WordCounter())
                .build();
        ChatMemory memory = keepsake.chatMemoryProvider().get("alice");
        call(memory, "addAsync", List.of(UserMessage.from("1")));
        Object added = call(memory, "messagesAsync");
        call(memory, "setAsync", List.of(UserMessage.from("1"), AiMessage.from("2")));
        Object set = call(memory, "messagesAsync");
        String core = Path.of(ChatMemory.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .getFileName()
                .toString();
        return core + " added " + texts(added) + " set " + texts(set) + " " + asyncStore(keepsake) + " shown "
                + memory.messages().size() + " kept "
                + Dialogue.history(keepsake.conversation("alice")).size();
    }

    private static String asyncStore(Keepsake keepsake) throws Exception {
        ChatMemoryStore store = keepsake.chatMemoryStore();
        Class<?>[] id = {Object.class};
        Class<?> declaring = declaring(ChatMemoryStore.class, KeepsakeChatMemoryStore.class, "getMessagesAsync");
        call(
                declaring.getMethod("updateMessagesAsync", Object.class, List.class),
                store,
                "bob",
                List.of(AiMessage.from("3")));
        Object stored = call(declaring.getMethod("getMessagesAsync", id), store, "bob");
        call(declaring.getMethod("deleteMessagesAsync", id), store, "bob");
        Object deleted = call(declaring.getMethod("getMessagesAsync", id), store, "bob");
        return "stored " + texts(stored) + " deleted " + texts(deleted);
    }

    private static Object call(ChatMemory memory, String method, Object... arguments) throws Exception {
        Class<?>[] types = arguments.length == 0 ? new Class<?>[0] : new Class<?>[] {List.class};
        Class<?> declaring = declaring(ChatMemory.class, KeepsakeChatMemory.class, method);
        return call(declaring.getMethod(method, types), memory, arguments);
    }

    private static Object call(Method method, Object target, Object... arguments) throws Exception {
        CompletableFuture<?> future = (CompletableFuture<?>) method.invoke(target, arguments);
        return future.get(2, TimeUnit.MINUTES);
    }

    private static Class<?> declaring(Class<?> theirs, Class<?> ours, String method) {
        boolean next = Stream.of(theirs.getMethods()).anyMatch(m -> m.getName().equals(method));
        return next ? theirs : ours;
    }

    private static List<String> texts(Object messages) {
        return ((List<?>) messages)
                .stream()
                        .map(ChatMessage.class::cast)
                        .map(OtherClassPathDriver::text)
                        .toList();
    }

    private static String text(ChatMessage message) {
        return message instanceof UserMessage user ? user.singleText() : ((AiMessage) message).text();
    }
}

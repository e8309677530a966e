package io.github.keepsake4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import io.github.keepsake4j.context.Pinned;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.jdbc.SchemaMode;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.PostgresMessageLog;
import io.github.keepsake4j.memories.Discussions;
import io.github.keepsake4j.memories.file.FileLongTermMemoryStore;
import io.github.keepsake4j.memories.inmemory.InMemoryLongTermMemoryStore;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.NodeKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.recall.jdbc.JdbcMessageIndex;
import io.github.keepsake4j.retention.CleanUp;
import io.github.keepsake4j.tokens.TokenCounter;
import io.github.keepsake4j.transfer.MarkdownExport;
import io.github.keepsake4j.transfer.MemoryCopy;
import io.github.keepsake4j.transfer.NdjsonExport;
import io.github.keepsake4j.workflow.NodeTokenBufferMemory;
import io.github.keepsake4j.workflow.NodeTurn;
import io.github.keepsake4j.workflow.WorkflowMemories;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** What is not set or not as it must be is refused at once, by its name. */
class NullArgumentsTest {

    private static final ConversationKey CONVERSATION = ConversationKey.of("acme", "c");
    private static final NodeKey NODE = NodeKey.of("acme", "app", "c", "writer");

    private final InMemoryMessageLog log = new InMemoryMessageLog();

    private final Map<Class<?>, Object> values = Map.ofEntries(
            Map.entry(String.class, "acme"),
            Map.entry(List.class, List.of()),
            Map.entry(Collection.class, List.of()),
            Map.entry(Duration.class, Duration.ofSeconds(1)),
            Map.entry(Path.class, Path.of("none")),
            Map.entry(MemoryKey.class, CONVERSATION),
            Map.entry(ConversationKey.class, CONVERSATION),
            Map.entry(NodeKey.class, NODE),
            Map.entry(NodeTurn.class, NodeTurn.of("m")),
            Map.entry(OutputStream.class, OutputStream.nullOutputStream()),
            Map.entry(InputStream.class, InputStream.nullInputStream()),
            Map.entry(Appendable.class, new StringWriter()),
            Map.entry(ChatMessage[].class, new ChatMessage[] {AiMessage.from("hi")}));

    @TempDir
    Path directory;

    @Test
    void a_null_is_refused_by_the_name_of_its_argument() throws Exception {
        NodeTokenBufferMemory node =
                WorkflowMemories.builder().nodeLog(log).build().node(NODE);
        List<String> unnamed = new ArrayList<>();
        for (Object object : List.of(
                node,
                MessageLogs.class,
                Keepsake.builder(),
                SlidingWindow.class,
                TokenLimit.class,
                Pinned.class,
                MemoryCopy.class,
                MemoryCopy.between(log, log),
                NdjsonExport.of(log),
                MarkdownExport.of(log),
                CleanUp.of(log))) {
            boolean isStatic = object instanceof Class;
            Class<?> type = isStatic ? (Class<?>) object : object.getClass();
            for (Method method : type.getDeclaredMethods()) {
                if (Modifier.isPublic(method.getModifiers()) && Modifier.isStatic(method.getModifiers()) == isStatic) {
                    addUnnamed(isStatic ? null : object, method, unnamed);
                }
            }
        }
        assertThat(unnamed).isEmpty();
    }

    private void addUnnamed(@Nullable Object object, Method method, List<String> unnamed) throws Exception {
        Class<?> type = method.getDeclaringClass();
        Parameter[] parameters = method.getParameters();
        for (int i = 0; i < parameters.length; i++) {
            if (parameters[i].getType().isPrimitive()
                    || parameters[i].getAnnotatedType().isAnnotationPresent(Nullable.class)) {
                continue;
            }
            Object[] arguments = new Object[parameters.length];
            for (int at = 0; at < arguments.length; at++) {
                Class<?> parameter = parameters[at].getType();
                arguments[at] = at == i ? null : parameter.isPrimitive() ? 1 : values.get(parameter);
            }
            String call = method + ", " + parameters[i].getName();
            try {
                method.invoke(object, arguments);
                unnamed.add(call + ": accepted");
            } catch (InvocationTargetException e) {
                String text = String.valueOf(e.getCause().getMessage());
                boolean isNamed = !text.equals("null") && !text.startsWith("Cannot invoke");
                if (!isNamed || (type == Keepsake.Builder.class && !(e.getCause() instanceof InvalidInputException))) {
                    unnamed.add(call + ": " + e.getCause());
                }
            }
        }
    }

    @Test
    void a_file_in_place_of_a_directory_and_memories_without_a_model_fail_when_they_are_built() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> FileLongTermMemoryStore.of(file))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("is not a directory");
        assertThatThrownBy(() -> MessageLogs.files(file))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("is not a directory");
        Discussions readOnly =
                Discussions.builder(new InMemoryLongTermMemoryStore()).build();
        assertThatThrownBy(() -> Keepsake.builder().longTermMemories(readOnly, Duration.ofDays(1)))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("chatModel");
    }

    @Test
    void what_only_looks_like_a_file_a_url_or_a_model_is_refused_with_what_to_write() {
        refused(() -> MessageLogs.sqlite("jdbc:sqlite:chat.db"), "file", "path of a file");
        refused(() -> JdbcMessageIndex.sqlite(Path.of("jdbc:sqlite:index.db")), "file", "path of a file");
        refused(
                () -> MessageLogs.postgres("postgresql://localhost/chat", "chat", "sesame", SchemaMode.ALWAYS),
                "url",
                "jdbc:postgresql:");
        refused(() -> MessageLogs.redis("redis://:se same@localhost"), "server", "redis://host:port");
        refused(() -> TokenCounter.forModel("llama3.1"), "modelName", "JtokkitTokenCountEstimator.forEncoding");
        refused(
                () -> PostgresMessageLog.builder()
                        .dataSource(new PGSimpleDataSource())
                        .url("jdbc:postgresql:chat", "chat", "sesame")
                        .build(),
                "dataSource",
                "both set");
        log.close();
        assertThatThrownBy(() -> log.read(ConversationKey.of("a", "b"), ReadQuery.newest(1)))
                .isInstanceOf(StorageClosedException.class)
                .hasMessageContaining("store is closed. Open it again");
    }

    private static void refused(ThrowingCallable call, String field, String advice) {
        assertThatThrownBy(call)
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining(field)
                .hasMessageContaining(advice)
                .hasMessageNotContaining("sesame");
    }
}

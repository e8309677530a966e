package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.testing.Dialogue;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs in the class loaders that {@link OtherClassPathsTest} makes. */
public final class OtherClassPathDriver {

    private OtherClassPathDriver() {}

    /** A chat on SQLite; returns how many messages it holds. */
    public static String sqlite() throws Exception {
        Path directory = Files.createTempDirectory("keepsake");
        try (MessageLog log = JdbcMessageLog.sqlite(directory.resolve("chat.db"))) {
            ChatMemory memory = Keepsake.builder().messageLog(log).build().chatMemory("alice");
            memory.add(UserMessage.from("1"));
            return Integer.toString(memory.messages().size());
        }
    }

    /** Calls only what the interface of the next core declares; where that is not there, the class itself. */
    public static String async() throws Exception {
        Keepsake keepsake =
                Keepsake.builder().messageLog(new InMemoryMessageLog()).build();
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
        return core + " added " + texts(added) + " set " + texts(set) + " shown "
                + memory.messages().size() + " kept "
                + Dialogue.history(keepsake.conversation("alice")).size();
    }

    private static Object call(ChatMemory memory, String method, Object... arguments) throws Exception {
        Class<?>[] types = arguments.length == 0 ? new Class<?>[0] : new Class<?>[] {List.class};
        CompletableFuture<?> future = (CompletableFuture<?>)
                declaring(method).getMethod(method, types).invoke(memory, arguments);
        return future.get(30, TimeUnit.SECONDS);
    }

    private static Class<?> declaring(String method) {
        boolean next = Stream.of(ChatMemory.class.getMethods())
                .anyMatch(m -> m.getName().equals(method));
        return next ? ChatMemory.class : KeepsakeChatMemory.class;
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

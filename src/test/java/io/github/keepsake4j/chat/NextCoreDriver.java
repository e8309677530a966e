package io.github.keepsake4j.chat;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.log.inmemory.InMemoryMessageLog;
import io.github.keepsake4j.testing.Dialogue;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Runs in the class loader that {@link NextCoreTest} makes; calls only what the interface of the next core declares. */
public final class NextCoreDriver {

    private NextCoreDriver() {}

    public static String run() throws Exception {
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
        CompletableFuture<?> future =
                (CompletableFuture<?>) ChatMemory.class.getMethod(method, types).invoke(memory, arguments);
        return future.get(30, TimeUnit.SECONDS);
    }

    private static List<String> texts(Object messages) {
        return ((List<?>) messages)
                .stream().map(ChatMessage.class::cast).map(NextCoreDriver::text).toList();
    }

    private static String text(ChatMessage message) {
        return message instanceof UserMessage user ? user.singleText() : ((AiMessage) message).text();
    }
}

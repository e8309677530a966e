package com.example.store;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.UUID;

/** A store of one's own: a file for each memory, which is replaced at once. */
final class FileStore implements ChatMemoryStore {

    private final Path directory;

    FileStore(Path directory) {
        this.directory = directory;
    }

    @Override
    public List<ChatMessage> getMessages(Object id) {
        try {
            Path file = file(id);
            return Files.exists(file) ? ChatMessageDeserializer.messagesFromJson(Files.readString(file)) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void updateMessages(Object id, List<ChatMessage> messages) {
        try {
            Path whole = Files.createTempFile(directory, "new", null);
            Files.writeString(whole, ChatMessageSerializer.messagesToJson(messages));
            Files.move(whole, file(id), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void deleteMessages(Object id) {
        try {
            Files.deleteIfExists(file(id));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** An id may have any length and any character, so its hash is the name. */
    private Path file(Object id) {
        byte[] bytes = id.toString().getBytes(StandardCharsets.UTF_8);
        return directory.resolve(UUID.nameUUIDFromBytes(bytes) + ".json");
    }
}

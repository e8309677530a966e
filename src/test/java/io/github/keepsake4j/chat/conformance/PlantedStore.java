package io.github.keepsake4j.chat.conformance;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.codec.MessageCodec;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A store that keeps a file for each memory, a line for each message, and has one fault or none. */
class PlantedStore implements ChatMemoryStore {

    private static final MessageCodec CODEC = new MessageCodec();

    private static final int CUT = 65_535;
    private static final int LATE = 3;

    private final Path directory;
    private final Fault fault;
    private final Map<Object, List<ChatMessage>> kept = new ConcurrentHashMap<>();
    private final Map<Object, Deque<List<ChatMessage>>> late = new HashMap<>();
    private final ReentrantLock lock = new ReentrantLock();

    PlantedStore(Path directory, Fault fault) {
        this.directory = directory;
        this.fault = fault;
    }

    @Override
    public List<ChatMessage> getMessages(Object id) {
        List<ChatMessage> cached = kept.get(id);
        return cached != null ? cached : read(id);
    }

    private List<ChatMessage> read(Object id) {
        try {
            return new ArrayList<>(Files.readAllLines(file(id)).stream()
                    .map(line -> CODEC.decode(line))
                    .toList());
        } catch (NoSuchFileException e) {
            return new ArrayList<>();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void updateMessages(Object id, List<ChatMessage> messages) {
        try {
            switch (fault) {
                case DROPS_AN_UPDATE_THAT_MEETS_ANOTHER -> {
                    if (lock.tryLock()) {
                        try {
                            write(id, messages);
                        } finally {
                            lock.unlock();
                        }
                    }
                }
                case REPLACES_ROW_BY_ROW -> {
                    deleteMessages(id);
                    for (ChatMessage message : messages) {
                        Files.writeString(
                                file(id), line(message), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                    }
                }
                case HANDS_OUT_ITS_OWN_LIST -> kept.put(id, messages);
                case ANSWERS_FROM_A_CACHE -> {
                    write(id, messages);
                    kept.put(id, List.copyOf(messages));
                }
                case ANSWERS_BEFORE_IT_WRITES -> {
                    kept.put(id, List.copyOf(messages));
                    write(id, late(id, messages));
                }
                default -> write(id, faulty(messages));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the list of some updates ago. An update that a kill has interrupted does not make up for so many. */
    private synchronized List<ChatMessage> late(Object id, List<ChatMessage> messages) {
        Deque<List<ChatMessage>> waiting = late.computeIfAbsent(id, each -> new ArrayDeque<>());
        waiting.add(List.copyOf(messages));
        return waiting.size() > LATE ? waiting.remove() : waiting.element();
    }

    private List<ChatMessage> faulty(List<ChatMessage> messages) {
        List<ChatMessage> list = new ArrayList<>(messages);
        switch (fault) {
            case NEWEST_FIRST -> java.util.Collections.reverse(list);
            case DROPS_ATTRIBUTES ->
                list.replaceAll(message -> message instanceof AiMessage answer
                        ? answer.toBuilder().attributes(Map.of()).build()
                        : message);
            case CUTS_LONG_TEXTS ->
                list.replaceAll(message -> message instanceof UserMessage user
                                && user.hasSingleText()
                                && user.singleText().length() > CUT
                        ? UserMessage.from(user.singleText().substring(0, CUT))
                        : message);
            case KEEPS_EQUAL_MESSAGES_ONCE -> list = new ArrayList<>(new LinkedHashSet<>(list));
            default -> {}
        }
        return list;
    }

    private void write(Object id, List<ChatMessage> messages) throws IOException {
        String lines = messages.stream().map(PlantedStore::line).collect(Collectors.joining());
        Path draft = Files.createTempFile(directory, "draft", "");
        Files.writeString(draft, lines);
        Files.move(draft, file(id), StandardCopyOption.ATOMIC_MOVE);
    }

    private static String line(ChatMessage message) {
        return CODEC.encode(message) + "\n";
    }

    @Override
    public void deleteMessages(Object id) {
        kept.remove(id);
        try {
            if (fault == Fault.DELETES_ALL_MEMORIES) {
                try (Stream<Path> files = Files.list(directory)) {
                    for (Path file : files.toList()) {
                        Files.delete(file);
                    }
                }
            }
            Files.deleteIfExists(file(id));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path file(Object id) {
        String name = fault == Fault.IGNORES_THE_CASE_OF_IDS ? id.toString().toLowerCase(Locale.ROOT) : id.toString();
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            return directory.resolve(HexFormat.of().formatHex(hash));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}

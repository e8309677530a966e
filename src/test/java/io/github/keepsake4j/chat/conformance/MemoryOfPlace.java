package io.github.keepsake4j.chat.conformance;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.ChatMemoryProvider;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.conformance.ChatMemoryConformance;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Place;
import io.github.keepsake4j.testing.WordCounter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** This library's memories over a log. */
class MemoryOfPlace extends ChatMemoryConformance {

    private final Place place;
    private final Map<ChatMemoryProvider, MessageLog> logs = new HashMap<>();
    private Keepsake newest;

    MemoryOfPlace(Place place) {
        this.place = place;
    }

    @Override
    protected ChatMemoryProvider open() {
        MessageLog log = place.open();
        newest = Keepsake.builder()
                .messageLog(log)
                .tokenCountEstimator(new WordCounter())
                .maxMessages(60)
                .build();
        ChatMemoryProvider provider = newest.chatMemoryProvider();
        logs.put(provider, log);
        return provider;
    }

    @Override
    protected void close(ChatMemoryProvider provider) {
        logs.remove(provider).close();
    }

    @Override
    protected List<ChatMessage> kept(ChatMemory memory) {
        return newest.conversation(memory.id()).branch(Integer.MAX_VALUE).messages().stream()
                .map(LoggedMessage::message)
                .toList();
    }

    @Override
    protected Class<? extends Supplier<? extends ChatMemoryProvider>> factory() {
        // In turn mode, other instances see a turn when it ends, and these turns have no answer.
        return HomesConformanceTest.isShared(place.home()) && place.home() != Home.S3_TURNS ? Factory.class : null;
    }

    @Override
    protected Map<String, String> properties() {
        return Map.of(StoreOfPlace.PLACE, place.toString());
    }

    @Override
    protected int count(int stated) {
        return HomesConformanceTest.count(place.home(), stated);
    }

    @Override
    protected String subject() {
        return "Keepsake4j's memory, " + place.home();
    }

    /** Opens the memories in another process. */
    public static final class Factory implements Supplier<ChatMemoryProvider> {
        @Override
        public ChatMemoryProvider get() {
            return new MemoryOfPlace(Place.of(System.getProperty(StoreOfPlace.PLACE))).open();
        }
    }
}

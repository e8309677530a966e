package io.github.keepsake4j.chat.conformance;

import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.conformance.ChatMemoryStoreConformance;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Place;
import io.github.keepsake4j.testing.WordCounter;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/** This library's store over a log. */
class StoreOfPlace extends ChatMemoryStoreConformance {

    /** The system property that tells another process the place. */
    static final String PLACE = "conformance.place";

    private final Place place;
    private final Map<ChatMemoryStore, MessageLog> logs = new HashMap<>();

    StoreOfPlace(Place place) {
        this.place = place;
    }

    @Override
    protected ChatMemoryStore open() {
        MessageLog log = place.open();
        ChatMemoryStore store = Keepsake.builder()
                .messageLog(log)
                .tokenCountEstimator(new WordCounter())
                .build()
                .chatMemoryStore();
        logs.put(store, log);
        return store;
    }

    @Override
    protected void close(ChatMemoryStore store) {
        logs.remove(store).close();
    }

    @Override
    protected Class<? extends Supplier<? extends ChatMemoryStore>> factory() {
        return HomesConformanceTest.isShared(place.home()) ? Factory.class : null;
    }

    @Override
    protected Map<String, String> properties() {
        return Map.of(PLACE, place.toString());
    }

    @Override
    protected boolean mergesUpdates() {
        return true;
    }

    @Override
    protected int count(int stated) {
        return HomesConformanceTest.count(place.home(), stated);
    }

    @Override
    protected String subject() {
        return "Keepsake4j's store, " + place.home();
    }

    /** Opens the store in another process. */
    public static final class Factory implements Supplier<ChatMemoryStore> {
        @Override
        public ChatMemoryStore get() {
            return new StoreOfPlace(Place.of(System.getProperty(PLACE))).open();
        }
    }
}

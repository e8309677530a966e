package io.github.keepsake4j.chat.conformance;

import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.conformance.ChatMemoryStoreConformance;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.io.TempDir;

/** The kit as its page shows it: JUnit runs the checks on a store that keeps files and has no fault. */
class OwnStoreConformanceTest extends ChatMemoryStoreConformance {

    @TempDir
    static Path directory;

    @Override
    protected ChatMemoryStore open() {
        return new PlantedStore(directory, Fault.NONE);
    }

    @Override
    protected Class<? extends Supplier<? extends ChatMemoryStore>> factory() {
        return PlantedFaultsTest.Factory.class;
    }

    @Override
    protected Map<String, String> properties() {
        return Map.of("planted.directory", directory.toString(), "planted.fault", "NONE");
    }

    @Override
    protected int count(int stated) {
        return Math.max(1, stated / 20);
    }
}

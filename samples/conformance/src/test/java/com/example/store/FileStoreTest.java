package com.example.store;

import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.conformance.ChatMemoryStoreConformance;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.io.TempDir;

/** Asks the store all that the kit asks, each question as a test. */
class FileStoreTest extends ChatMemoryStoreConformance {

    private static final String DIRECTORY = "store.directory";

    @TempDir
    static Path directory;

    @Override
    protected ChatMemoryStore open() {
        return new FileStore(directory);
    }

    @Override
    protected Class<? extends Supplier<? extends ChatMemoryStore>> factory() {
        return Factory.class;
    }

    @Override
    protected Map<String, String> properties() {
        return Map.of(DIRECTORY, directory.toString());
    }

    /** Fewer messages, rounds and kills, for a fast build. A release is worth the stated number. */
    @Override
    protected int count(int stated) {
        return Math.max(1, stated / 20);
    }

    /** A check that is overridden is no test. The kit's report names the reason. */
    @Override
    protected void ai_messages_come_back_equal() {
        notApplicable("LangChain4j reads an image that a model generated from JSON as a map");
    }

    @Override
    protected void another_process_reads_equal_messages() {
        ai_messages_come_back_equal();
    }

    /** Opens the same store in another process. */
    public static final class Factory implements Supplier<ChatMemoryStore> {

        @Override
        public ChatMemoryStore get() {
            return new FileStore(Path.of(System.getProperty(DIRECTORY)));
        }
    }
}

package io.github.keepsake4j.chat.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.memory.chat.ChatMemoryProvider;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import io.github.keepsake4j.conformance.ChatMemoryConformance;
import io.github.keepsake4j.conformance.ChatMemoryStoreConformance;
import io.github.keepsake4j.conformance.ConformanceReport;
import io.github.keepsake4j.conformance.ConformanceReport.Status;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/**
 * The kit finds each planted fault by the check that asks for it. {@link OwnStoreConformanceTest} has the same store without
 * a fault.
 */
@Timeout(300)
class PlantedFaultsTest {

    @TempDir
    Path directory;

    @Test
    void a_memory_without_a_fault_passes_all_that_one_process_can() {
        ConformanceReport report = new OfMemory(directory, Fault.NONE).report();
        assertThat(report.grade()).as(report.text()).isEqualTo("concurrent");
        assertThat(report.checks(Status.NOT_APPLICABLE)).contains("what_is_evicted_is_kept");
    }

    @ParameterizedTest
    @EnumSource(names = "NONE", mode = Mode.EXCLUDE)
    void a_planted_fault_is_found(Fault fault) {
        // Only a fault between processes needs processes.
        boolean isDurable = fault == Fault.ANSWERS_BEFORE_IT_WRITES || fault == Fault.ANSWERS_FROM_A_CACHE;
        ConformanceReport report = fault.isOfMemories()
                ? new OfMemory(directory, fault).report()
                : new OfStore(directory, fault, isDurable).report();
        assertThat(report.checks(Status.FAILED)).as(report.text()).contains(fault.foundBy);
    }

    /** The suite of a store. */
    static final class OfStore extends ChatMemoryStoreConformance {
        private final Path directory;
        private final Fault fault;
        private final boolean isDurable;

        OfStore(Path directory, Fault fault, boolean isDurable) {
            this.directory = directory;
            this.fault = fault;
            this.isDurable = isDurable;
        }

        @Override
        protected ChatMemoryStore open() {
            return new PlantedStore(directory, fault);
        }

        @Override
        protected Class<? extends Supplier<? extends ChatMemoryStore>> factory() {
            return isDurable ? Factory.class : null;
        }

        @Override
        protected Map<String, String> properties() {
            return Map.of("planted.directory", directory.toString(), "planted.fault", fault.name());
        }

        @Override
        protected void another_process_reads_equal_messages() {
            notApplicable("it finds none of the faults");
        }

        @Override
        protected void two_processes_on_one_id_leave_the_last_list() {
            notApplicable("it finds none of the faults");
        }

        @Override
        protected void a_killed_process_leaves_the_list_before_or_after() throws Exception {
            if (fault == Fault.ANSWERS_FROM_A_CACHE) {
                notApplicable("another check finds the fault");
            }
            super.a_killed_process_leaves_the_list_before_or_after();
        }

        @Override
        protected int count(int stated) {
            return Math.max(1, stated / 20);
        }
    }

    /** Opens a store in another process. */
    public static final class Factory implements Supplier<ChatMemoryStore> {
        @Override
        public ChatMemoryStore get() {
            return new PlantedStore(
                    Path.of(System.getProperty("planted.directory")),
                    Fault.valueOf(System.getProperty("planted.fault")));
        }
    }

    /** The suite of memories. */
    static final class OfMemory extends ChatMemoryConformance {
        private final Path directory;
        private final Fault fault;

        OfMemory(Path directory, Fault fault) {
            this.directory = directory;
            this.fault = fault;
        }

        @Override
        protected ChatMemoryProvider open() {
            ChatMemoryStore store = new PlantedStore(directory, Fault.NONE);
            return id -> new PlantedMemory(id, store, fault);
        }

        @Override
        protected int count(int stated) {
            return Math.max(1, stated / 20);
        }
    }
}

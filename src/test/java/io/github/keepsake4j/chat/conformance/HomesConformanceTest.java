package io.github.keepsake4j.chat.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.conformance.ConformanceReport;
import io.github.keepsake4j.conformance.ConformanceReport.Status;
import io.github.keepsake4j.testing.Home;
import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** This library's store and memories pass each check of the kit on all homes. */
@Timeout(600)
class HomesConformanceTest {

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource
    void the_store_conforms(Home home) throws Exception {
        Place place = Place.in(home, directory);
        assertConforms(new StoreOfPlace(place).report(), place.isShared());
    }

    @ParameterizedTest
    @EnumSource
    void the_memory_conforms(Home home) throws Exception {
        Place place = Place.in(home, directory);
        assertConforms(new MemoryOfPlace(place).report(), place.isShared() && home != Home.S3_TURNS);
    }

    private static void assertConforms(ConformanceReport report, boolean isDurable) throws Exception {
        ConformanceReport.write(Path.of("target/conformance", report.subject() + ".md"), report);
        assertThat(report.checks(Status.FAILED)).as(report.text()).isEmpty();
        assertThat(report.grade()).isEqualTo(isDurable ? "durable" : "concurrent");
    }
}

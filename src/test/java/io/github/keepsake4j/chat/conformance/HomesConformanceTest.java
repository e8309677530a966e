package io.github.keepsake4j.chat.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.conformance.ConformanceReport;
import io.github.keepsake4j.conformance.ConformanceReport.Status;
import io.github.keepsake4j.testing.Counts;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Homes;
import io.github.keepsake4j.testing.Place;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** This library's store and memories pass each check of the kit on all homes. */
@Tag("landing")
@Timeout(600)
class HomesConformanceTest {

    @TempDir
    Path directory;

    @ParameterizedTest
    @Homes
    void the_store_conforms(Home home) throws Exception {
        Place place = Place.in(home, directory);
        assertConforms(new StoreOfPlace(place).report(), isShared(home));
    }

    @ParameterizedTest
    @Homes
    void the_memory_conforms(Home home) throws Exception {
        Place place = Place.in(home, directory);
        assertConforms(new MemoryOfPlace(place).report(), isShared(home) && home != Home.S3_TURNS);
    }

    /**
     * Returns whether checks with other processes are run. The default build runs them on one home, because they start ten
     * JVMs.
     */
    static boolean isShared(Home home) {
        return switch (home) {
            case IN_MEMORY -> false;
            case SQLITE -> true;
            case FILES, POSTGRESQL, REDIS, S3, S3_TURNS -> Counts.isFull();
        };
    }

    /** The default build repeats less. Each call on a bucket is a request. */
    static int count(Home home, int stated) {
        boolean isBucket = home == Home.S3 || home == Home.S3_TURNS;
        return Math.max(1, Counts.of(stated / (isBucket ? 80 : 40), isBucket ? stated / 4 : stated));
    }

    private static void assertConforms(ConformanceReport report, boolean isDurable) throws Exception {
        ConformanceReport.write(Path.of("target/conformance", report.subject() + ".md"), report);
        assertThat(report.checks(Status.FAILED)).as(report.text()).isEmpty();
        assertThat(report.grade()).isEqualTo(isDurable ? "durable" : "concurrent");
    }
}

package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StepTest {

    @ParameterizedTest
    @CsvSource({
        "PT10S,     50, 100, ', about 10 s left'",
        "PT10S,     99, 100, ', about 1 s left'",
        "PT10S,      1, 100, ', about 16 min left'",
        "PT119S,    50, 100, ', about 119 s left'",
        "PT120S,    50, 100, ', about 2 min left'",
        "PT7200S,   50, 100, ', about 2 h left'",
        "PT0.9S,    50, 100, ''",
        "PT10S,      0, 100, ''",
        "PT10S,    100, 100, ''",
        "PT10S,    101, 100, ''",
        "PT10S,     50,   0, ''",
        "PT10S, 4611686018427387904, 9223372036854775807, ', about 10 s left'"
    })
    void the_rest_takes_as_long_as_what_was_done(Duration elapsed, long done, long of, String rest) {
        assertThat(new Step("work", done, of).after(elapsed)).isEqualTo("work" + rest);
    }
}

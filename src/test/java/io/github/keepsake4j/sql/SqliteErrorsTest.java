package io.github.keepsake4j.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.message.KeepsakeException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors of SQLite by their codes. */
class SqliteErrorsTest {

    @TempDir
    Path directory;

    /** Codes of SQLite, "Result and Error Codes". Too many open files are reported as 14, and end by themselves. */
    @ParameterizedTest
    @CsvSource({
        "5, true",
        "6, true",
        "10, true",
        "13, true",
        "14, true",
        "15, true",
        "1032, true",
        "8, false",
        "264, false",
        "520, false",
        "776, false",
        "1288, false",
        "1544, false",
        "3, false",
        "23, false",
        "11, false",
        "26, false",
        "19, false",
        "1, false"
    })
    void an_error_is_retryable_only_if_a_retry_may_mend_it(int code, boolean retryable) {
        Path file = directory.resolve("chat.db");
        KeepsakeException error = Translated.ofSqlite(file, code);

        assertThat(error.isRetryable()).isEqualTo(retryable);
        assertThat(error).hasMessageContaining("call").hasMessageContaining(file.toString());
    }

    @Test
    void what_the_file_system_tells_makes_an_error_final() {
        for (int code : List.of(10, 14)) {
            assertThat(Translated.ofSqlite(directory, code))
                    .hasMessageContaining("is a directory")
                    .matches(error -> !error.isRetryable());
        }
    }
}

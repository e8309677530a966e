package io.github.keepsake4j.log.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.StorageUnavailableException;
import io.github.keepsake4j.message.KeepsakeException;
import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors that come of a pooler, as servers, poolers and the driver phrase them. */
class PostgresErrorsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "26000 | ERROR: prepared statement \"S_1\" does not exist",
                "42P05 | ERROR: prepared statement \"S_1\" already exists",
                "08P01 | ERROR: bind message supplies 1 parameters, but prepared statement \"S_1\" requires 3",
                "08P01 | FEHLER: Binden-Nachricht enthält 1 Parameter, aber Prepared Statement »S_1« erfordert 3",
                "08P01 | ERROR: insufficient data left in message",
                "08P01 | FATAL: prepared statement did not exist",
                "08P01 | Expected command status BEGIN, got ROLLBACK.",
                "0A000 | ERROR: cached plan must not change result type",
                "22021 | ERROR: invalid byte sequence for encoding \"UTF8\": 0x00",
                "22P02 | ERROR: invalid input syntax for type bigint: \"TRUE\"",
                "22P03 | ERROR: incorrect binary data format in bind parameter 3"
            })
    void statements_that_a_pooler_mixed_up_are_final_and_name_the_setting(String state, String message) {
        KeepsakeException error = PostgresErrors.translate("call", new SQLException(message, state), true);

        assertThat(error.isRetryable()).isFalse();
        assertThat(error)
                .isExactlyInstanceOf(KeepsakeException.class)
                .hasMessageContaining(state)
                .hasMessageContaining("transactionPooler()")
                .hasMessageContaining("prepareThreshold=0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "08P01 | FATAL: server conn crashed?",
                "08P01 | FATAL: query_wait_timeout",
                "08P01 | FATAL: pgbouncer cannot connect to server",
                "08006 | An I/O error occurred while sending to the backend."
            })
    void a_pooler_that_has_no_server_is_an_outage(String state, String message) {
        assertThat(PostgresErrors.translate("call", new SQLException(message, state), true))
                .isInstanceOf(StorageUnavailableException.class);
    }

    @ParameterizedTest
    @CsvSource({"22021", "22P02", "22P03"})
    void values_are_not_blamed_on_a_pooler_where_nothing_was_prepared(String state) {
        assertThat(PostgresErrors.translate("call", new SQLException("ERROR: invalid", state), false))
                .hasMessageNotContaining("transactionPooler()");
    }
}

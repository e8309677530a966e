package io.github.keepsake4j.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.keepsake4j.log.jdbc.JdbcMessageLog;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors that come of a pooler, as servers, poolers and the driver phrase them. */
class PostgresErrorsTest {

    @Test
    void a_url_without_a_driver_is_an_error_without_the_password() {
        assertThatThrownBy(() -> JdbcMessageLog.builder()
                        .url("jdbc:nowhere://host/chat?password=secret", "chat", "secret")
                        .build())
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContainingAll("url", "jdbc:postgresql:")
                .hasNoCause()
                .message()
                .doesNotContain("secret");
    }

    @Test
    void tables_are_told_with_their_server_and_without_the_password() {
        String where = ConnectException.where(null, "jdbc:postgresql://127.0.0.1:5432/chat?password=secret");
        SchemaScripts scripts = new SchemaScripts(Translated.SCHEMA, false, where);
        assertThatThrownBy(() -> scripts.check(new SchemaScripts.Versions(0, 0), "no"))
                .hasMessageContaining(" (127.0.0.1:5432/chat) are missing")
                .hasMessageNotContaining("secret");
    }

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
        KeepsakeException error = Translated.ofPostgres(new SQLException(message, state), true);

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
        assertThat(Translated.ofPostgres(new SQLException(message, state), true))
                .isInstanceOf(StorageUnavailableException.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "28P01 | FATAL: password authentication failed for user \"chat\" | password",
                "28000 | FATAL: role \"chat\" does not exist | user",
                "3D000 | FATAL: database \"chat\" does not exist | database",
                "57P04 | FATAL: terminating connection because the database was dropped | database",
                "08004 | The server requested SCRAM-based authentication, but no password was provided. | URL",
                "42501 | ERROR: permission denied for table keepsake_memory | grant",
                "42P01 | ERROR: relation \"keepsake_memory\" does not exist | script",
                "3F000 | ERROR: schema \"chat\" does not exist | script",
                "42703 | ERROR: column m.active_at does not exist | script"
            })
    void what_no_retry_mends_is_final_and_says_what_to_do(String state, String message, String what) {
        // A pool reports what kept it from connecting as a time-out, which is retryable by its class.
        SQLException pooled = new java.sql.SQLTransientConnectionException("time-out: " + message, state);
        for (SQLException error : new SQLException[] {
            new SQLException(message, state),
            new ConnectException(pooled, new org.postgresql.ds.PGSimpleDataSource()),
            pooled
        }) {
            KeepsakeException translated = Translated.ofPostgres(error, true);
            assertThat(translated.isRetryable()).as("%s", translated).isFalse();
            assertThat(translated).hasMessageStartingWith("call").hasMessageContaining(what);
        }
    }

    @ParameterizedTest
    @CsvSource({"08001", "08006", "25006", "53100", "53300", "55P03", "57014", "57P01", "57P03", "58030", "40001"})
    void what_may_end_by_itself_is_retryable(String state) {
        assertThat(Translated.ofPostgres(new SQLException("ERROR: text", state), true)
                        .isRetryable())
                .isTrue();
    }

    @Test
    void a_server_that_cannot_be_reached_is_named_with_the_reason() {
        for (String[] each : new String[][] {
            {"server.invalid:5432", "the host is not known"},
            {"127.0.0.1:1", "the connection is refused"}
        }) {
            var source = new org.postgresql.ds.PGSimpleDataSource();
            source.setUrl("jdbc:postgresql://" + each[0] + "/chat?password=secret");
            SQLException failed = catchThrowableOfType(SQLException.class, source::getConnection);
            SQLException pooled = new java.sql.SQLTransientConnectionException("time-out", "08001", failed);
            for (SQLException error : List.of(failed, pooled)) {
                assertThat(Translated.ofPostgres(new ConnectException(error, source), false))
                        .isInstanceOf(StorageUnavailableException.class)
                        .hasMessage("call: PostgreSQL cannot be reached or is too busy (" + each[0]
                                + "/chat) (SQLSTATE 08001): " + each[1]
                                + "; check the address, the server and the network, and retry");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"22021", "22P02", "22P03"})
    void values_are_not_blamed_on_a_pooler_where_nothing_was_prepared(String state) {
        assertThat(Translated.ofPostgres(new SQLException("ERROR: invalid", state), false))
                .hasMessageNotContaining("transactionPooler()");
    }

    @Test
    void a_pooler_in_statement_mode_is_no_outage() {
        SQLException told =
                new SQLException("FATAL: transaction blocks not allowed in statement pooling mode", "08P01");
        assertThat(Translated.ofPostgres(told, true))
                .isExactlyInstanceOf(KeepsakeException.class)
                .hasMessageContaining("pool_mode");
    }

    @Test
    void what_is_too_large_for_a_statement_is_told_with_its_size() {
        String text = "a".repeat(999_999) + "é";
        Object[] texts = Collections.nCopies(1_100, new byte[1_000_001]).toArray();
        texts[7] = text;
        SQLException unable = new SQLException("Unable to bind parameter values for statement.", "22023");

        assertThat(Translated.ofPostgres(TooLargeException.of(unable, new byte[7], null, texts, 1L), true))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContainingAll("call", (1_100L * 1_000_001 + 7 + 8) + " bytes", "1073741823");
        assertThat((Throwable) TooLargeException.of(unable, text, null)).isSameAs(unable);
    }
}

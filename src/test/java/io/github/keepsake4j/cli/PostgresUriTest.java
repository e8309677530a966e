package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Addresses of a database, as the driver gets them. None of the URLs holds a password. */
class PostgresUriTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "postgresql://h/d                              | jdbc:postgresql://h/d              | -      | -",
                "postgresql://h                                | jdbc:postgresql://h/               | -      | -",
                "postgres://u@h:5433/d?sslmode=require         | jdbc:postgresql://h:5433/d?sslmode=require | u | -",
                "postgresql://b%40b:p%2Fw%23%3F+%25@h/my%20d   | jdbc:postgresql://h/my%20d         | b@b    | p/w#?+%",
                "postgresql://u:a:b@[::1]:5432/d               | jdbc:postgresql://[::1]:5432/d     | u      | a:b",
                "postgresql://u@h1:1,h_2:2/d                   | jdbc:postgresql://h1:1,h_2:2/d     | u      | -",
                "postgresql://u:x@h/d?password=p%26w&user=v    | jdbc:postgresql://h/d              | v      | p&w",
                "jdbc:postgresql://h/d?user=u&password=p%40&ssl=true | jdbc:postgresql://h/d?ssl=true | u    | p@",
                "jdbc:postgresql:d?user=u                      | jdbc:postgresql://localhost/d      | u      | -",
                "jdbc:postgresql:///d                          | jdbc:postgresql://localhost/d      | -      | -",
            })
    void an_address_is_taken_apart(String text, String url, String user, String password) {
        assertThat(PostgresUri.of("--log", text)).isEqualTo(new PostgresUri(url, user, password));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "postgresql://h/d                             | [h:5432]",
                "postgresql://u:p%2F@h:5433/d                 | [h:5433]",
                "postgresql://a,b:6000/d?sslmode=require      | [a:5432, b:6000]",
                "postgresql://[::1]:5433/d                    | [[::1]:5433]",
                "postgresql://[::1]/d                         | [[::1]:5432]",
                "postgresql://h/d?socketFactory=com.acme.Any  | []"
            })
    void its_servers_are_known(String text, String servers) {
        assertThat(PostgresUri.of("--log", text).servers()).hasToString(servers);
    }
}

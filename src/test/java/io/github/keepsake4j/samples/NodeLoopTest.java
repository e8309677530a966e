package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeLoopTest {

    @TempDir
    Path directory;

    @Test
    void a18_nodes_in_a_loop_remember_their_own_rounds_and_nothing_of_each_other() {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (MessageLog log = SqliteMessageLog.open(directory.resolve("nodes.db"))) {
            NodeLoop.run(log, new PrintStream(printed, true, StandardCharsets.UTF_8));
        }

        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .containsExactly(
                        """
                        user>    A slogan for my honey shop
                        planner> Task 1: A slogan for my honey shop
                        writer>  Sweet days
                        critic>  Name the shop.
                        writer>  Sweet days, Ada's honey
                        critic>  Say where it is.
                        writer>  Sweet days, Ada's honey, from the hill
                        critic>  Say when it is best.
                        writer>  Sweet days, Ada's honey, from the hill, best in June
                        critic>  Good.

                        user>    The same in capitals
                        planner> Task 2: The same in capitals
                        writer>  SWEET DAYS, ADA'S HONEY, FROM THE HILL, BEST IN JUNE
                        critic>  Good.

                        The planner remembers:
                          m1#user    A slogan for my honey shop
                          m1         Task 1: A slogan for my honey shop
                          m2#user    The same in capitals
                          m2         Task 2: The same in capitals
                        The writer remembers:
                          m1#user    Task 1: A slogan for my honey shop
                          m1         Sweet days
                          m1#2#user  Name the shop.
                          m1#2       Sweet days, Ada's honey
                          m1#3#user  Say where it is.
                          m1#3       Sweet days, Ada's honey, from the hill
                          m1#4#user  Say when it is best.
                          m1#4       Sweet days, Ada's honey, from the hill, best in June
                          m2#user    Task 2: The same in capitals
                          m2         SWEET DAYS, ADA'S HONEY, FROM THE HILL, BEST IN JUNE
                        The critic remembers:
                          m1#user    Sweet days
                          m1         Name the shop.
                          m1#2#user  Sweet days, Ada's honey
                          m1#2       Say where it is.
                          m1#3#user  Sweet days, Ada's honey, from the hill
                          m1#3       Say when it is best.
                          m1#4#user  Sweet days, Ada's honey, from the hill, best in June
                          m1#4       Good.
                          m2#user    SWEET DAYS, ADA'S HONEY, FROM THE HILL, BEST IN JUNE
                          m2         Good.
                        """
                                .lines()
                                .toArray(String[]::new));
    }
}

package io.github.keepsake4j.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.testing.S3Server;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

class AgentLoopTest {

    @Test
    void a22_agents_in_a_loop_remember_their_own_rounds_with_one_write_for_each() throws Exception {
        S3Server server = S3Server.shared();
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        int puts = server.requests("PUT");
        try (S3Client client = S3Server.client(server.port());
                MessageLog log = S3MessageLog.builder()
                        .client(client)
                        .bucket(server.newBucket())
                        .turnMode()
                        .build()) {
            AgentLoop.run(log, new PrintStream(printed, true, StandardCharsets.UTF_8));
        }

        assertThat(printed.toString(StandardCharsets.UTF_8).lines())
                .containsExactly(
                        """
                        user>   A slogan for my honey shop
                        writer> Sweet days
                        critic> Name the shop.
                        writer> Sweet days, Ada's honey
                        critic> Say where it is.
                        writer> Sweet days, Ada's honey, from the hill
                        critic> Say when it is best.
                        writer> Sweet days, Ada's honey, from the hill, best in June
                        critic> Good.
                        answer> Sweet days, Ada's honey, from the hill, best in June
                        user>   The same in capitals
                        writer> SWEET DAYS, ADA'S HONEY, FROM THE HILL, BEST IN JUNE
                        critic> Good.
                        answer> SWEET DAYS, ADA'S HONEY, FROM THE HILL, BEST IN JUNE
                        The writer sees 11 messages
                        The critic sees 11 messages
                        """
                                .lines()
                                .toArray(String[]::new));
        int probe = 2;
        assertThat(server.requests("PUT") - puts)
                .as("ten turns, and whether the server keeps conditions")
                .isEqualTo(10 + probe);
    }
}

package io.github.keepsake4j.retention;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.testing.S3Server;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import software.amazon.awssdk.services.s3.S3Client;

class S3CleanUpTest extends CleanUpContract {

    private static S3Server server;
    private static S3Client client;

    @BeforeAll
    static void start() throws Exception {
        server = S3Server.shared();
        client = S3Server.client(server.port());
    }

    @AfterAll
    static void stop() {
        client.close();
    }

    @Override
    protected MessageLog open() {
        return S3MessageLog.builder().client(client).bucket(server.newBucket()).build();
    }
}

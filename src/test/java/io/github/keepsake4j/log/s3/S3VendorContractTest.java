package io.github.keepsake4j.log.s3;

import io.github.keepsake4j.testing.PickyServer;
import io.github.keepsake4j.testing.S3Server;
import java.io.IOException;
import java.util.EnumSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;

/** The contract with all settings for other vendors, over a server that insists on each of them. */
@Tag("full")
class S3VendorContractTest extends S3MessageLogTest {

    private static PickyServer picky;

    @BeforeAll
    static void start() throws Exception {
        picky = new PickyServer(S3Server.shared().port(), EnumSet.allOf(PickyServer.Refusal.class));
        startAt(picky.port());
    }

    @AfterAll
    static void stop() throws IOException {
        S3MessageLogTest.stop();
        picky.close();
    }

    /** Makes a client of the log's own, as for a user. */
    @Override
    S3MessageLog.Builder connected(S3MessageLog.Builder builder) {
        return builder.endpoint(endpoint())
                .region(S3Server.REGION)
                .credentials(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(S3Server.ACCESS_KEY, S3Server.SECRET_KEY)))
                .interceptors(new ServerTime())
                .checksums(RequestChecksumCalculation.WHEN_REQUIRED)
                .chunkedSigning(false)
                .quotedEtags(false);
    }
}

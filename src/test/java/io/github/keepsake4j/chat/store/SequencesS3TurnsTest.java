package io.github.keepsake4j.chat.store;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.testing.S3Server;
import java.net.URI;
import java.time.Duration;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Runs the sequences in turn mode, where most reads are answered from the messages of the open turn. */
class SequencesS3TurnsTest extends SequencesContract {

    @Override
    MessageLog newLog() throws Exception {
        S3Server server = S3Server.shared();
        URI endpoint = server.endpoint();
        return S3MessageLog.builder()
                .endpoint(endpoint)
                .region(S3Server.REGION)
                .credentials(StaticCredentialsProvider.create(
                        AwsBasicCredentials.create(S3Server.ACCESS_KEY, S3Server.SECRET_KEY)))
                .bucket(server.newBucket())
                .turnMode(Duration.ofHours(1))
                .build();
    }

    @Override
    int budgetStride() {
        return 4;
    }
}

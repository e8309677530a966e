package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.testing.S3Server;
import org.junit.jupiter.api.Tag;

@Tag("landing")
class S3SummaryWorkerTest extends SummaryWorkerContract {

    private String bucket;

    @Override
    MessageLog open() throws Exception {
        S3Server server = S3Server.shared();
        if (bucket == null) {
            bucket = server.newBucket();
        }
        return S3MessageLog.connect(
                server.endpoint(), S3Server.REGION, S3Server.ACCESS_KEY, S3Server.SECRET_KEY, bucket);
    }
}

package io.github.keepsake4j.chat.store;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.s3.S3MessageLog;
import io.github.keepsake4j.testing.S3Server;

class SequencesS3Test extends SequencesContract {

    @Override
    MessageLog newLog() throws Exception {
        S3Server server = S3Server.shared();
        return S3MessageLog.connect(
                server.endpoint(), S3Server.REGION, S3Server.ACCESS_KEY, S3Server.SECRET_KEY, server.newBucket());
    }

    @Override
    int budgetStride() {
        return 4;
    }
}

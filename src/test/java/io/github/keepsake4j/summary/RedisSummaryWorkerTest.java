package io.github.keepsake4j.summary;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Redis;
import org.junit.jupiter.api.Tag;

@Tag("landing")
class RedisSummaryWorkerTest extends SummaryWorkerContract {

    private final String prefix = Redis.newPrefix();

    @Override
    MessageLog open() {
        return Redis.shared().log(prefix);
    }
}

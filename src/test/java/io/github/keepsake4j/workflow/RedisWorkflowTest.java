package io.github.keepsake4j.workflow;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Redis;
import org.junit.jupiter.api.Tag;

@Tag("landing")
class RedisWorkflowTest extends WorkflowContract {

    @Override
    MessageLog open() {
        return Redis.shared().log(Redis.newPrefix());
    }
}

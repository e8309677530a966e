package io.github.keepsake4j.chat.store;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.testing.Redis;

class SequencesRedisTest extends SequencesContract {

    private final String prefix = Redis.newPrefix();

    @Override
    MessageLog newLog() {
        return Redis.shared().log(prefix);
    }
}

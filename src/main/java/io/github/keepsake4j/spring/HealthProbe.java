package io.github.keepsake4j.spring;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.ReadQuery;
import io.github.keepsake4j.message.ConversationKey;
import java.util.Map;
import java.util.TreeMap;

/** One bounded read of a memory that does not exist, in each log that was opened. Nothing is opened, and nothing is written. */
final class HealthProbe {

    private final KeepsakeProperties properties;
    private final MemoriesInUse inUse;

    HealthProbe(KeepsakeProperties properties, MemoriesInUse inUse) {
        this.properties = properties;
        this.inUse = inUse;
    }

    /**
     * Asks the logs.
     *
     * @return the backend of each log by the name of its bean, empty if no memory is in use
     * @throws RuntimeException if one of them fails; its text names no message
     */
    Map<String, String> ask() {
        Map<String, String> backends = new TreeMap<>();
        for (Map.Entry<String, MessageLog> log : inUse.logs().entrySet()) {
            log.getValue().read(ConversationKey.of(properties.tenant(), "keepsake4j"), ReadQuery.newest(0));
            backends.put(log.getKey(), log.getValue().backend());
        }
        return backends;
    }
}

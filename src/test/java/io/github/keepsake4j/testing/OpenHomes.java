package io.github.keepsake4j.testing;

import io.github.keepsake4j.log.MessageLog;
import java.util.EnumMap;
import java.util.Map;

/** One log on each home, which the tests of a class share. */
public final class OpenHomes implements AutoCloseable {

    private final Map<Home, Home.Storage> storages = new EnumMap<>(Home.class);
    private final Map<Home, MessageLog> logs = new EnumMap<>(Home.class);

    public synchronized MessageLog log(Home home) throws Exception {
        if (!logs.containsKey(home)) {
            storages.put(home, home.storage());
            logs.put(home, storages.get(home).open());
        }
        return logs.get(home);
    }

    @Override
    public synchronized void close() {
        logs.values().forEach(MessageLog::close);
        storages.values().forEach(Home.Storage::close);
    }
}

package io.github.keepsake4j.log.redis;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a server's settings take away from the promise that an acknowledged append is not lost. */
final class ServerSettings {

    private static final Logger LOG = LoggerFactory.getLogger(RedisMessageLog.class);

    private static final List<String> NAMES =
            List.of("maxmemory", "maxmemory-policy", "appendonly", "appendfsync", "min-replicas-to-write");

    private ServerSettings() {}

    /** Asks the server and warns. A server that cannot be asked does not keep a log from being opened. */
    static void warn(Commands commands, boolean memoriesExpire) {
        try {
            Map<String, String> settings = new LinkedHashMap<>();
            for (String name : NAMES) {
                Optional<String> value = commands.setting(name);
                value.ifPresent(known -> settings.put(name, known));
            }
            warnings(settings, commands.replicas(), memoriesExpire)
                    .forEach(warning -> LOG.warn("Redis may lose acknowledged messages: {}", warning));
        } catch (IOException e) {
            LOG.warn("Whether Redis may lose acknowledged messages is not known, because it cannot be reached", e);
        }
    }

    /**
     * Says what may be lost.
     *
     * @param settings the settings that the server tells
     * @param replicas how many replicas are connected
     * @param memoriesExpire whether memories have a time to live, so that some policies may evict them
     */
    static List<String> warnings(Map<String, String> settings, Optional<Integer> replicas, boolean memoriesExpire) {
        List<String> warnings = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        NAMES.stream().filter(name -> !settings.containsKey(name)).forEach(unknown::add);
        if (replicas.isEmpty()) {
            unknown.add("the number of replicas");
        }
        if (!unknown.isEmpty()) {
            warnings.add("the server does not tell " + String.join(", ", unknown));
        }
        String policy = settings.get("maxmemory-policy");
        boolean evicts =
                policy != null && !policy.equals("noeviction") && (memoriesExpire || policy.startsWith("allkeys"));
        if (evicts && !"0".equals(settings.get("maxmemory"))) {
            warnings.add("maxmemory-policy is " + policy
                    + ", so memories are evicted when maxmemory is reached; set it to" + " noeviction");
        }
        if ("no".equals(settings.get("appendonly"))) {
            warnings.add(
                    "appendonly is no, so what was written since the last snapshot is lost in a crash; set it to yes");
        } else if (settings.containsKey("appendfsync") && !"always".equals(settings.get("appendfsync"))) {
            warnings.add("appendfsync is " + settings.get("appendfsync")
                    + ", so the last seconds may be lost in a crash; set it to always");
        }
        if (replicas.orElse(0) > 0) {
            warnings.add(
                    "a replica follows behind, so a failover loses what it does not have yet; min-replicas-to-write is "
                            + settings.getOrDefault("min-replicas-to-write", "unknown")
                            + ", which bounds that but does not end it");
        }
        return List.copyOf(warnings);
    }
}

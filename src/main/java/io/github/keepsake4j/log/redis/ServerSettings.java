package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Checks the settings of a server with which acknowledged appends may be lost.
 *
 * @param values the settings that the server returns
 * @param replicas the number of connected replicas, or null if the server does not return it
 */
record ServerSettings(Map<String, String> values, @Nullable Integer replicas) {

    private static final Logger LOG = LoggerFactory.getLogger(RedisMessageLog.class);

    private static final List<String> NAMES = List.of(
            "maxmemory",
            "maxmemory-policy",
            "appendonly",
            "appendfsync",
            "no-appendfsync-on-rewrite",
            "min-replicas-to-write");

    private static final String REPLICAS = "connected_slaves:";

    /** Checks all servers that the client knows, and logs warnings or refuses them. The name is for errors. */
    static void check(UnifiedJedis client, String server, RedisMessageLog.Checks checks, boolean memoriesExpire) {
        if (checks == RedisMessageLog.Checks.NONE) {
            return;
        }
        Map<String, List<String>> warnings = new LinkedHashMap<>();
        try {
            servers(client).forEach((name, settings) -> settings.warnings(memoriesExpire)
                    .forEach(warning -> warnings.computeIfAbsent(warning, any -> new ArrayList<>())
                            .add(name)));
        } catch (JedisException e) {
            // A server that cannot be checked prevents the opening of a log only with REQUIRE.
            if (checks == RedisMessageLog.Checks.REQUIRE) {
                throw Commands.unreachable("check of the settings", server, e);
            }
            LOG.warn(
                    "Whether {} may lose acknowledged messages is not known, because it {}",
                    server,
                    Commands.problem(e));
        }
        List<String> lines = warnings.entrySet().stream()
                .map(each -> each.getKey()
                        + each.getValue().stream()
                                .filter(name -> !name.isEmpty())
                                .reduce((a, b) -> a + ", " + b)
                                .map(servers -> " (" + servers + ")")
                                .orElse(""))
                .toList();
        if (checks == RedisMessageLog.Checks.REQUIRE && !lines.isEmpty()) {
            throw new InvalidInputException(
                    "checks", "is REQUIRE, but Redis may lose acknowledged messages: " + String.join("; ", lines));
        }
        lines.forEach(line -> LOG.warn("Redis may lose acknowledged messages: {}", line));
    }

    /** The settings by server. A single server has no name. */
    private static Map<String, ServerSettings> servers(UnifiedJedis client) {
        if (!(client instanceof RedisClusterClient cluster)) {
            return Map.of("", of(client::configGet, client::info));
        }
        Map<String, ServerSettings> servers = new LinkedHashMap<>();
        for (Map.Entry<String, ConnectionPool> node : new TreeMap<>(cluster.getClusterNodes()).entrySet()) {
            try (Jedis server = new Jedis(node.getValue().getResource())) {
                servers.put(node.getKey(), of(server::configGet, server::info));
            }
        }
        return servers;
    }

    private static ServerSettings of(Function<String, Map<String, String>> config, Function<String, String> info) {
        Map<String, String> values = new LinkedHashMap<>();
        for (String name : NAMES) {
            String value = told(() -> config.apply(name).get(name));
            if (value != null) {
                values.put(name, value);
            }
        }
        String replication = told(() -> info.apply("replication"));
        return new ServerSettings(values, replication == null ? null : replicas(replication));
    }

    /** Returns null for settings that the server refuses to return, as hosted servers often do. */
    private static @Nullable String told(Supplier<@Nullable String> answer) {
        try {
            return answer.get();
        } catch (JedisDataException e) {
            if (Commands.isRefusedLogin(e)) {
                throw e;
            }
            LOG.debug("Redis does not tell a setting", e);
            return null;
        }
    }

    private static @Nullable Integer replicas(String replication) {
        return replication
                .lines()
                .filter(line -> line.startsWith(REPLICAS))
                .map(line -> Integer.valueOf(line.substring(REPLICAS.length()).strip()))
                .findFirst()
                .orElse(null);
    }

    /**
     * Returns the possible losses.
     *
     * @param memoriesExpire whether memories have a time to live, so that some policies may evict them
     */
    List<String> warnings(boolean memoriesExpire) {
        List<String> warnings = new ArrayList<>();
        List<String> unknown = new ArrayList<>(
                NAMES.stream().filter(name -> !values.containsKey(name)).toList());
        if (replicas == null) {
            unknown.add("the number of replicas");
        }
        if (!unknown.isEmpty()) {
            warnings.add("these settings are unknown, because the server does not return them: "
                    + String.join(", ", unknown));
        }
        String policy = values.get("maxmemory-policy");
        boolean evicts =
                policy != null && !policy.equals("noeviction") && (memoriesExpire || policy.startsWith("allkeys"));
        if (evicts && !is("maxmemory", "0")) {
            warnings.add("maxmemory-policy is " + policy
                    + ", so memories are evicted when maxmemory is reached; set it to noeviction");
        }
        if (is("appendonly", "no")) {
            warnings.add(
                    "appendonly is no, so what was written since the last snapshot is lost in a crash; set it to yes");
        } else if (values.containsKey("appendfsync") && !is("appendfsync", "always")) {
            warnings.add("appendfsync is " + values.get("appendfsync")
                    + ", so the last seconds may be lost in a crash; set it to always");
        } else if (is("no-appendfsync-on-rewrite", "yes")) {
            warnings.add("no-appendfsync-on-rewrite is yes, so what is written while the file is rewritten may be lost"
                    + " in a crash; set it to no");
        }
        if (replicas != null && replicas > 0) {
            warnings.add("a replica may lag, so a failover loses what it does not have yet; min-replicas-to-write is "
                    + values.getOrDefault("min-replicas-to-write", "unknown")
                    + ", which limits this loss but does not prevent it");
        }
        return List.copyOf(warnings);
    }

    private boolean is(String name, String value) {
        return value.equals(values.get(name));
    }
}

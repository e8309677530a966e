package io.github.keepsake4j.log.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.keepsake4j.log.ListQuery;
import io.github.keepsake4j.log.LogTesting;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.testing.Logged;
import io.github.keepsake4j.testing.Postgres;
import io.github.keepsake4j.testing.Redis;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisClient;

/** The settings of a server with which acknowledged messages may be lost, and those of the log. */
class RedisSettingsTest {

    private static final Map<String, String> SAFE = Map.of(
            "maxmemory", "100",
            "maxmemory-policy", "noeviction",
            "appendonly", "yes",
            "appendfsync", "always",
            "no-appendfsync-on-rewrite", "no",
            "min-replicas-to-write", "0");

    @TempDir
    Path directory;

    @Test
    void with_safe_settings_there_is_no_warning() {
        assertThat(new ServerSettings(SAFE, 0).warnings(true)).isEmpty();
        assertThat(with("maxmemory-policy", "volatile-lru").warnings(false))
                .as("without a time to live nothing is volatile")
                .isEmpty();
        Map<String, String> unbounded = new HashMap<>(SAFE);
        unbounded.putAll(Map.of("maxmemory", "0", "maxmemory-policy", "allkeys-lru"));
        assertThat(new ServerSettings(unbounded, 0).warnings(true)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "maxmemory-policy,allkeys-lru",
        "maxmemory-policy,volatile-ttl",
        "appendonly,no",
        "appendfsync,everysec",
        "no-appendfsync-on-rewrite,yes"
    })
    void a_setting_that_may_lose_messages_is_named(String name, String value) {
        assertThat(with(name, value).warnings(true)).singleElement().asString().startsWith(name + " is " + value);
    }

    @Test
    void replicas_and_what_the_server_does_not_tell_are_named() {
        assertThat(new ServerSettings(SAFE, 1).warnings(false))
                .singleElement()
                .asString()
                .contains("min-replicas-to-write is 0");
        assertThat(new ServerSettings(Map.of(), null).warnings(false))
                .singleElement()
                .asString()
                .contains(
                        "unknown",
                        "maxmemory-policy, appendonly, appendfsync, no-appendfsync-on-rewrite",
                        "number of replicas");
    }

    @Test
    void a_server_that_cannot_be_reached_is_named_without_its_password() {
        RedisMessageLog.Builder builder = RedisMessageLog.builder()
                .server(URI.create("redis://u:secret@127.0.0.1:1"))
                .checks(RedisMessageLog.Checks.REQUIRE);
        assertThatThrownBy(builder::build)
                .isInstanceOf(StorageUnavailableException.class)
                .hasMessage("check of the settings: Redis at 127.0.0.1:1 cannot be reached: the connection is refused;"
                        + " check the address, the server and the network, and retry");
    }

    @Test
    void a_refused_password_and_a_port_of_another_program_are_told_with_the_address() throws Exception {
        try (Redis server = Redis.keepingNothing(directory);
                RedisClient client = server.client()) {
            client.configSet("requirepass", "hidden");
            String place = "127.0.0.1:" + server.port();
            assertRefused(
                    "redis://" + place,
                    "Redis at " + place + " requires a password, and none is given; write redis://");
            assertRefused(
                    "redis://:wrong@" + place, "Redis at " + place + " refuses the user or the password; check both");
        }
        int other = Postgres.newest().port();
        assertRefused("redis://:wrong@127.0.0.1:" + other, "Redis at 127.0.0.1:" + other + " gives no answer of Redis");
    }

    private static void assertRefused(String uri, String problem) {
        RedisMessageLog.Builder builder = RedisMessageLog.builder().server(URI.create(uri));
        List<String> warnings = Logged.during(() -> {
            try (RedisMessageLog log = builder.build()) {
                assertThatThrownBy(() -> log.list("acme", ListQuery.first(1)))
                        .isInstanceOf(KeepsakeException.class)
                        .hasMessageContaining(problem)
                        .hasMessageNotContaining("wrong");
            }
        });
        assertThat(warnings)
                .singleElement()
                .asString()
                .contains(problem.substring(problem.indexOf(' ', "Redis at ".length())));
    }

    private static ServerSettings with(String name, String value) {
        Map<String, String> settings = new HashMap<>(SAFE);
        settings.put(name, value);
        return new ServerSettings(settings, 0);
    }

    @Test
    void a_durable_server_is_accepted_and_told_about_as_soon_as_it_is_not() throws Exception {
        try (Redis server = Redis.durable(directory);
                RedisClient client = server.client()) {
            RedisMessageLog.Builder strict =
                    RedisMessageLog.builder().client(client).checks(RedisMessageLog.Checks.REQUIRE);
            strict.build().close();
            assertThat(warnings(client)).isEmpty();

            client.configSet("appendfsync", "everysec");
            assertThatThrownBy(strict::build)
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("appendfsync is everysec");
            assertThat(warnings(client)).contains("appendfsync is everysec");
            strict.checks(RedisMessageLog.Checks.NONE).build().close();
            client.configSet("appendfsync", "always");

            Path second = Files.createDirectory(directory.resolve("replica"));
            try (Redis replica = Redis.keepingNothing(second, "replicaof 127.0.0.1 " + server.port())) {
                await().atMost(Duration.ofSeconds(60))
                        .until(() -> client.info("replication").contains("connected_slaves:1"));
                assertThat(warnings(client)).contains("min-replicas-to-write is 0");
                assertThat(warnings(replica.uri())).contains("appendonly is no");
            }
        }
    }

    @Test
    void a_server_that_refuses_to_tell_is_reported_as_unknown_and_used() throws Exception {
        try (Redis server = Redis.durable(directory, "rename-command CONFIG \"\"", "rename-command INFO tell");
                RedisClient client = Redis.client(server.port())) {
            assertThat(warnings(client)).contains("unknown", "maxmemory-policy", "appendfsync", "number of replicas");
            assertThatThrownBy(() -> RedisMessageLog.builder()
                            .client(client)
                            .checks(RedisMessageLog.Checks.REQUIRE)
                            .build())
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("maxmemory-policy");
            try (MessageLog log = RedisMessageLog.builder().client(client).build()) {
                log.append(LogTesting.KEY, LogTesting.batch("a"));
                assertThat(LogTesting.branch(log, LogTesting.KEY)).containsExactly("a");
            }
        }
    }

    /** As many rights as the guide names, of which none is for settings. */
    @Test
    void few_rights_are_enough() throws Exception {
        try (Redis server = Redis.durable(directory);
                Jedis console = server.console()) {
            console.aclSetUser(
                    "keeper",
                    "on",
                    ">secret",
                    "~keepsake:*",
                    "+@read",
                    "+@write",
                    "+@scripting",
                    "+@connection",
                    "+time");
            console.aclSetUser("keeper", "-@dangerous");
            URI uri = URI.create("redis://keeper:secret@127.0.0.1:" + server.port());
            assertThat(warnings(uri)).contains("unknown", "appendfsync", "number of replicas");
            try (MessageLog log = RedisMessageLog.builder()
                    .server(uri)
                    .timeToLive(Duration.ofHours(1))
                    .checks(RedisMessageLog.Checks.NONE)
                    .build()) {
                log.append(LogTesting.KEY, LogTesting.batch("a").withView(View.of(null, List.of())));
                assertThat(log.acquireLease(LogTesting.KEY, "work", "one", Duration.ofHours(1)))
                        .isPresent();
                try (RedisClient client = server.client()) {
                    client.del(new Keys("keepsake:").memory(LogTesting.KEY).get(1));
                }
                assertThat(LogTesting.branch(log, LogTesting.KEY)).containsExactly("a");
                assertThat(LogTesting.list(log, "acme", 5)).hasSize(1);
                assertThat(LogTesting.listByActivity(log, "acme", 5)).hasSize(1);
                assertThat(log.erase(LogTesting.KEY)).isEqualTo(2);
            }
            try (MessageLog log = RedisMessageLog.builder()
                    .server(uri)
                    .prefix("foreign:")
                    .checks(RedisMessageLog.Checks.NONE)
                    .build()) {
                assertThatThrownBy(() -> log.append(LogTesting.KEY, LogTesting.batch("a")))
                        .isInstanceOf(KeepsakeException.class)
                        .hasMessageContaining("NOPERM")
                        .satisfies(e -> assertThat(((KeepsakeException) e).isRetryable())
                                .isFalse());
            }
        }
    }

    @Test
    void a_server_that_is_away_is_an_outage_and_keeps_no_log_from_being_opened_unless_that_is_wanted()
            throws Exception {
        URI nowhere;
        try (Redis server = Redis.keepingNothing(directory)) {
            nowhere = server.uri();
            server.kill();
        }
        assertThat(warnings(nowhere)).contains("not known");
        try (MessageLog log = RedisMessageLog.builder()
                .server(nowhere)
                .checks(RedisMessageLog.Checks.NONE)
                .build()) {
            assertThatThrownBy(() -> log.append(LogTesting.KEY, LogTesting.batch("a")))
                    .isInstanceOf(StorageUnavailableException.class);
        }
        assertThatThrownBy(() -> RedisMessageLog.builder()
                        .server(nowhere)
                        .checks(RedisMessageLog.Checks.REQUIRE)
                        .build())
                .isInstanceOf(StorageUnavailableException.class);
    }

    @Test
    void wrong_settings_are_refused_by_name() throws Exception {
        assertThatThrownBy(() -> RedisMessageLog.builder().prefix("a{b}"))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("prefix");
        assertThatThrownBy(() -> RedisMessageLog.builder().timeToLive(Duration.ZERO))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("timeToLive");
        assertThatThrownBy(() -> RedisMessageLog.builder().build())
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("client");
        assertThatThrownBy(() -> RedisMessageLog.connect(URI.create("http://:sesame@somewhere")))
                .isInstanceOf(InvalidInputException.class)
                .hasMessageContaining("server")
                .hasMessageNotContaining("sesame");
        try (RedisClient client = Redis.client(1)) {
            assertThatThrownBy(() -> RedisMessageLog.builder()
                            .client(client)
                            .server(Redis.uri(1))
                            .build())
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("both set");
        }
    }

    private static String warnings(RedisClient client) {
        return logged(() -> RedisMessageLog.builder().client(client).build().close());
    }

    private static String warnings(URI server) {
        return logged(() -> RedisMessageLog.connect(server).close());
    }

    private static String logged(Runnable opening) {
        PrintStream before = System.err;
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
        try {
            opening.run();
        } finally {
            System.setErr(before);
        }
        List<String> ours = logged.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains("RedisMessageLog"))
                .toList();
        return String.join("\n", ours);
    }
}

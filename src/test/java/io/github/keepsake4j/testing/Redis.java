package io.github.keepsake4j.testing;

import static org.awaitility.Awaitility.await;

import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.redis.RedisMessageLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisException;
import redis.embedded.RedisServer;
import redis.embedded.core.RedisServerBuilder;

/** Real Redis servers for tests. One that keeps nothing serves the whole test run, with a prefix for each test. */
public final class Redis implements AutoCloseable {

    /** A server in a test may be slow because others are at work. */
    public static final int TIMEOUT_MILLIS = 60_000;

    private static final String[] KEEPS_NOTHING = {"save \"\"", "appendonly no"};
    private static final String[] DURABLE = {"save \"\"", "appendonly yes", "appendfsync always"};

    /** A node of a cluster also listens on a port that is higher by this, so both must exist. */
    private static final int CLUSTER_BUS = 10_000;

    private static final AtomicInteger PREFIXES = new AtomicInteger();

    private static final JedisClientConfig CONSOLE = DefaultJedisClientConfig.builder()
            .socketTimeoutMillis(TIMEOUT_MILLIS)
            .serverDefaultProtocol()
            .build();

    private static Redis shared;

    private final int port;
    private final RedisServer server;

    private Redis(int port, RedisServer server) {
        this.port = port;
        this.server = server;
    }

    /** Returns the server of the test run, started on first use. */
    public static synchronized Redis shared() {
        if (shared == null) {
            try {
                // The embedded server is stopped when the JVM ends.
                shared = keepingNothing(Files.createTempDirectory("keepsake-redis"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return shared;
    }

    /** Opens a log with a client of its own. */
    public MessageLog log(String prefix) {
        return RedisMessageLog.builder()
                .server(uri())
                .prefix(prefix)
                .checks(RedisMessageLog.Checks.NONE)
                .build();
    }

    /** Returns a prefix that no other test has. */
    public static String newPrefix() {
        return "test" + PREFIXES.incrementAndGet() + ":";
    }

    /** Starts a server without files. */
    public static Redis keepingNothing(Path directory, String... settings) throws IOException {
        return start(directory, KEEPS_NOTHING, settings);
    }

    /** Starts a server with which no acknowledged append is lost. */
    public static Redis durable(Path directory, String... settings) throws IOException {
        return start(directory, DURABLE, settings);
    }

    private static Redis start(Path directory, String[] kind, String... settings) throws IOException {
        int port = freePort();
        RedisServerBuilder builder = RedisServer.newRedisServer()
                .port(port)
                .bind("127.0.0.1")
                .setting("dir \"" + directory + "\"")
                .onShutdownForceStop(true);
        for (String setting : kind) {
            builder.setting(setting);
        }
        for (String setting : settings) {
            builder.setting(setting);
        }
        Redis redis = new Redis(port, builder.build());
        redis.start();
        return redis;
    }

    public int port() {
        return port;
    }

    public URI uri() {
        return uri(port);
    }

    public static URI uri(int port) {
        return URI.create("redis://127.0.0.1:" + port);
    }

    /** Connects a client, which the caller closes. */
    public RedisClient client() {
        return client(port);
    }

    public static RedisClient client(int port) {
        return RedisClient.builder()
                .hostAndPort("127.0.0.1", port)
                .clientConfig(DefaultJedisClientConfig.builder()
                        .socketTimeoutMillis(TIMEOUT_MILLIS)
                        .build())
                .build();
    }

    /** Connects to this server and no other, for what an operator does. The caller closes the connection. */
    public Jedis console() {
        return new Jedis(new HostAndPort("127.0.0.1", port), CONSOLE);
    }

    /** Starts the server again after {@link #kill} or {@link #stop}, with the files that it left. */
    public void start() throws IOException {
        server.start();
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(10))
                .ignoreExceptionsInstanceOf(JedisException.class)
                .until(() -> {
                    try (Jedis console = console()) {
                        return console.ping().equals("PONG");
                    }
                });
    }

    /** Ends the server as an operator does. */
    public void stop() throws Exception {
        end(false);
    }

    /** Kills the server as a power cut would, as far as a process can. */
    public void kill() throws Exception {
        end(true);
    }

    private void end(boolean forcibly) throws Exception {
        ProcessHandle process = process();
        if (forcibly) {
            process.destroyForcibly();
        } else {
            process.destroy();
        }
        process.onExit().get();
        server.stop();
    }

    private ProcessHandle process() {
        try (Jedis console = console()) {
            String pid = console.info("server")
                    .lines()
                    .filter(line -> line.startsWith("process_id:"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElseThrow();
            return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
        }
    }

    @Override
    public void close() throws IOException {
        server.stop();
    }

    private static int freePort() throws IOException {
        while (true) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                if (socket.getLocalPort() + CLUSTER_BUS < 65_536) {
                    return socket.getLocalPort();
                }
            }
        }
    }
}

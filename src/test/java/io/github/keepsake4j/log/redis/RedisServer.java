package io.github.keepsake4j.log.redis;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.slf4j.LoggerFactory;

/** A Redis server of its own, on this machine. Tests that need one are visibly skipped where there is none. */
final class RedisServer implements AutoCloseable {

    /** The settings with which no acknowledged append is lost. */
    static final String[] DURABLE = {"--save", "", "--appendonly", "yes", "--appendfsync", "always"};

    private static final String PROPERTY = "keepsake.redis.server";

    private final Path directory;
    private final int port;
    private final List<String> settings;
    private Process process;

    private RedisServer(Path directory, int port, List<String> settings) {
        this.directory = directory;
        this.port = port;
        this.settings = settings;
    }

    static RedisServer start(Path directory, String... settings) throws IOException {
        RedisServer server = new RedisServer(directory, freePort(), List.of(settings));
        server.start();
        return server;
    }

    int port() {
        return port;
    }

    void start() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                executable(), "--port", Integer.toString(port), "--bind", "127.0.0.1", "--dir", directory.toString()));
        command.addAll(settings);
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("redis.log").toFile())
                .start();
        await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> {
            try (RespCommands commands = new RespCommands(port)) {
                return Text.of((byte[]) commands.call("PING")).equals("PONG");
            }
        });
    }

    /** Kills the server as a power cut would, as far as a process can. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }

    /** The server that the property names, or the one on the path. */
    private static String executable() {
        String named = System.getProperty(PROPERTY);
        return Stream.concat(
                        Stream.ofNullable(named),
                        Stream.of(System.getenv("PATH").split(":", -1)).map(directory -> directory + "/redis-server"))
                .filter(path -> Files.isExecutable(Path.of(path)))
                .findFirst()
                .orElseGet(RedisServer::none);
    }

    private static String none() {
        String reason = "no redis-server on the path, and none named by -D" + PROPERTY;
        LoggerFactory.getLogger(RedisServer.class).warn("Skipped: {}", reason);
        return Assumptions.abort(reason);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}

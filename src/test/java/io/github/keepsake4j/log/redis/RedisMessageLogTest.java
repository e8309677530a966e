package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.testing.TcpProxy;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract on one server. */
class RedisMessageLogTest extends RedisContract {

    @TempDir
    static Path directory;

    private static RedisServer server;
    private static RespCommands direct;
    private static TcpProxy line;

    @BeforeAll
    static void start() throws Exception {
        server = RedisServer.start(directory, "--save", "", "--appendonly", "no");
        direct = new RespCommands(server.port());
        line = new TcpProxy(server.port());
    }

    @AfterAll
    static void stop() throws Exception {
        if (server != null) {
            line.close();
            direct.close();
            server.close();
        }
    }

    @Override
    int port() {
        return line.port();
    }

    @Override
    RespCommands direct() {
        return direct;
    }

    @Override
    public Outage breakStorage() {
        return cut(line);
    }
}

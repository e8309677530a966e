package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.testing.TcpProxy;
import java.nio.file.Path;
import java.util.List;
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
        server = RedisServer.start(directory, RedisServer.DURABLE);
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
    RespCommands connect() {
        return new RespCommands(line.port());
    }

    @Override
    List<RespCommands> nodes() {
        return List.of(direct);
    }

    @Override
    public Outage breakStorage() {
        line.refuse();
        return line::letThrough;
    }
}

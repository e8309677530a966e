package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.keepsake4j.cli.Shell.Result;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that does not answer is told soon, and one that answers anything is left to its driver. */
@Timeout(60)
class FirstAnswerTest {

    private static final String NONE =
            " has not answered within 1.5 seconds; check the address, the server and the" + " network, and retry\n";

    private final List<Socket> clients = new ArrayList<>();
    private final Shell shell = new Shell();
    private ServerSocket silent;

    /** A server whose clients are connected by the kernel, and that says nothing. */
    @BeforeEach
    void listen() throws IOException {
        silent = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
    }

    @AfterEach
    void close() throws IOException {
        for (Socket client : clients) {
            client.close();
        }
        silent.close();
    }

    private void isSilent(String server, String uri) {
        long begin = System.nanoTime();
        Result result = shell.run("list", "--log", uri.replace("PORT", String.valueOf(silent.getLocalPort())));
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofMillis(2_900));
        assertThat(result)
                .isEqualTo(new Result(4, "", "keepsake: --log: " + server + ":" + silent.getLocalPort() + NONE));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PostgreSQL at 127.0.0.1 | postgresql://u:secret@127.0.0.1:PORT/chat",
                "Redis at 127.0.0.1 | redis://u:secret@127.0.0.1:PORT",
                "Redis at 127.0.0.1 | rediss://u:secret@127.0.0.1:PORT",
                "the S3 server at 127.0.0.1 | s3://bucket?endpoint=http://127.0.0.1:PORT",
                "the S3 server at 127.0.0.1 | s3://bucket?endpoint=https://127.0.0.1:PORT"
            })
    void a_silent_server_is_told(String row) {
        String[] cells = row.split(" \\| ");
        isSilent(cells[0], cells[1]);
    }

    /** The second connection is not accepted by the kernel, because the queue is full. */
    @Test
    void a_server_that_accepts_no_connection_is_told() throws IOException {
        for (int i = 0; i < 3; i++) {
            Socket client = new Socket();
            clients.add(client);
            try {
                client.connect(silent.getLocalSocketAddress(), 200);
            } catch (IOException e) {
                break;
            }
        }
        isSilent("PostgreSQL at 127.0.0.1", "jdbc:postgresql://127.0.0.1:PORT/chat?user=u&password=secret");
    }

    @Test
    void a_server_that_is_not_there_is_told_at_once() {
        String end = "; check the address, the server and the network, and retry\n";
        long begin = System.nanoTime();
        assertThat(shell.run("list", "--log", "postgresql://u:secret@127.0.0.1:1,localhost:1/chat"))
                .isEqualTo(new Result(
                        4,
                        "",
                        "keepsake: --log: PostgreSQL at 127.0.0.1:1, localhost:1 cannot be reached: the connection is"
                                + " refused" + end));
        assertThat(shell.run("list", "--log", "postgresql://server.invalid/chat"))
                .isEqualTo(new Result(
                        4,
                        "",
                        "keepsake: --log: PostgreSQL at server.invalid:5432 cannot be reached: the host is not known"
                                + end));
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(3));
    }

    @Test
    void one_server_of_several_is_enough() throws IOException {
        try (ServerSocket other = answering("N")) {
            List<FirstAnswer.Server> servers = List.of(
                    new FirstAnswer.Server("127.0.0.1", silent.getLocalPort(), false),
                    new FirstAnswer.Server("server.invalid", 1, false),
                    new FirstAnswer.Server("127.0.0.1", other.getLocalPort(), false));
            FirstAnswer.await("--log", FirstAnswer.Protocol.POSTGRESQL, servers, Duration.ofSeconds(20));
        }
    }

    /** Whatever comes, even an end, comes from a server; also where TLS was expected. */
    @ParameterizedTest
    @ValueSource(strings = {"N", "-NOAUTH no\r\n", "HTTP/1.1 403 Forbidden\r\n\r\n", ""})
    void any_answer_is_an_answer(String text) throws IOException {
        try (ServerSocket server = answering(text)) {
            for (boolean tls : new boolean[] {false, true}) {
                List<FirstAnswer.Server> one = List.of(new FirstAnswer.Server("127.0.0.1", server.getLocalPort(), tls));
                for (FirstAnswer.Protocol protocol : FirstAnswer.Protocol.values()) {
                    FirstAnswer.await("--log", protocol, one, Duration.ofSeconds(20));
                }
            }
        }
    }

    /** Behind a proxy, the server need not be in reach. */
    @Test
    void a_proxy_is_not_passed_by() {
        URI plain = URI.create("http://bucket.test");
        URI tls = URI.create("https://bucket.test");
        assertThat(LogUri.isDirect(plain, name -> null)).isTrue();
        for (String variable : List.of("https_proxy", "HTTPS_PROXY")) {
            assertThat(LogUri.isDirect(tls, name -> name.equals(variable) ? "http://proxy" : null))
                    .isFalse();
            assertThat(LogUri.isDirect(plain, name -> name.equals(variable) ? "http://proxy" : null))
                    .isTrue();
        }
    }

    private static ServerSocket answering(String text) throws IOException {
        ServerSocket server = new ServerSocket(0, 10, InetAddress.getByName("127.0.0.1"));
        Thread thread = new Thread(() -> {
            while (!server.isClosed()) {
                try (Socket client = server.accept();
                        OutputStream out = client.getOutputStream()) {
                    client.getInputStream().read(new byte[1_000]);
                    out.write(text.getBytes(StandardCharsets.US_ASCII));
                } catch (IOException e) {
                    // The client has gone, or the test is over.
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
        return server;
    }
}

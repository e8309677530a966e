package io.github.keepsake4j.cli;

import io.github.keepsake4j.base.DaemonThreads;
import io.github.keepsake4j.base.Unreachable;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Checks that a server answers at all, before its driver is used. Drivers wait for 10 seconds to a minute, which is good for
 * an application and long for a user at a terminal. What a server answers is left to the driver.
 */
final class FirstAnswer {

    /** A server that needs longer for its first byte is not usable. With the start of Java, a user waits for 2 to 3 seconds. */
    static final Duration LIMIT = Duration.ofMillis(1_500);

    /** The first words of a client, which a server answers without a login. */
    enum Protocol {
        /** PostgreSQL's request for TLS. It answers with one byte, with or without TLS. */
        POSTGRESQL("PostgreSQL", true, "\0\0\0\b\4\u00d2\26/"),
        REDIS("Redis", false, "PING\r\n"),
        S3("the S3 server", false, "HEAD / HTTP/1.0\r\n\r\n");

        private final String server;

        /** Whether the driver tries for long if a connection is refused. Others fail at once. */
        private final boolean mustConnect;

        /** Each character is a byte. */
        private final String hello;

        Protocol(String server, boolean mustConnect, String hello) {
            this.server = server;
            this.mustConnect = mustConnect;
            this.hello = hello;
        }
    }

    /**
     * A server.
     *
     * @param host its name or number
     * @param port its port
     * @param tls whether the connection begins with TLS
     */
    record Server(String host, int port, boolean tls) {
        @Override
        public String toString() {
            return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
        }
    }

    private FirstAnswer() {}

    /** Waits for the answer of any of these servers. Throws a retryable exception if there is none. */
    static void await(String field, Protocol protocol, List<Server> servers, Duration limit) {
        if (servers.isEmpty()) {
            return;
        }
        // Looking up a name has no limit of its own, so each server has a thread.
        ExecutorService threads =
                Executors.newFixedThreadPool(servers.size(), DaemonThreads.named("keepsake-first-answer"));
        List<Callable<Server>> questions = servers.stream()
                .map(server -> (Callable<Server>) () -> ask(server, protocol, limit))
                .toList();
        try {
            threads.invokeAny(questions, limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            boolean isSilent = e.getCause() instanceof SocketTimeoutException;
            if (isSilent || protocol.mustConnect) {
                throw none(field, protocol, servers, limit, e.getCause());
            }
        } catch (TimeoutException e) {
            throw none(field, protocol, servers, limit, null);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw none(field, protocol, servers, limit, null);
        } finally {
            threads.shutdownNow();
        }
    }

    private static Server ask(Server server, Protocol protocol, Duration limit) throws IOException {
        InetAddress[] addresses = InetAddress.getAllByName(server.host());
        int millis = Math.max(1, (int) limit.toMillis() / addresses.length);
        for (int i = 0; ; i++) {
            try {
                ask(server, new InetSocketAddress(addresses[i], server.port()), protocol, millis);
                return server;
            } catch (IOException e) {
                if (i == addresses.length - 1) {
                    throw e;
                }
            }
        }
    }

    private static void ask(Server server, InetSocketAddress address, Protocol protocol, int millis)
            throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(address, millis);
            socket.setSoTimeout(millis);
            if (server.tls()) {
                shakeHands(socket, server);
            } else {
                socket.getOutputStream().write(protocol.hello.getBytes(StandardCharsets.ISO_8859_1));
                // The end of the stream is an answer too.
                socket.getInputStream().read();
            }
        } catch (SocketTimeoutException | ConnectException e) {
            throw e;
        } catch (IOException e) {
            if (!answered(e)) {
                throw e;
            }
        }
    }

    /** Whether a failure of a connection shows that there is a server. */
    private static boolean answered(IOException e) {
        return e instanceof SSLException || String.valueOf(e.getMessage()).contains("reset");
    }

    private static void shakeHands(Socket socket, Server server) throws IOException {
        SSLSocketFactory factory = (SSLSocketFactory) SSLSocketFactory.getDefault();
        try (SSLSocket tls = (SSLSocket) factory.createSocket(socket, server.host(), server.port(), true)) {
            tls.startHandshake();
        }
    }

    private static StorageUnavailableException none(
            String field, Protocol protocol, List<Server> servers, Duration limit, @Nullable Throwable failure) {
        String where = protocol.server + " at "
                + servers.stream().map(Server::toString).collect(Collectors.joining(", "));
        String problem = failure == null || failure instanceof SocketTimeoutException
                ? " has not answered within " + limit.toMillis() / 1_000.0 + " seconds; " + Unreachable.ADVICE
                : " cannot be reached" + Unreachable.why(failure);
        return new StorageUnavailableException(field + ": " + where + problem, failure);
    }
}

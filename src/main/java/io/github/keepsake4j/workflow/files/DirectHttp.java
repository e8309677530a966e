package io.github.keepsake4j.workflow.files;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * GET requests of HTTP 1.1 to given addresses. The JDK's own clients look the name up themselves, and by then it may lead
 * elsewhere than where it was checked. The name is still what a certificate must be for.
 */
final class DirectHttp {

    /** Opens connections. A test counts them, and leads them to its own server. */
    @FunctionalInterface
    interface Connector {
        Socket connect(InetSocketAddress address, int timeoutMillis) throws IOException;
    }

    /** An answer, which is never compared. The body is empty unless the status is 200. Names of headers are in lower case. */
    @SuppressWarnings("ArrayRecordComponent")
    record Answer(int status, Map<String, String> headers, byte[] body) {}

    private static final long CONNECT_MILLIS = 5_000;
    private static final int LONGEST_LINE = 16 * 1024;
    private static final int MOST_HEADERS = 200;

    private final Connector connector;
    private final LongSupplier nanos;

    DirectHttp(Connector connector, LongSupplier nanos) {
        this.connector = connector;
        this.nanos = nanos;
    }

    /** Connects by the JDK. */
    static Socket connect(InetSocketAddress address, int timeoutMillis) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(address, timeoutMillis);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Asks for a URL.
     *
     * @param addresses where the host is, one or more
     * @param maxBytes the size of the largest body
     * @param end when it must have ended, by the clock
     */
    Answer get(URI url, List<InetAddress> addresses, long maxBytes, long end) throws IOException {
        URI ascii = URI.create(url.toASCIIString());
        boolean secure = "https".equalsIgnoreCase(ascii.getScheme());
        int port = ascii.getPort() >= 0 ? ascii.getPort() : secure ? 443 : 80;
        try (Socket socket = connect(addresses, port, end)) {
            // A server that sends a byte now and then would pass each limit of a single read.
            CompletableFuture.delayedExecutor(left(end), TimeUnit.NANOSECONDS).execute(() -> close(socket));
            Socket line = secure ? secured(socket, ascii.getHost(), port) : socket;
            line.getOutputStream().write(request(ascii).getBytes(StandardCharsets.US_ASCII));
            line.getOutputStream().flush();
            return answer(new BufferedInputStream(line.getInputStream()), maxBytes);
        }
    }

    private Socket connect(List<InetAddress> addresses, int port, long end) throws IOException {
        IOException failure = new IOException("the host has no address");
        for (InetAddress address : addresses) {
            long millis = TimeUnit.NANOSECONDS.toMillis(left(end));
            if (millis == 0) {
                throw failure;
            }
            try {
                return connector.connect(new InetSocketAddress(address, port), (int) Math.min(CONNECT_MILLIS, millis));
            } catch (IOException e) {
                failure = e;
            }
        }
        throw failure;
    }

    private long left(long end) {
        return Math.max(0, end - nanos.getAsLong());
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is given up in any case.
            return;
        }
    }

    private static Socket secured(Socket socket, String host, int port) throws IOException {
        SSLSocketFactory factory = (SSLSocketFactory) SSLSocketFactory.getDefault();
        SSLSocket secured = (SSLSocket) factory.createSocket(socket, host.replaceAll("[\\[\\]]", ""), port, true);
        SSLParameters parameters = secured.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secured.setSSLParameters(parameters);
        secured.startHandshake();
        return secured;
    }

    private static String request(URI url) {
        String path = url.getRawPath() == null || url.getRawPath().isEmpty() ? "/" : url.getRawPath();
        String query = url.getRawQuery() == null ? "" : "?" + url.getRawQuery();
        String host = url.getHost() + (url.getPort() < 0 ? "" : ":" + url.getPort());
        return "GET " + path + query + " HTTP/1.1\r\nHost: " + host
                + "\r\nUser-Agent: keepsake4j\r\nAccept: */*\r\nConnection: close\r\n\r\n";
    }

    private static Answer answer(InputStream in, long maxBytes) throws IOException {
        int status;
        Map<String, String> headers;
        do {
            String[] words = line(in).split(" ", 3);
            if (words.length < 2 || !words[0].startsWith("HTTP/1.")) {
                throw new IOException("the answer is not HTTP 1");
            }
            status = (int) number(words[1], 10);
            headers = headers(in);
        } while (status >= 100 && status < 200);
        return new Answer(status, headers, status == 200 ? body(in, headers, maxBytes) : new byte[0]);
    }

    private static Map<String, String> headers(InputStream in) throws IOException {
        Map<String, String> headers = new HashMap<>();
        for (int count = 0; count <= MOST_HEADERS; count++) {
            String line = line(in);
            if (line.isEmpty()) {
                return headers;
            }
            String[] parts = line.split(":", 2);
            if (parts.length == 2) {
                headers.putIfAbsent(parts[0].strip().toLowerCase(Locale.ROOT), parts[1].strip());
            }
        }
        throw new IOException("the answer has more than " + MOST_HEADERS + " headers");
    }

    private static byte[] body(InputStream in, Map<String, String> headers, long maxBytes) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        @Nullable String length = headers.get("content-length");
        if (headers.getOrDefault("transfer-encoding", "")
                .toLowerCase(Locale.ROOT)
                .contains("chunked")) {
            for (long chunk = chunk(in); chunk > 0; chunk = chunk(in)) {
                read(in, body, chunk, maxBytes, true);
                line(in);
            }
        } else if (length == null) {
            read(in, body, Long.MAX_VALUE, maxBytes, false);
        } else {
            read(in, body, number(length, 10), maxBytes, true);
        }
        return body.toByteArray();
    }

    private static long chunk(InputStream in) throws IOException {
        return number(line(in).split(";", 2)[0].strip(), 16);
    }

    private static void read(InputStream in, ByteArrayOutputStream body, long length, long maxBytes, boolean whole)
            throws IOException {
        byte[] part = new byte[8192];
        long left = length;
        while (left > 0) {
            int got = in.read(part, 0, (int) Math.min(part.length, left));
            if (got < 0 && whole) {
                throw new IOException("the answer ended too early");
            }
            if (got < 0) {
                return;
            }
            if (body.size() + (long) got > maxBytes) {
                throw new IOException("it exceeds the limit of " + maxBytes + " bytes");
            }
            body.write(part, 0, got);
            left -= got;
        }
    }

    private static long number(String digits, int radix) throws IOException {
        try {
            return Long.parseLong(digits, radix);
        } catch (NumberFormatException e) {
            throw new IOException("the answer is damaged", e);
        }
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0 || line.length() == LONGEST_LINE) {
                throw new IOException("the answer's head ended too early or is too long");
            }
            line.append((char) c);
        }
        int end = line.length() - 1;
        return end >= 0 && line.charAt(end) == '\r' ? line.substring(0, end) : line.toString();
    }
}

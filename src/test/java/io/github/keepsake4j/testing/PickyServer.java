package io.github.keepsake4j.testing;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A front of an S3 server that refuses requests as some vendors' servers do. */
public final class PickyServer implements AutoCloseable {

    /** What the server does not accept. */
    public enum Refusal {
        /** Compares {@code If-Match} with the bare etag. */
        QUOTED_ETAGS(412, "PreconditionFailed"),
        /** Does not understand a body that is signed in chunks and has an encoding of its own. */
        CHUNKS_BESIDE_ENCODING(403, "SignatureDoesNotMatch"),
        /** Does not know the newer checksums. */
        CHECKSUMS(400, "InvalidArgument");

        private final int status;
        private final String code;

        Refusal(int status, String code) {
            this.status = status;
            this.code = code;
        }
    }

    private final ServerSocket listener;
    private final int target;
    private final Set<Refusal> refusals;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final Map<Refusal, AtomicInteger> refused = new EnumMap<>(Refusal.class);

    /** Starts a front of the server at a port. */
    public PickyServer(int target, Set<Refusal> refusals) throws IOException {
        this.target = target;
        this.refusals = EnumSet.copyOf(refusals);
        refusals.forEach(refusal -> refused.put(refusal, new AtomicInteger()));
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** Returns how many requests were refused for a reason. */
    public int refused(Refusal refusal) {
        return refused.get(refusal).get();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listener.accept();
            Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
            open.add(client);
            open.add(server);
            daemon(() -> {
                try (client;
                        server) {
                    forward(client, server);
                }
            });
            daemon(() -> {
                try (client;
                        server) {
                    server.getInputStream().transferTo(client.getOutputStream());
                }
            });
        }
    }

    private void forward(Socket client, Socket server) throws IOException {
        InputStream in = new BufferedInputStream(client.getInputStream());
        OutputStream out = server.getOutputStream();
        while (true) {
            byte[] head = head(in);
            if (head.length == 0) {
                return;
            }
            Map<String, String> headers = headers(head);
            for (Refusal refusal : refusals) {
                if (isRefused(refusal, headers)) {
                    refused.get(refusal).incrementAndGet();
                    refuse(client.getOutputStream(), refusal);
                    return;
                }
            }
            out.write(head);
            out.flush();
            long left = Long.parseLong(headers.getOrDefault("content-length", "0"));
            byte[] buffer = new byte[8192];
            while (left > 0) {
                int read = in.read(buffer, 0, (int) Math.min(buffer.length, left));
                if (read < 0) {
                    return;
                }
                out.write(buffer, 0, read);
                left -= read;
            }
            out.flush();
        }
    }

    private static boolean isRefused(Refusal refusal, Map<String, String> headers) {
        return switch (refusal) {
            case QUOTED_ETAGS ->
                headers.getOrDefault("if-match", "").contains("\"")
                        || headers.getOrDefault("x-amz-copy-source-if-match", "")
                                .contains("\"");
            case CHUNKS_BESIDE_ENCODING ->
                headers.getOrDefault("content-encoding", "").contains("gzip")
                        && headers.getOrDefault("x-amz-content-sha256", "").startsWith("STREAMING-");
            case CHECKSUMS ->
                headers.keySet().stream()
                        .anyMatch(name -> name.startsWith("x-amz-checksum-")
                                || name.equals("x-amz-sdk-checksum-algorithm")
                                || name.equals("x-amz-trailer"));
        };
    }

    /** The body is not read, so the connection is of no more use. */
    private static void refuse(OutputStream out, Refusal refusal) throws IOException {
        String body = "<?xml version=\"1.0\"?><Error><Code>" + refusal.code + "</Code></Error>";
        out.write(("HTTP/1.1 " + refusal.status + " Refused\r\nContent-Type: application/xml\r\nConnection: close\r\n"
                        + "Content-Length: " + body.length() + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.US_ASCII));
        out.flush();
    }

    private static byte[] head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        int end = 0;
        while (end < 4) {
            int next = in.read();
            if (next < 0) {
                return new byte[0];
            }
            head.write(next);
            end = next == (end % 2 == 0 ? '\r' : '\n') ? end + 1 : next == '\r' ? 1 : 0;
        }
        return head.toByteArray();
    }

    private static Map<String, String> headers(byte[] head) {
        Map<String, String> headers = new HashMap<>();
        new String(head, StandardCharsets.ISO_8859_1)
                .lines()
                .skip(1)
                .filter(line -> line.contains(":"))
                .forEach(line -> headers.merge(
                        line.substring(0, line.indexOf(':')).toLowerCase(Locale.ROOT),
                        line.substring(line.indexOf(':') + 1).strip(),
                        (a, b) -> a + "," + b));
        return headers;
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : open) {
            socket.close();
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void daemon(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                // One of both sides has ended the connection.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}

package io.github.keepsake4j.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A proxy between a client and a server on this machine that cuts the connection at a place that the test chooses, or falls
 * silent.
 */
public final class TcpProxy implements AutoCloseable {

    /** The place at which the next connection that carries bytes is cut. */
    public enum Cut {
        /** What the client sends never reaches the server. */
        BEFORE_THE_SERVER,
        /** Only a part of it reaches the server. */
        IN_THE_MIDDLE,
        /** The server receives everything; its answer never reaches the client. */
        AFTER_THE_SERVER,
        /** The server receives everything; half of its answer reaches the client. */
        IN_THE_ANSWER
    }

    private final ServerSocket listener;
    private final int target;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger cuts = new AtomicInteger();
    private volatile boolean refusing;
    private volatile boolean silent;
    private volatile Cut next;
    private volatile byte[] marker = {};

    public TcpProxy(int target) throws IOException {
        this.target = target;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** Cuts all connections, and every new one at once. */
    public void refuse() {
        refusing = true;
        open.forEach(TcpProxy::cut);
    }

    /** Delivers nothing more, in connections that stay open and in new ones. */
    public void fallSilent() {
        silent = true;
    }

    /** What was not delivered meanwhile is lost. */
    public void letThrough() {
        if (silent) {
            refuse();
        }
        silent = false;
        refusing = false;
    }

    /** Cuts the next connection on which a client sends the given text. */
    public void cutNext(Cut where, String text) {
        marker = text.getBytes(StandardCharsets.UTF_8);
        next = where;
    }

    /** Returns how many connections were cut while in use. */
    public int cuts() {
        return cuts.get();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                open.add(client);
                if (refusing) {
                    cut(client);
                    continue;
                }
                Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                open.add(server);
                Line line = new Line(client, server);
                daemon(() -> line.pump(client, server, true));
                daemon(() -> line.pump(server, client, false));
            } catch (IOException e) {
                // The proxy was closed or the server is unavailable. The client sees its connection end.
            }
        }
    }

    private final class Line {
        private final Socket client;
        private final Socket server;
        private volatile boolean mute;
        private volatile boolean halfMute;

        Line(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        void pump(Socket from, Socket to, boolean request) {
            byte[] buffer = new byte[65_536];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                    if (silent) {
                        continue;
                    }
                    if (request) {
                        Cut cut = takeCut(buffer, length);
                        if (cut == Cut.IN_THE_MIDDLE) {
                            out.write(buffer, 0, length / 2);
                        }
                        if (cut == Cut.AFTER_THE_SERVER || cut == Cut.IN_THE_ANSWER) {
                            halfMute = cut == Cut.IN_THE_ANSWER;
                            mute = true;
                        } else if (cut != null) {
                            break;
                        }
                    } else if (mute) {
                        // The server has answered, so it has executed the request.
                        out.write(buffer, 0, halfMute ? length / 2 : 0);
                        break;
                    }
                    out.write(buffer, 0, length);
                }
            } catch (IOException e) {
                // One end was closed, so the other is closed too.
            }
            cut(client);
            cut(server);
            open.remove(client);
            open.remove(server);
        }

        private Cut takeCut(byte[] sent, int length) {
            synchronized (TcpProxy.this) {
                if (next == null || !contains(sent, length)) {
                    return null;
                }
                Cut cut = next;
                next = null;
                cuts.incrementAndGet();
                return cut;
            }
        }

        private boolean contains(byte[] sent, int length) {
            String text = new String(sent, 0, length, StandardCharsets.ISO_8859_1);
            return text.contains(new String(marker, StandardCharsets.ISO_8859_1));
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        open.forEach(TcpProxy::cut);
    }

    private static void cut(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // The connection is closed in any case.
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "tcp-proxy");
        thread.setDaemon(true);
        thread.start();
    }
}

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

/** Stands between a client and a server on this machine, and cuts the line where a test wants it. */
public final class TcpProxy implements AutoCloseable {

    /** Where the next connection that carries bytes is cut. */
    public enum Cut {
        /** What the client sends never reaches the server. */
        BEFORE_THE_SERVER,
        /** Only a part of it reaches the server. */
        IN_THE_MIDDLE,
        /** The server gets it all; its answer never reaches the client. */
        AFTER_THE_SERVER,
        /** The server gets it all; half of its answer reaches the client. */
        IN_THE_ANSWER
    }

    private final ServerSocket listener;
    private final int target;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger cuts = new AtomicInteger();
    private volatile boolean refusing;
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

    /** Cuts all lines, and every new one at once. */
    public void refuse() {
        refusing = true;
        open.forEach(TcpProxy::cut);
    }

    public void letThrough() {
        refusing = false;
    }

    /** Cuts the next line on which a client sends some text. */
    public void cutNext(Cut where, String text) {
        marker = text.getBytes(StandardCharsets.UTF_8);
        next = where;
    }

    /** How many lines were cut in the middle. */
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
                // Closed, or the server is away: the client sees its connection end.
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
                        // The server has answered, so it has done what it was asked.
                        out.write(buffer, 0, halfMute ? length / 2 : 0);
                        break;
                    }
                    out.write(buffer, 0, length);
                }
            } catch (IOException e) {
                // One end went away; so does the other.
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
            // It is closed either way.
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "tcp-proxy");
        thread.setDaemon(true);
        thread.start();
    }
}

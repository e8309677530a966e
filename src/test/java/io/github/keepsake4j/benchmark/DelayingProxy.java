package io.github.keepsake4j.benchmark;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/** A proxy to a server on this machine that adds a delay: bytes arrive later, but at the same rate as without it. */
final class DelayingProxy implements AutoCloseable {

    private record Parcel(byte[] bytes, long due) {}

    private final ServerSocket listener;
    private final int target;
    private final long delayNanos;

    DelayingProxy(int target, long delayNanos) throws IOException {
        this.target = target;
        this.delayNanos = delayNanos;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                pump(client, server);
                pump(server, client);
            } catch (IOException e) {
                // The proxy was closed.
            }
        }
    }

    private void pump(Socket from, Socket to) {
        BlockingQueue<Parcel> underWay = new LinkedBlockingQueue<>();
        daemon(() -> {
            byte[] buffer = new byte[65_536];
            try (InputStream in = from.getInputStream()) {
                for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                    underWay.add(new Parcel(Arrays.copyOf(buffer, length), System.nanoTime() + delayNanos));
                }
            } catch (IOException e) {
                // One end was closed, so the other is closed too.
            }
            underWay.add(new Parcel(new byte[0], System.nanoTime()));
        });
        daemon(() -> {
            try (OutputStream out = to.getOutputStream()) {
                for (Parcel next = underWay.take(); next.bytes().length > 0; next = underWay.take()) {
                    for (long left = next.due() - System.nanoTime(); left > 0; left = next.due() - System.nanoTime()) {
                        LockSupport.parkNanos(left);
                    }
                    out.write(next.bytes());
                }
            } catch (IOException | InterruptedException e) {
                // As above.
            }
        });
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "delaying-proxy");
        thread.setDaemon(true);
        thread.start();
    }
}

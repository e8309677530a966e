package com.example.league;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** A network to a server on this machine: bytes arrive later, and are counted. */
final class Link implements AutoCloseable {

    private record Parcel(byte[] bytes, long due) {}

    private final ServerSocket listener;
    private final int target;
    private final long delayNanos;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong roundTrips = new AtomicLong();

    /** Opens a network in which a byte takes {@code delayNanos} in each direction. */
    Link(int target, long delayNanos) {
        this.target = target;
        this.delayNanos = delayNanos;
        try {
            this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    /** Returns the bytes that went through so far. */
    long bytes() {
        return bytes.get();
    }

    /** Returns how often the client has sent something after it had got an answer. */
    long roundTrips() {
        return roundTrips.get();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                boolean[] asked = new boolean[1];
                pump(client, server, asked, true);
                pump(server, client, asked, false);
            } catch (IOException e) {
                // One of the two was closed.
            }
        }
    }

    private void count(int length, boolean[] asked, boolean asking) {
        bytes.addAndGet(length);
        synchronized (asked) {
            if (asking && !asked[0]) {
                roundTrips.incrementAndGet();
            }
            asked[0] = asking;
        }
    }

    private void pump(Socket from, Socket to, boolean[] asked, boolean asking) {
        BlockingQueue<Parcel> underWay = new LinkedBlockingQueue<>();
        daemon(() -> {
            byte[] buffer = new byte[65_536];
            try (InputStream in = from.getInputStream()) {
                for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                    count(length, asked, asking);
                    underWay.add(new Parcel(Arrays.copyOf(buffer, length), System.nanoTime() + delayNanos));
                }
            } catch (IOException e) {
                // One end was closed, so the other is closed too.
            }
            underWay.add(new Parcel(new byte[0], 0));
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

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "link");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

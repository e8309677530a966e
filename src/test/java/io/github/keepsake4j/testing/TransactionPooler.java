package io.github.keepsake4j.testing;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A pooler for PostgreSQL in transaction mode that does not track prepared statements, such as PgBouncer 1.18. Each
 * transaction of a client runs on any free connection to the server. What a client prepares stays in the session in which
 * it was prepared, where another client may have used the name before.
 */
public final class TransactionPooler implements AutoCloseable {

    private static final int PROTOCOL_3 = 3 << 16;
    private static final int CANCEL = 80877102;
    private static final int SSL = 80877103;
    private static final int GSS = 80877104;
    private static final int KEY_LENGTH = 16;

    private final ServerSocket listener;
    private final int target;
    private final byte[] startup;
    private final List<Line> free = new ArrayList<>();
    private final List<Line> servers = new ArrayList<>();
    private final Random random = new Random(1);
    private final Map<Integer, Client> clients = new ConcurrentHashMap<>();
    private final AtomicInteger cancelled = new AtomicInteger();
    private final AtomicInteger numbers = new AtomicInteger();

    /**
     * Connects to a server on this machine, which trusts the user.
     *
     * @param size how many connections to the server there are
     */
    public TransactionPooler(int target, String database, String user, int size) throws IOException {
        this.target = target;
        this.startup = startup(database, user);
        for (int i = 0; i < size; i++) {
            Line server = new Line(new Socket(InetAddress.getLoopbackAddress(), target));
            server.begin(startup);
            servers.add(server);
        }
        free.addAll(servers);
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** Returns how many requests to cancel a statement were passed on. */
    public int cancelled() {
        return cancelled.get();
    }

    /** One end of the proxy's connection to a client or to the server. */
    private static final class Line {
        private final Socket socket;
        private final DataInputStream in;
        private final DataOutputStream out;
        /** What the server tells a client before the first statement. */
        private final ByteArrayOutputStream greeting = new ByteArrayOutputStream();

        private int process;
        private int secret;

        Line(Socket socket) throws IOException {
            this.socket = socket;
            socket.setTcpNoDelay(true);
            // Unbuffered, a message would be read byte by byte.
            in = new DataInputStream(new java.io.BufferedInputStream(socket.getInputStream()));
            out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        }

        /** Logs on to the server. */
        void begin(byte[] startup) throws IOException {
            out.write(startup);
            out.flush();
            while (true) {
                Message message = Message.read(in);
                switch (message.type) {
                    case 'S' -> message.write(new DataOutputStream(greeting));
                    case 'K' -> {
                        process = message.number(0);
                        secret = message.number(4);
                    }
                    case 'Z' -> {
                        return;
                    }
                    case 'E' -> throw new IOException("the server refuses the pooler");
                    default -> {}
                }
            }
        }
    }

    private record Message(int type, byte[] body) {
        static Message read(DataInputStream in) throws IOException {
            int type = in.readUnsignedByte();
            byte[] body = new byte[in.readInt() - 4];
            in.readFully(body);
            return new Message(type, body);
        }

        void write(DataOutputStream out) throws IOException {
            out.writeByte(type);
            out.writeInt(body.length + 4);
            out.write(body);
        }

        int number(int at) {
            return TransactionPooler.number(body, at);
        }
    }

    /** A client, which has a connection to the server only in a transaction. */
    private final class Client {
        private final Line line;
        private final int number = numbers.incrementAndGet();
        private final int secret;
        private Line server;

        Client(Line line) {
            this.line = line;
            synchronized (random) {
                this.secret = random.nextInt();
            }
        }

        void serve() throws IOException, InterruptedException {
            greet();
            while (true) {
                Message message = Message.read(line.in);
                if (message.type == 'X') {
                    return;
                }
                if (server == null) {
                    attach(take());
                }
                message.write(server.out);
                // Sync or a simple query: the server answers up to ReadyForQuery.
                if (message.type == 'S' || message.type == 'Q') {
                    server.out.flush();
                    answer();
                }
            }
        }

        private void greet() throws IOException {
            new Message('R', new byte[4]).write(line.out);
            line.out.write(servers.get(0).greeting.toByteArray());
            ByteArrayOutputStream key = new ByteArrayOutputStream();
            DataOutputStream numbers = new DataOutputStream(key);
            numbers.writeInt(number);
            numbers.writeInt(secret);
            new Message('K', key.toByteArray()).write(line.out);
            new Message('Z', new byte[] {'I'}).write(line.out);
            line.out.flush();
        }

        private void answer() throws IOException {
            Message message;
            do {
                message = Message.read(server.in);
                if (message.type == 'Z' && message.body[0] == 'I') {
                    // Given back before the client knows, so that its next statement gets another one.
                    release();
                }
                message.write(line.out);
            } while (message.type != 'Z');
            line.out.flush();
        }

        private synchronized void attach(Line taken) {
            server = taken;
        }

        /** Waits for a request to cancel that is being passed on, so that it hits no statement of another client. */
        private synchronized void release() {
            give(server);
            server = null;
        }

        synchronized void cancel(int given) throws IOException {
            if (given != secret || server == null) {
                return;
            }
            cancelled.incrementAndGet();
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), target)) {
                DataOutputStream out = new DataOutputStream(socket.getOutputStream());
                out.writeInt(KEY_LENGTH);
                out.writeInt(CANCEL);
                out.writeInt(server.process);
                out.writeInt(server.secret);
                out.flush();
                socket.getInputStream().read();
            }
        }

        /** Ends the client's transaction, as a client that goes away in the middle of one does not. */
        void leave() throws IOException {
            if (server != null) {
                new Message('Q', "ROLLBACK\0".getBytes(StandardCharsets.US_ASCII)).write(server.out);
                server.out.flush();
                Message message;
                do {
                    message = Message.read(server.in);
                } while (message.type != 'Z');
                release();
            }
        }
    }

    private Line take() throws InterruptedException {
        synchronized (free) {
            while (free.isEmpty()) {
                free.wait();
            }
            return free.remove(random.nextInt(free.size()));
        }
    }

    private void give(Line server) {
        synchronized (free) {
            free.add(server);
            free.notify();
        }
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                daemon(() -> talk(socket));
            } catch (IOException e) {
                // The pooler was closed.
            }
        }
    }

    private void talk(Socket socket) {
        try (socket) {
            Line line = new Line(socket);
            while (true) {
                byte[] body = new byte[line.in.readInt() - 4];
                line.in.readFully(body);
                int code = number(body, 0);
                if (code == SSL || code == GSS) {
                    line.out.writeByte('N');
                    line.out.flush();
                } else if (code == CANCEL) {
                    Client client = clients.get(number(body, 4));
                    if (client != null) {
                        client.cancel(number(body, 8));
                    }
                    return;
                } else {
                    serve(new Client(line));
                    return;
                }
            }
        } catch (IOException e) {
            // The client went away.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve(Client client) throws IOException, InterruptedException {
        clients.put(client.number, client);
        try {
            client.serve();
        } finally {
            clients.remove(client.number);
            client.leave();
        }
    }

    private static byte[] startup(String database, String user) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        // What the driver asks for.
        String[] parameters = {
            "user", user, "database", database, "client_encoding", "UTF8", "DateStyle", "ISO", "extra_float_digits", "2"
        };
        for (String parameter : parameters) {
            body.write(parameter.getBytes(StandardCharsets.UTF_8));
            body.write(0);
        }
        body.write(0);
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(message);
        out.writeInt(body.size() + 8);
        out.writeInt(PROTOCOL_3);
        body.writeTo(out);
        return message.toByteArray();
    }

    private static int number(byte[] bytes, int at) {
        return java.nio.ByteBuffer.wrap(bytes).getInt(at);
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Line server : servers) {
            server.socket.close();
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "transaction-pooler");
        thread.setDaemon(true);
        thread.start();
    }
}

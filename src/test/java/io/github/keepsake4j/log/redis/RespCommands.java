package io.github.keepsake4j.log.redis;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;

/**
 * Sends commands over plain sockets, also to the nodes of a cluster, and counts them. For tests only, so that they need no
 * client library.
 */
final class RespCommands implements Commands {

    private final int port;

    /** Where a node that was named is reached. */
    private final IntUnaryOperator routes;

    private final ConcurrentLinkedQueue<Line> idle = new ConcurrentLinkedQueue<>();

    /** The nodes of a cluster that were led to, by slot key. */
    private final Map<String, Integer> moved = new ConcurrentHashMap<>();

    private final AtomicLong sent = new AtomicLong();

    RespCommands(int port) {
        this(port, node -> node);
    }

    RespCommands(int port, IntUnaryOperator routes) {
        this.port = port;
        this.routes = routes;
    }

    /** A connection to one node. */
    private record Line(int port, Socket socket, InputStream in, OutputStream out) {

        static Line open(int port) throws IOException {
            Socket socket = new Socket();
            socket.connect(new InetSocketAddress("127.0.0.1", port), 2_000);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(60_000);
            return new Line(
                    port,
                    socket,
                    new BufferedInputStream(socket.getInputStream()),
                    new BufferedOutputStream(socket.getOutputStream()));
        }

        Object call(List<byte[]> words) throws IOException, ReplyException {
            write("*" + words.size());
            for (byte[] word : words) {
                write("$" + word.length);
                out.write(word);
                write("");
            }
            out.flush();
            return answer();
        }

        private void write(String text) throws IOException {
            out.write((text + "\r\n").getBytes(StandardCharsets.UTF_8));
        }

        private Object answer() throws IOException, ReplyException {
            String line = line();
            String rest = line.substring(1);
            switch (line.charAt(0)) {
                case '-' -> throw new ReplyException(rest, null);
                case ':' -> {
                    return Long.valueOf(rest);
                }
                case '$' -> {
                    int length = Integer.parseInt(rest);
                    byte[] bytes = length < 0 ? null : in.readNBytes(length);
                    if (length >= 0) {
                        line();
                    }
                    return bytes;
                }
                case '*' -> {
                    List<Object> all = new ArrayList<>();
                    for (int i = Integer.parseInt(rest); i > 0; i--) {
                        all.add(answer());
                    }
                    return all;
                }
                default -> {
                    return rest.getBytes(StandardCharsets.UTF_8);
                }
            }
        }

        private String line() throws IOException {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            for (int next = in.read(); next != '\r'; next = in.read()) {
                if (next < 0) {
                    throw new EOFException("the server closed the connection");
                }
                line.write(next);
            }
            in.read();
            return line.toString(StandardCharsets.UTF_8);
        }
    }

    long sent() {
        return sent.get();
    }

    Object call(String... words) throws IOException, ReplyException {
        return send(
                words.length > 1 ? words[1] : "",
                List.of(words).stream().map(Text::bytes).toList());
    }

    private Object send(String key, List<byte[]> words) throws IOException, ReplyException {
        sent.incrementAndGet();
        Line line = take(moved.getOrDefault(key, port));
        try {
            Object answer = line.call(words);
            idle.add(line);
            return answer;
        } catch (IOException e) {
            line.socket.close();
            throw e;
        } catch (ReplyException e) {
            idle.add(line);
            if (e.text().startsWith("MOVED ")) {
                moved.put(
                        key,
                        routes.applyAsInt(
                                Integer.parseInt(e.text().substring(e.text().lastIndexOf(':') + 1))));
                return send(key, words);
            }
            throw e;
        }
    }

    private Line take(int to) throws IOException {
        for (Line line = idle.poll(); line != null; line = idle.poll()) {
            if (line.port == to) {
                return line;
            }
            line.socket.close();
        }
        return Line.open(to);
    }

    @Override
    public Object evalSha(String sha, List<byte[]> keys, List<byte[]> arguments) throws IOException, ReplyException {
        return eval("EVALSHA", sha, keys, arguments);
    }

    @Override
    public Object eval(String script, List<byte[]> keys, List<byte[]> arguments) throws IOException, ReplyException {
        return eval("EVAL", script, keys, arguments);
    }

    private Object eval(String command, String script, List<byte[]> keys, List<byte[]> arguments)
            throws IOException, ReplyException {
        List<byte[]> words = new ArrayList<>();
        words.add(Text.bytes(command));
        words.add(Text.bytes(script));
        words.add(Text.bytes(Integer.toString(keys.size())));
        words.addAll(keys);
        words.addAll(arguments);
        String key = Text.of(keys.get(0));
        return send(key.substring(key.indexOf('{'), key.indexOf('}')), words);
    }

    @Override
    public Optional<String> setting(String name) throws IOException {
        try {
            List<?> answer = (List<?>) call("CONFIG", "GET", name);
            return answer.size() < 2 ? Optional.empty() : Optional.of(Text.of((byte[]) answer.get(1)));
        } catch (ReplyException e) {
            return Optional.empty();
        }
    }

    @Override
    public Optional<Integer> replicas() throws IOException {
        try {
            return Text.of((byte[]) call("INFO", "replication"))
                    .lines()
                    .filter(line -> line.startsWith("connected_slaves:"))
                    .map(line -> Integer.valueOf(line.substring(line.indexOf(':') + 1)))
                    .findFirst();
        } catch (ReplyException e) {
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        for (Line line = idle.poll(); line != null; line = idle.poll()) {
            try {
                line.socket.close();
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }
}

package io.github.keepsake4j.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A local server that speaks OpenAI's protocol. It can break the connection within an answer, and give odd reasons for its end. */
public final class OpenAiServer implements AutoCloseable {

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;
    private final String[] tokens;
    private final boolean breaks;

    /** The reason of each answer's end as JSON. */
    private volatile String reason = "\"stop\"";

    private volatile boolean done = true;

    /**
     * Starts the server.
     *
     * @param breaks whether it breaks the connection behind the tokens, before the answer's end
     * @param tokens the tokens of each answer
     */
    public OpenAiServer(boolean breaks, String... tokens) throws IOException {
        this.breaks = breaks;
        this.tokens = tokens;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/chat/completions", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    /**
     * Sets how later answers end.
     *
     * @param json the reason as JSON, or null for none
     * @param saysDone whether a stream ends with {@code [DONE]}
     */
    public void endWith(String json, boolean saysDone) {
        reason = json;
        done = saysDone;
    }

    public String baseUrl() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1";
    }

    private void answer(HttpExchange exchange) throws IOException {
        String request = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        if (!request.replace(" ", "").contains("\"stream\":true")) {
            answerWhole(exchange);
            return;
        }
        exchange.getResponseHeaders().add("Content-Type", "text/event-stream");
        // A length that is not reached makes the client see that the connection broke.
        exchange.sendResponseHeaders(200, breaks ? 1_000_000 : 0);
        OutputStream body = exchange.getResponseBody();
        for (String token : tokens) {
            body.write(event("{\"content\":\"" + token + "\"}", "null"));
            body.flush();
        }
        if (!breaks) {
            if (reason != null) {
                body.write(event("{}", reason));
            }
            if (done) {
                body.write("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8));
            }
            body.close();
        }
        exchange.close();
    }

    private void answerWhole(HttpExchange exchange) throws IOException {
        byte[] answer = ("{\"id\":\"1\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\",\"choices\":[{"
                        + "\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"" + String.join("", tokens)
                        + "\"}"
                        + (reason == null ? "" : ",\"finish_reason\":" + reason) + "}]}")
                .getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().add("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, answer.length);
        exchange.getResponseBody().write(answer);
        exchange.close();
    }

    private static byte[] event(String delta, String reason) {
        return ("data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{"
                        + "\"index\":0,\"delta\":" + delta + ",\"finish_reason\":" + reason + "}]}\n\n")
                .getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}

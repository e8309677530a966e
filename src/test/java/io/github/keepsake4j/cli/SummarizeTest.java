package io.github.keepsake4j.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.github.keepsake4j.cli.Shell.Result;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real client of OpenAI's API writes the summaries, with a server that plays the model. */
class SummarizeTest {

    private static final String ANSWER =
            """
            {"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",
            "message":{"role":"assistant","content":"Ada keeps bees."}}],
            "usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}
            """;

    @TempDir
    Path directory;

    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final Shell shell = new Shell();
    private HttpServer server;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/chat/completions", exchange -> {
            requests.add(exchange.getRequestHeaders().getFirst("Authorization")
                    + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            byte[] answer = ANSWER.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        shell.log("sqlite:" + directory.resolve("chat.db"))
                .with("OPENAI_API_KEY", "the-key")
                .with("OPENAI_MODEL", "the-model")
                .with(
                        "OPENAI_BASE_URL",
                        "http://127.0.0.1:" + server.getAddress().getPort() + "/v1");
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void talk() {
        for (int turn = 0; turn < 3; turn++) {
            shell.good("add", "--session", "a", "--content", "I am Ada, and I keep bees. " + turn);
            shell.good("add", "--session", "a", "--role", "assistant", "--content", "I see: Ada, who keeps bees.");
        }
    }

    @Test
    void a_model_writes_the_summary() {
        talk();
        Result result = shell.good("summarize", "--session", "a");
        assertThat(result.out()).contains("\nsummary    Ada keeps bees.\n");
        assertThat(requests).singleElement().satisfies(request -> assertThat(request)
                .contains("Bearer the-key", "the-model", "I keep bees"));
        assertThat(shell.good("get", "--session", "a", "--strategy", "summarization", "--json")
                        .out())
                .contains("\"summary\":\"Ada keeps bees.\"");
    }

    /** The process ends with its command, so it waits for the summary. */
    @Test
    void a_summary_that_is_due_is_there_when_add_returns() {
        talk();
        String[] add = {"add", "--session", "a", "--strategy", "summarization", "--max-tokens", "60", "--content", "Hi"
        };
        assertThat(shell.good(add).out()).contains("summary    Ada keeps bees.");
        assertThat(requests).hasSize(1);
    }

    @Test
    void a_model_that_does_not_answer_is_exit_code_4() {
        talk();
        server.stop(0);
        Result result = shell.run("summarize", "--session", "a");
        assertThat(result.code()).as(result.err()).isEqualTo(4);
        assertThat(result.err()).contains("conversation/default/a").hasLineCount(1);
    }

    /** The same command would fail again. */
    @Test
    void a_model_that_refuses_is_exit_code_1_and_the_kind_of_the_refusal_is_told() {
        talk();
        server.removeContext("/v1/chat/completions");
        server.createContext("/v1/chat/completions", exchange -> {
            byte[] answer = "{\"error\":{\"message\":\"secret\"}}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(401, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        refuses("AuthenticationException");
        server.removeContext("/v1/chat/completions");
        refuses("ModelNotFoundException");
        shell.with("OPENAI_BASE_URL", "nowhere");
        refuses("IllegalArgumentException");
    }

    private void refuses(String kind) {
        Result result = shell.run("summarize", "--session", "a");
        assertThat(result.code()).as(result.err()).isEqualTo(1);
        assertThat(result.err()).contains(kind).doesNotContain("secret").hasLineCount(1);
    }
}

package com.example.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.Omission;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Principal;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The controller over HTTP, as a browser calls it. */
class ChatControllerTest {

    private static final JsonMapper JSON = new JsonMapper();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @TempDir
    static Path directory;

    private static ConfigurableApplicationContext application;

    @BeforeAll
    static void start() {
        application = SpringApplication.run(new Class<?>[] {ChatApplication.class, UserOfHeader.class}, new String[] {
            "--server.port=0",
            "--keepsake4j.sqlite.file=" + directory.resolve("chat.db"),
            "--keepsake4j.index.file=" + directory.resolve("index.db")
        });
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @Test
    void an_answer_is_streamed_and_a_restarted_application_remembers() throws Exception {
        List<Event> events = stream("POST", "alice/messages", "My name is Alice.");
        assertThat(text(events)).isEqualTo("Noted. Your name is Alice.");
        assertThat(events).hasSizeGreaterThan(3);
        stop();
        start();
        String answer = "Your name is Alice. You said so in this chat.";
        assertThat(text(stream("POST", "alice/messages", "Who am I?"))).isEqualTo(answer);
        assertThat(texts(get("alice/messages").get("messages")))
                .containsExactly("My name is Alice.", "Noted. Your name is Alice.", "Who am I?", answer);
    }

    @Test
    void conversations_are_listed_named_searched_and_erased() throws Exception {
        stream("POST", "bees/messages", "My bees find flowers.");
        stream("POST", "ants/messages", "My ants find sugar.");
        send("PUT", "bees/title", Map.of("text", "Bees"));

        JsonNode list = get("").get("conversations");
        assertThat(list.findValuesAsString("id")).contains("ants", "bees");
        assertThat(list.findValuesAsString("title")).contains("Bees");
        assertThat(list.findValuesAsString("preview")).contains("Noted. Your ants find sugar.");

        JsonNode hit = get("bees/search?text=flower").get("hits").get(0);
        String found = hit.get("text").asString();
        JsonNode where = hit.at("/highlights/0");
        assertThat(found.substring(where.get("start").asInt(), where.get("end").asInt()))
                .isEqualTo("flower");
        assertThat(get("ants/search?text=flower").get("hits")).isEmpty();

        send("DELETE", "bees", null);
        assertThat(get("").get("conversations").findValuesAsString("id"))
                .contains("ants")
                .doesNotContain("bees");
        assertThat(send("GET", "bees/messages", null).statusCode()).isEqualTo(404);
    }

    /** Stands for a login. */
    @Component
    static class UserOfHeader extends OncePerRequestFilter {
        @Override
        protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            String user = request.getHeader("X-User");
            chain.doFilter(
                    new HttpServletRequestWrapper(request) {
                        @Override
                        public Principal getUserPrincipal() {
                            return user == null ? null : () -> user;
                        }
                    },
                    response);
        }
    }

    private HttpResponse<String> as(String user, String method, String path, String body) throws Exception {
        return CLIENT.send(
                HttpRequest.newBuilder(request("GET", path, null).uri())
                        .header("X-User", user)
                        .header("Content-Type", "application/json")
                        .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    @Test
    void a_conversation_is_there_only_for_the_user_who_began_it() throws Exception {
        assertThat(as("ann", "POST", "of-ann/messages", "{\"text\": \"mine\"}").statusCode())
                .isEqualTo(200);
        String text = "{\"text\": \"yours\"}";
        String[][] requests = {
            {"GET", "of-ann/messages", null},
            {"GET", "of-ann/search?text=mine", null},
            {"GET", "of-ann/branches", null},
            {"PUT", "of-ann/branches/x", null},
            {"PUT", "of-ann/title", text},
            {"DELETE", "of-ann", null},
            {"POST", "of-ann/messages", text},
            {"PUT", "of-ann/messages/x", text},
            {"POST", "of-ann/messages/x/regenerate", null},
            {"POST", "of-ann/messages/x/retry", null},
            {"POST", "of-ann/stop", null},
            {"GET", "of-ann/state", null},
            {"GET", "of-ann/page", null},
            {"GET", "of-ann/request?strategy=messages&size=4", null},
            {"GET", "of-ann/messages/x/seen", null},
            {"POST", "of-ann/messages/x/fork", null},
            {"GET", "of-ann/tree", null},
            {"GET", "of-ann/recall?text=mine", null},
            {"GET", "of-ann/usage", null},
            {"GET", "of-ann/check", null},
            {"GET", "of-ann/memories", null},
            {"POST", "of-ann/memories", null},
            {"PUT", "of-ann/memories/x", text},
            {"PUT", "of-ann/memories/x/pinned", "{\"pinned\": true}"},
            {"DELETE", "of-ann/memories/x", null},
        };
        for (String[] request : requests) {
            assertThat(as("bob", request[0], request[1], request[2]).statusCode())
                    .as(String.join(" ", request[0], request[1]))
                    .isEqualTo(404);
        }
        assertThat(as("bob", "GET", "", null).body()).doesNotContain("of-ann");
        assertThat(as("ann", "GET", "", null).body()).contains("of-ann");
        assertThat(as("ann", "GET", "of-ann/messages", null).body()).contains("mine");
    }

    @Test
    void a_history_has_pages() throws Exception {
        ChatMemory memory = application.getBean(Keepsake.class).chatMemory("long");
        for (int i = 0; i < 26; i++) {
            memory.add(UserMessage.from("question " + i), AiMessage.from("answer " + i));
        }
        JsonNode page = get("long/messages");
        assertThat(texts(page.get("messages"))).hasSize(50).startsWith("question 1");
        JsonNode older = get("long/messages?before=" + page.get("before").asLong());
        assertThat(texts(older.get("messages"))).containsExactly("question 0", "answer 0");
        assertThat(older.get("before").isNull()).isTrue();
    }

    @Test
    void an_answer_is_made_again_a_question_is_edited_and_the_user_goes_back() throws Exception {
        String answer = doneId(stream("POST", "again/messages", "My name is Alice."));
        assertThat(text(stream("POST", "again/messages/" + answer + "/regenerate", null)))
                .isEqualTo("Once more: Noted. Your name is Alice.");
        String question = get("again/messages").at("/messages/0/id").asString();
        assertThat(text(stream("PUT", "again/messages/" + question, "My name is Bob.")))
                .isEqualTo("Noted. Your name is Bob.");

        JsonNode branches = get("again/branches");
        assertThat(branches).hasSize(3);
        assertThat(branches.findValuesAsString("first")).contains("My name is Bob.");
        send("PUT", "again/branches/" + answer, null);
        assertThat(text(stream("POST", "again/messages", "Who am I?")))
                .isEqualTo("Your name is Alice. You said so in this chat.");
    }

    @Test
    void a_question_whose_answer_failed_is_tried_again() throws Exception {
        List<Event> events = stream("POST", "failed/messages", "Please fail");
        assertThat(events).last().extracting(Event::name).isEqualTo("failed");
        JsonNode messages = get("failed/messages").get("messages");
        assertThat(messages.findValuesAsString("outcome")).containsExactly("FAILED");

        events = stream("POST", "failed/messages/" + messages.at("/0/id").asString() + "/retry", null);
        assertThat(events).last().extracting(Event::name).isEqualTo("failed");
        assertThat(get("failed/messages").get("messages")).hasSize(1);
        assertThat(text(stream("POST", "failed/messages", "I go on."))).isEqualTo("Noted. You go on.");
    }

    @Test
    void an_answer_is_stopped_in_the_middle_and_what_came_is_kept() throws Exception {
        HttpResponse<Stream<String>> response =
                CLIENT.send(request("POST", "stopped/messages", "Say something long."), BodyHandlers.ofLines());
        Iterator<Event> events = events(response.body().iterator());
        assertThat(events.next().data().get("text").asString()).isEqualTo("This ");

        assertThat(send("POST", "stopped/stop", null).body()).isEqualTo("1");
        List<Event> rest = toList(events);
        assertThat(rest).last().extracting(Event::name).isEqualTo("stopped");
        assertThat(rest).hasSizeLessThan(100);
        JsonNode answer = get("stopped/messages").at("/messages/1");
        assertThat(answer.get("outcome").asString()).isEqualTo("INCOMPLETE");
        assertThat(answer.get("text").asString()).startsWith("This ");
        assertThat(send("POST", "stopped/stop", null).body()).isEqualTo("0");
    }

    @Test
    void an_answer_ends_when_the_browser_has_gone() throws Exception {
        HttpResponse<Stream<String>> response =
                CLIENT.send(request("POST", "gone/messages", "Say something long."), BodyHandlers.ofLines());
        response.body().close();
        await().until(() -> "INCOMPLETE"
                .equals(get("gone/messages").at("/messages/1/outcome").asString("")));
    }

    @Test
    void a_wrong_request_is_the_callers_error() throws Exception {
        stream("POST", "wrong/messages", "Hello");
        HttpResponse<String> response = send("PUT", "wrong/branches/none", null);
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(JSON.readTree(response.body()).get("detail").asString()).contains("none");
    }

    @Test
    void an_error_is_a_problem_without_a_trace() throws Exception {
        stream("POST", "problems/messages", "Hello");
        Map<String, Integer> wrong = Map.ofEntries(
                Map.entry("unknown/page", 404),
                Map.entry("unknown/state", 404),
                Map.entry("problems/nothing", 404),
                Map.entry("problems/messages?before=x", 400),
                Map.entry("problems/messages/none/seen", 400),
                Map.entry("problems/page?upTo=none", 400),
                Map.entry("problems/request?strategy=other", 400),
                Map.entry("problems/request?strategy=messages&size=0", 400),
                Map.entry("problems/request?strategy=messages&size=99999999999", 400),
                Map.entry("problems/recall", 400),
                Map.entry("problems/memories", 400));
        for (Map.Entry<String, Integer> each : wrong.entrySet()) {
            HttpResponse<String> response = send("GET", each.getKey(), null);
            assertThat(response.statusCode())
                    .as(each.getKey() + response.body())
                    .isEqualTo(each.getValue());
            assertThat(response.headers().firstValue("Content-Type"))
                    .as(each.getKey())
                    .hasValue("application/problem+json");
            assertThat(response.body()).as(each.getKey()).doesNotContain("\tat ", "trace", "java.");
        }
        // The server refuses this before the application sees it.
        HttpResponse<String> nul = send("GET", "problems/messages/%00/seen", null);
        assertThat(nul.statusCode()).isEqualTo(400);
        assertThat(nul.body()).doesNotContain("java.");
        HttpResponse<String> notJson = CLIENT.send(
                HttpRequest.newBuilder(
                                request("POST", "problems/messages", null).uri())
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString("{"))
                        .build(),
                BodyHandlers.ofString());
        assertThat(notJson.statusCode()).isEqualTo(400);
        assertThat(notJson.headers().firstValue("Content-Type")).hasValue("application/problem+json");
    }

    @Test
    void the_page_may_load_only_what_is_its_own() throws Exception {
        HttpResponse<String> page = CLIENT.send(
                HttpRequest.newBuilder(request("GET", "", null).uri().resolve("/"))
                        .build(),
                BodyHandlers.ofString());
        assertThat(page.statusCode()).isEqualTo(200);
        String policy = page.headers().firstValue("Content-Security-Policy").orElseThrow();
        assertThat(policy).startsWith("default-src 'none'").doesNotContain("unsafe", "*", "http:", "https:");
        assertThat(page.body()).doesNotContain("http:", "https:", "style=", "onclick", "onload");
        int lines = 0;
        int bytes = 0;
        try (Stream<Path> files = Files.list(Path.of("src/main/resources/static"))) {
            for (Path file : files.toList()) {
                List<String> text = Files.readAllLines(file);
                assertThat(text).as(file.toString()).allMatch(line -> line.length() <= 120);
                assertThat(String.join("\n", text))
                        .doesNotContain("innerHTML", "insertAdjacentHTML", "outerHTML", "eval(");
                lines += text.size();
                bytes += (int) Files.size(file);
            }
        }
        assertThat(lines).isBetween(500, 2_000);
        assertThat(bytes).isBetween(20_000, 80_000);
    }

    @Test
    void the_page_has_words_for_every_reason_why_a_message_is_not_shown() throws Exception {
        String script = Files.readString(Path.of("src/main/resources/static/chat.js"));
        assertThat(Omission.Reason.values()).allMatch(reason -> script.contains("\n  " + reason + ": '"));
    }

    @Test
    void a_fork_belongs_to_the_user_who_made_it_and_does_not_tell_which_ids_exist() throws Exception {
        assertThat(as("ann", "POST", "to-fork/messages", "{\"text\": \"mine\"}").statusCode())
                .isEqualTo(200);
        String id = JSON.readTree(as("ann", "GET", "to-fork/page", null).body())
                .at("/messages/1/said/id")
                .asString();
        String path = "to-fork/messages/" + id + "/fork";
        as("bob", "POST", "of-bob-alone/messages", "{\"text\": \"secret\"}");
        for (String name : List.of("{\"id\": \"of-bob-alone\"}", "{\"id\": \"of-nobody\"}", "{}")) {
            HttpResponse<String> fork = as("ann", "POST", path, name);
            assertThat(fork.statusCode()).as(name).isEqualTo(200);
            String forked = JSON.readTree(fork.body()).get("id").asString();
            assertThat(as("ann", "GET", forked + "/page", null).body())
                    .contains("mine")
                    .doesNotContain("secret");
            assertThat(as("bob", "GET", forked + "/page", null).statusCode()).isEqualTo(404);
        }
    }

    @Test
    void of_two_first_questions_at_once_one_begins_the_conversation_and_the_other_user_does_not_see_it()
            throws Exception {
        ExecutorService users = Executors.newFixedThreadPool(2);
        for (int pair = 0; pair < 25; pair++) {
            String id = "begun-by-two-" + pair;
            CyclicBarrier start = new CyclicBarrier(2);
            Map<String, Future<Integer>> answers = new TreeMap<>();
            for (String user : List.of("ann", "bob")) {
                answers.put(user, users.submit(() -> {
                    start.await();
                    return as(user, "POST", id + "/messages", "{\"text\": \"secret of " + user + "\"}")
                            .statusCode();
                }));
            }
            boolean isOfAnn = answers.get("ann").get() == 200;
            assertThat(answers.get("ann").get()).isEqualTo(isOfAnn ? 200 : 404);
            assertThat(answers.get("bob").get()).isEqualTo(isOfAnn ? 404 : 200);
            String owner = isOfAnn ? "ann" : "bob";
            String other = isOfAnn ? "bob" : "ann";
            assertThat(as(owner, "GET", id + "/messages", null).body())
                    .contains("secret of " + owner)
                    .doesNotContain("secret of " + other);
            assertThat(as(other, "GET", id + "/messages", null).statusCode()).isEqualTo(404);
        }
        users.shutdown();
    }

    @Test
    void a_list_has_full_pages_of_the_users_own_conversations_and_its_cursor_tells_nothing_of_others()
            throws Exception {
        for (int i = 0; i < 22; i++) {
            as("cleo", "POST", "of-cleo-" + i + "/messages", "{\"text\": \"mine\"}");
            as("dan", "POST", "of-dan-" + i + "/messages", "{\"text\": \"mine\"}");
        }
        JsonNode first = JSON.readTree(as("cleo", "GET", "", null).body());
        assertThat(first.get("conversations")).hasSize(20);
        String cursor = first.get("next").asString();
        String last = first.at("/conversations/19/id").asString() + "/messages";
        String asked = JSON.readTree(as("cleo", "GET", last, null).body())
                .at("/messages/0/at")
                .asString();
        assertThat(cursor).as("the time of the user's own question").startsWith(asked + "/");
        String query = "?cursor=" + URLEncoder.encode(cursor, StandardCharsets.UTF_8);
        JsonNode second = JSON.readTree(as("cleo", "GET", query, null).body());
        assertThat(second.get("conversations").findValuesAsString("id")).containsExactly("of-cleo-1", "of-cleo-0");
        assertThat(second.get("next").isNull()).isTrue();
        assertThat(JSON.readTree(as("eve", "GET", "", null).body()).get("conversations"))
                .isEmpty();
        assertThat(as("eve", "GET", "", null).body()).contains("\"next\":null");
    }

    @Test
    void a_question_without_text_is_the_callers_error_and_nothing_is_kept() throws Exception {
        for (String text : List.of("", "  ")) {
            assertThat(send("POST", "blank/messages", Map.of("text", text)).statusCode())
                    .isEqualTo(400);
        }
        HttpRequest nothing = HttpRequest.newBuilder(
                        request("POST", "blank/messages", null).uri())
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{}"))
                .build();
        assertThat(CLIENT.send(nothing, BodyHandlers.ofString()).statusCode()).isEqualTo(400);
        assertThat(send("GET", "blank/messages", null).statusCode()).isEqualTo(404);
    }

    @Test
    void pages_of_other_sites_may_neither_read_nor_write() throws Exception {
        int port = request("GET", "", null).uri().getPort();
        for (String origin : List.of(
                "http://evil.example",
                "null",
                "https://localhost:" + port,
                "http://localhost:1",
                "not an origin",
                "http:",
                "http:///",
                "http:x",
                "//",
                "http://[",
                "http://localhost:" + port + ":1",
                "http://local_host")) {
            assertThat(statusFrom("Origin: " + origin, "GET", port)).as(origin).isEqualTo(403);
            assertThat(statusFrom("Origin: " + origin, "DELETE", port))
                    .as(origin)
                    .isEqualTo(403);
        }
        assertThat(statusFrom("Origin: http://localhost:" + port, "GET", port)).isEqualTo(200);
        // There is no such conversation.
        assertThat(statusFrom("Origin: http://127.0.0.1:" + port, "DELETE", port))
                .isEqualTo(404);
        assertThat(statusOf("GET", "evil.example:" + port, "Accept: */*", port)).isEqualTo(403);
        assertThat(application.getEnvironment().getProperty("server.address")).isEqualTo("127.0.0.1");
    }

    private static int statusFrom(String header, String method, int port) throws IOException {
        return statusOf(method, "localhost:" + port, header, port);
    }

    /** Asks by hand, because Java's client sets these headers itself. */
    private static int statusOf(String method, String host, String header, int port) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            String path = method.equals("GET") ? "/conversations" : "/conversations/none";
            socket.getOutputStream()
                    .write((method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + header
                                    + "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return Integer.parseInt(answer.split(" ")[1]);
        }
    }

    /** A server-sent event. */
    private record Event(String name, JsonNode data) {}

    private List<Event> stream(String method, String path, String question) throws Exception {
        return toList(events(CLIENT.send(request(method, path, question), BodyHandlers.ofLines())
                .body()
                .iterator()));
    }

    /** Reads events while they arrive. */
    private static Iterator<Event> events(Iterator<String> lines) {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return lines.hasNext();
            }

            @Override
            public Event next() {
                String name = lines.next().substring("event:".length());
                JsonNode data = JSON.readTree(lines.next().substring("data:".length()));
                assertThat(lines.next()).isEmpty();
                return new Event(name, data);
            }
        };
    }

    private static <T> List<T> toList(Iterator<T> items) {
        Iterable<T> iterable = () -> items;
        return StreamSupport.stream(iterable.spliterator(), false).toList();
    }

    private static String text(List<Event> events) {
        assertThat(events).last().extracting(Event::name).isEqualTo("done");
        StringBuilder text = new StringBuilder();
        events.subList(0, events.size() - 1)
                .forEach(event -> text.append(event.data().get("text").asString()));
        return text.toString();
    }

    private static String doneId(List<Event> events) {
        return events.get(events.size() - 1).data().get("id").asString();
    }

    private static List<String> texts(JsonNode messages) {
        return messages.findValuesAsString("text");
    }

    private JsonNode get(String path) throws Exception {
        HttpResponse<String> response = send("GET", path, null);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JSON.readTree(response.body());
    }

    private HttpResponse<String> send(String method, String path, Map<String, String> body)
            throws IOException, InterruptedException {
        return CLIENT.send(request(method, path, body == null ? null : body.get("text")), BodyHandlers.ofString());
    }

    private HttpRequest request(String method, String path, String text) {
        String port = application.getEnvironment().getProperty("local.server.port");
        String base =
                "http://localhost:" + port + "/conversations" + (path.isEmpty() || path.startsWith("?") ? "" : "/");
        return HttpRequest.newBuilder(URI.create(base + path))
                .method(
                        method,
                        text == null
                                ? BodyPublishers.noBody()
                                : BodyPublishers.ofString(JSON.writeValueAsString(Map.of("text", text))))
                .header("Content-Type", "application/json")
                .build();
    }
}

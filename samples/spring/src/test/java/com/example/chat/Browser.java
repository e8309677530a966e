package com.example.chat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A Chromium without a window, driven over the DevTools protocol. */
final class Browser implements AutoCloseable {

    private static final JsonMapper JSON = new JsonMapper();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Process process;
    private final String address;

    private Browser(Process process, String address) {
        this.process = process;
        this.address = address;
    }

    /** Returns the program, from Debian's packages chromium-headless-shell or chromium. */
    static Optional<Path> program() {
        return Stream.of("chromium-headless-shell", "chromium")
                .map(name -> Path.of("/usr/bin", name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    static Browser start(Path directory) throws IOException {
        // As root, Chromium has no sandbox. It loads only the page of this test.
        Process process = new ProcessBuilder(
                        program().orElseThrow().toString(),
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--no-first-run",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--disable-sync",
                        "--disable-dev-shm-usage",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + directory,
                        "about:blank")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        BufferedReader errors =
                new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
        String line = errors.readLine();
        while (line != null && !line.contains("DevTools listening on ")) {
            line = errors.readLine();
        }
        if (line == null) {
            throw new IOException("The browser did not start");
        }
        Thread reader = new Thread(() -> errors.lines().forEach(ignored -> {}));
        reader.setDaemon(true);
        reader.start();
        String address = URI.create(line.substring(line.indexOf("ws://"))).getAuthority();
        return new Browser(process, address);
    }

    /** Opens another tab. */
    Tab open(String url) throws Exception {
        HttpRequest create = HttpRequest.newBuilder(URI.create("http://" + address + "/json/new?about:blank"))
                .PUT(HttpRequest.BodyPublishers.noBody())
                .build();
        JsonNode target =
                JSON.readTree(CLIENT.send(create, BodyHandlers.ofString()).body());
        Tab tab = new Tab(target.get("webSocketDebuggerUrl").asString());
        for (String domain : List.of("Page", "Runtime", "Network", "Log")) {
            tab.send(domain + ".enable", Map.of());
        }
        tab.size(1280, 900, false);
        tab.go(url);
        return tab;
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        process.onExit().join();
    }

    /** A tab. Its methods wait for the browser's answer. */
    static final class Tab implements AutoCloseable {

        private final WebSocket socket;
        private final AtomicInteger next = new AtomicInteger();
        private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();

        /** The errors of scripts and of the policy, and dialogs, which an injected script would open. */
        final List<String> errors = new CopyOnWriteArrayList<>();

        /** The addresses that were asked for. */
        final List<String> requests = new CopyOnWriteArrayList<>();

        private Tab(String url) {
            socket = CLIENT.newWebSocketBuilder()
                    .buildAsync(URI.create(url), new Listener())
                    .join();
        }

        private final class Listener implements WebSocket.Listener {
            private final StringBuilder message = new StringBuilder();

            @Override
            public CompletionStage<?> onText(WebSocket webSocket, CharSequence data, boolean last) {
                message.append(data);
                if (last) {
                    received(JSON.readTree(message.toString()));
                    message.setLength(0);
                }
                webSocket.request(1);
                return null;
            }
        }

        private void received(JsonNode message) {
            if (message.has("id")) {
                answers.remove(message.get("id").asInt()).complete(message);
                return;
            }
            switch (message.get("method").asString()) {
                case "Runtime.exceptionThrown", "Page.javascriptDialogOpening" -> errors.add(message.toString());
                case "Log.entryAdded" -> {
                    // A server that is away is no error of the page.
                    if ("error".equals(message.at("/params/entry/level").asString())
                            && !"network"
                                    .equals(message.at("/params/entry/source").asString())) {
                        errors.add(message.toString());
                    }
                }
                case "Network.requestWillBeSent" ->
                    requests.add(message.at("/params/request/method").asString() + " "
                            + message.at("/params/request/url").asString());
                default -> {}
            }
        }

        JsonNode send(String method, Map<String, ?> parameters) {
            int id = next.incrementAndGet();
            CompletableFuture<JsonNode> answer = new CompletableFuture<>();
            answers.put(id, answer);
            String text = JSON.writeValueAsString(Map.of("id", id, "method", method, "params", parameters));
            synchronized (socket) {
                socket.sendText(text, true).join();
            }
            JsonNode message =
                    answer.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
            if (message.has("error")) {
                throw new IllegalStateException(method + ": " + message.get("error"));
            }
            return message.get("result");
        }

        void go(String url) {
            send("Page.navigate", Map.of("url", url));
        }

        /** Runs a script and returns its value. A promise is awaited. */
        JsonNode run(String script) {
            JsonNode result =
                    send("Runtime.evaluate", Map.of("expression", script, "awaitPromise", true, "returnByValue", true));
            if (result.has("exceptionDetails")) {
                throw new IllegalStateException(script + ": " + result.get("exceptionDetails"));
            }
            return result.at("/result/value");
        }

        String text(String script) {
            return run(script).asString();
        }

        /** Waits until a script returns true. */
        void await(String script) {
            long end = System.nanoTime() + PATIENCE.toNanos();
            while (!isTrue(script)) {
                if (System.nanoTime() > end) {
                    throw new AssertionError(
                            script + " is not true of the page:\n" + text("document.body.innerText") + "\n" + errors);
                }
                pause(20);
            }
        }

        private boolean isTrue(String script) {
            try {
                return run("Boolean(" + script + ")").asBoolean(false);
            } catch (IllegalStateException e) {
                // The page is being loaded.
                return false;
            }
        }

        static void pause(long millis) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Writes into the element that has the focus, as a keyboard does. */
        void write(String text) {
            send("Input.insertText", Map.of("text", text));
        }

        /** Presses a key, such as Tab or ArrowLeft. */
        void key(String key) {
            Map<String, Integer> codes = Map.of(
                    "Enter",
                    13,
                    "Tab",
                    9,
                    "Escape",
                    27,
                    "ArrowLeft",
                    37,
                    "ArrowUp",
                    38,
                    "ArrowRight",
                    39,
                    "ArrowDown",
                    40,
                    " ",
                    32);
            String text = key.equals("Enter") ? "\r" : key.equals(" ") ? " " : "";
            send(
                    "Input.dispatchKeyEvent",
                    Map.of(
                            "type",
                            text.isEmpty() ? "rawKeyDown" : "keyDown",
                            "key",
                            key,
                            "code",
                            key.equals(" ") ? "Space" : key,
                            "text",
                            text,
                            "windowsVirtualKeyCode",
                            codes.get(key)));
            send(
                    "Input.dispatchKeyEvent",
                    Map.of("type", "keyUp", "key", key, "windowsVirtualKeyCode", codes.get(key)));
        }

        void size(int width, int height, boolean phone) {
            send(
                    "Emulation.setDeviceMetricsOverride",
                    Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", phone));
        }

        /** Makes the network slow, or cuts it. */
        void network(boolean offline, int millis) {
            send(
                    "Network.emulateNetworkConditions",
                    Map.of("offline", offline, "latency", millis, "downloadThroughput", -1, "uploadThroughput", -1));
        }

        void dark(boolean dark) {
            send(
                    "Emulation.setEmulatedMedia",
                    Map.of(
                            "features",
                            List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
        }

        byte[] picture() {
            return Base64.getDecoder()
                    .decode(send("Page.captureScreenshot", Map.of("format", "png"))
                            .get("data")
                            .asString());
        }

        /** Returns the roles and names that a screen reader gets. */
        List<String> accessible() {
            List<String> names = new ArrayList<>();
            send("Accessibility.enable", Map.of());
            for (JsonNode node : send("Accessibility.getFullAXTree", Map.of()).get("nodes")) {
                if (!node.get("ignored").asBoolean()) {
                    names.add(node.at("/role/value").asString("") + ": "
                            + node.at("/name/value").asString(""));
                }
            }
            return names;
        }

        @Override
        public void close() {
            send("Page.close", Map.of());
        }
    }
}

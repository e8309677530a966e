package com.example.chat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The two ways in which the application runs. */
enum Mode {
    COMMAND {
        @Override
        Session start(Path directory, String packaged) throws IOException {
            Started process = Started.in(directory, packaged, List.of("quarkus.http.host-enabled=false"), "alice");
            return new Session(process) {
                @Override
                String ask(String method, String path, String text) throws IOException, InterruptedException {
                    process.type(
                            switch (method + path) {
                                case "GET" -> "/history";
                                case "DELETE" -> "/forget";
                                case "POST/stream" -> "/stream " + text;
                                default -> text;
                            });
                    return process.line();
                }

                @Override
                void stop() throws IOException {
                    process.endInput();
                }
            };
        }
    },

    HTTP {
        @Override
        Session start(Path directory, String packaged) throws IOException, InterruptedException {
            Started process = Started.in(
                    directory,
                    packaged,
                    List.of("quarkus.http.port=0", "quarkus.log.category.\"io.quarkus\".level=INFO"));
            URI server = server(process);
            return new Session(process) {
                @Override
                String ask(String method, String path, String text) throws IOException, InterruptedException {
                    return send(method, "alice" + path, text);
                }

                @Override
                void stop() throws IOException, InterruptedException {
                    send("DELETE", "", "");
                }

                private String send(String method, String path, String text) throws IOException, InterruptedException {
                    HttpRequest request = HttpRequest.newBuilder(server.resolve(path))
                            .method(method, BodyPublishers.ofString(text))
                            .build();
                    return CLIENT.send(request, BodyHandlers.ofString()).body();
                }
            };
        }
    };

    /** A server that ends may end a connection of HTTP/2 before its last answer is read. */
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static final Pattern LISTENING = Pattern.compile("Listening on: (http://127\\.0\\.0\\.1:\\d+)");

    abstract Session start(Path directory, String packaged) throws IOException, InterruptedException;

    private static URI server(Started process) throws InterruptedException {
        Matcher listening = LISTENING.matcher(process.line());
        while (!listening.find()) {
            listening.reset(process.line());
        }
        return URI.create(listening.group(1) + "/");
    }

    /** A conversation with one process. */
    abstract static class Session implements AutoCloseable {

        final Started process;

        Session(Started process) {
            this.process = process;
        }

        abstract String ask(String method, String path, String text) throws IOException, InterruptedException;

        /** Ends the application as its user does. */
        abstract void stop() throws IOException, InterruptedException;

        String say(String text) throws IOException, InterruptedException {
            return ask("POST", "", text);
        }

        String stream(String text) throws IOException, InterruptedException {
            return ask("POST", "/stream", text);
        }

        void forget() throws IOException, InterruptedException {
            ask("DELETE", "", "");
        }

        String history() throws IOException, InterruptedException {
            return ask("GET", "", "");
        }

        @Override
        public void close() throws InterruptedException {
            process.close();
        }
    }
}

package com.example.chat;

import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import jakarta.inject.Inject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * With a conversation as its argument, answers each line of the standard input. Without one, serves HTTP until it is stopped.
 */
@QuarkusMain
public class ChatCommand implements QuarkusApplication {

    @Inject
    Chat chat;

    @Override
    public int run(String... arguments) throws IOException {
        if (arguments.length == 0) {
            Quarkus.waitForExit();
            return 0;
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(answer(arguments[0], line));
        }
        return 0;
    }

    private String answer(String conversation, String line) {
        if (line.equals("/history")) {
            return chat.history(conversation);
        } else if (line.equals("/forget")) {
            chat.forget(conversation);
            return "Forgotten.";
        } else if (line.startsWith("/stream ")) {
            String text = line.substring("/stream ".length());
            return String.join(
                    "",
                    chat.stream(conversation, text).collect().asList().await().indefinitely());
        }
        return chat.say(conversation, line);
    }
}

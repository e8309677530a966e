package io.github.keepsake4j.samples;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.SystemMessage;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.HistoryQuery;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.jdbc.SqliteMessageLog;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.List;

/**
 * A chat that remembers across runs, in one SQLite file. Without a key, a scripted model answers from what the memory
 * shows it. With {@code OPENAI_API_KEY} (and {@code OPENAI_BASE_URL} for another endpoint), a real model answers. The
 * user says the lines of the standard input. If there are none, the sample plays a script.
 */
public final class Quickstart {

    private static final String USER = "alice";
    private static final int WINDOW = 7;

    interface Assistant {
        @SystemMessage("You are a friendly assistant. Answer in one sentence.")
        @UserMessage("{{text}}")
        String chat(@MemoryId String user, @V("text") String text);
    }

    private Quickstart() {}

    /**
     * Runs the chat.
     *
     * @param arguments the database file; {@code quickstart.db} in the working directory if none is given
     * @throws IOException if the standard input cannot be read
     */
    public static void main(String[] arguments) throws IOException {
        Path file = Path.of(arguments.length > 0 ? arguments[0] : "quickstart.db");
        // A terminal without typed lines has nothing either: the chat waits for nobody.
        List<String> lines = System.in.available() > 0
                ? new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()))
                        .lines()
                        .toList()
                : List.of();
        run(file, lines, System.out);
    }

    static void run(Path file, List<String> lines, PrintStream out) {
        try (MessageLog log = SqliteMessageLog.open(file)) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .strategy(SlidingWindow.withMaxMessages(WINDOW))
                    .build();
            Assistant assistant = AiServices.builder(Assistant.class)
                    .chatModel(model())
                    .chatMemoryProvider(keepsake.chatMemoryProvider())
                    .build();
            Conversation conversation = keepsake.conversation(USER);

            boolean known = !conversation.messages().isEmpty();
            out.printf(known ? "Welcome back. The memory is in %s.%n" : "A new memory in %s.%n", file.toAbsolutePath());
            for (String text : lines.isEmpty() ? script(known) : lines) {
                out.println("you>   " + text);
                out.println("model> " + assistant.chat(USER, text));
            }
            Transcript.print(conversation.context(), conversation.history(HistoryQuery.newest(20)), out);
            out.println("Run it again: it remembers. " + file + " holds the memory.");
        }
    }

    private static List<String> script(boolean known) {
        return known
                ? List.of("What do you know about me?", "It is raining.")
                : List.of("My name is Ada.", "I keep bees.", "What do you know about me?");
    }

    /** Returns a real model if there is a key, and a scripted one otherwise. */
    static ChatModel model() {
        String key = System.getenv("OPENAI_API_KEY");
        if (key == null) {
            return new ScriptedModel();
        }
        String url = System.getenv("OPENAI_BASE_URL");
        String name = System.getenv("OPENAI_MODEL");
        return OpenAiChatModel.builder()
                .apiKey(key)
                .baseUrl(url == null ? "https://api.openai.com/v1" : url)
                .modelName(name == null ? "gpt-4o-mini" : name)
                .build();
    }
}

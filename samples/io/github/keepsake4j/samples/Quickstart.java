package io.github.keepsake4j.samples;

import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.SystemMessage;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.samples.scripted.ScriptedModel;
import io.github.keepsake4j.summary.Summarizer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A chat that remembers across runs, in one SQLite file. A summary takes the place of its old turns. Without a key, a
 * scripted model answers from what the memory shows it. With {@code OPENAI_API_KEY} (and {@code OPENAI_BASE_URL} for
 * another endpoint), a real model answers. In a
 * terminal, the user types. Lines that are piped into the sample are read. Without both, the sample plays a script about
 * Ada, in a memory of its own.
 */
public final class Quickstart {

    private static final int JDK_WITH_CONSOLE = 22;

    private static final String YOU = "you";
    private static final String ADA = "ada";
    private static final int SUMMARIZED_AT = 20;
    private static final int NOT_SUMMARIZED = 10;
    private static final String PROMPT = "you>   ";
    private static final Predicate<String> ENDS =
            Pattern.compile("(?i)\\s*(?:exit|quit|bye)[.!]?\\s*").asMatchPredicate();

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
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        boolean isWritten = System.in.available() > 0;
        // From JDK 22 on, there is a console without a terminal, too.
        if (System.console() != null && (!isWritten || Runtime.version().feature() < JDK_WITH_CONSOLE)) {
            System.out.println("Type, and end with “exit” or an empty line.");
            run(file, typed(in, System.out), System.out);
        } else if (isWritten) {
            run(file, echoed(in.lines().filter(line -> !line.isBlank()), System.out), System.out);
        } else {
            // Nothing can be typed, such as in a build.
            run(file, null, System.out);
        }
    }

    /** Lets a user say lines, or plays the script if there are none. */
    static void run(Path file, @Nullable Stream<String> lines, PrintStream out) {
        String user = lines == null ? ADA : YOU;
        try (MessageLog log = MessageLogs.sqlite(file)) {
            ChatModel model = model();
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .strategy(Summarization.triggerMessages(SUMMARIZED_AT).keepMessages(NOT_SUMMARIZED))
                    .summarizer(model instanceof ScriptedModel ? ScriptedModel::notes : Summarizer.of(model))
                    .build();
            Assistant assistant = AiServices.builder(Assistant.class)
                    .chatModel(model)
                    .chatMemoryProvider(keepsake.chatMemoryProvider())
                    .build();
            Conversation conversation = keepsake.conversation(user);

            boolean known = !conversation.messages().isEmpty();
            if (model instanceof ScriptedModel) {
                out.println(ScriptedModel.ABOUT);
                out.println("With OPENAI_API_KEY, a real model answers.");
            }
            out.printf(
                    known ? "Welcome back. The memory \"%s\" is in %s.%n" : "A new memory \"%s\" in %s.%n",
                    user,
                    file.toAbsolutePath());
            (lines == null ? echoed(script(known), out) : lines)
                    .forEach(text -> out.println("model> " + assistant.chat(user, text)));
            // A summary is made in the background. The table waits for it.
            conversation.summarizeNow();
            Transcript.print(conversation, out);
            out.println("Run it again: it remembers. " + file + " holds the memory.");
        }
    }

    private static Stream<String> script(boolean known) {
        return known
                ? Stream.of("What do you know about me?", "It is raining.")
                : Stream.of("My name is Ada.", "I keep bees.", "What do you know about me?");
    }

    /** Prints each line before it is said, as if it had been typed. A word that ends a chat ends them. */
    static Stream<String> echoed(Stream<String> lines, PrintStream out) {
        return lines.takeWhile(text -> !ENDS.test(text)).peek(text -> out.println(PROMPT + text));
    }

    /** Reads what is typed, up to an empty line, the end, or a word that ends a chat. */
    static Stream<String> typed(BufferedReader in, PrintStream out) {
        return Stream.generate(() -> {
                    out.print(PROMPT);
                    out.flush();
                    return in.lines().findFirst().orElse("");
                })
                .takeWhile(text -> !text.isBlank() && !ENDS.test(text));
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

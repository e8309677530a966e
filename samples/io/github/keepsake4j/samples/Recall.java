package io.github.keepsake4j.samples;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.context.SlidingWindow;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.message.ConversationKey;
import io.github.keepsake4j.recall.MessageIndex;
import io.github.keepsake4j.recall.RecallOptions;
import io.github.keepsake4j.recall.Recalled;
import io.github.keepsake4j.recall.Scope;
import io.github.keepsake4j.recall.inmemory.InMemoryMessageIndex;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;

/**
 * A chat of six months that is asked about something that was said at its beginning. A window has long forgotten it, and
 * recall finds it. Without a key, a scripted model answers from what it is shown. With {@code OPENAI_API_KEY}, a real model
 * answers.
 */
public final class Recall {

    private static final ConversationKey ADA = ConversationKey.of("default", "ada");
    private static final Instant BEGINNING = Instant.parse("2026-01-05T08:00:00Z");
    private static final int DAYS = 180;
    private static final String QUESTION = "What is my name, and what do I keep?";

    interface Assistant {
        @UserMessage("{{text}}")
        String chat(@MemoryId ConversationKey user, @V("text") String text);
    }

    private Recall() {}

    /**
     * Runs the chat.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        run(System.out);
    }

    static void run(PrintStream out) {
        try (MessageLog log = MessageLogs.inMemory();
                MessageIndex index = new InMemoryMessageIndex()) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .index(index)
                    .strategy(SlidingWindow.withMaxMessages(10))
                    .build();
            int said = talk(keepsake.conversation(ADA));
            out.printf("%d messages since %s. The window shows the newest 10.%n", said, day(BEGINNING));

            Recalled recalled = keepsake.recall().find(Scope.memory(ADA), QUESTION);
            out.println("Recalled for: " + QUESTION);
            recalled.passages().stream()
                    .limit(3)
                    .forEach(passage -> out.printf(
                            "  %s  %s%n",
                            day(passage.sessionTime()), text(passage.message().message())));

            out.println("A window alone:  " + assistant(keepsake, false).chat(ADA, QUESTION));
            out.println("With recall:     " + assistant(keepsake, true).chat(ADA, QUESTION));
        }
    }

    private static Assistant assistant(Keepsake keepsake, boolean recalls) {
        AiServices<Assistant> builder = keepsake.aiServices(Assistant.class).chatModel(Quickstart.model());
        return (recalls ? builder.contentRetriever(keepsake.recall().retriever(RecallOptions.standard())) : builder)
                .build();
    }

    /** Fills the conversation as if it had been going on for months. Returns the number of messages. */
    private static int talk(Conversation conversation) {
        String parent = say(conversation, null, 0, "My name is Ada. I keep bees.", "Nice to meet you.");
        for (int day = 1; day < DAYS; day++) {
            parent = say(
                    conversation,
                    parent,
                    day,
                    "The hive on the left weighs %d kilograms, the one on the right %d."
                            .formatted(28 + day % 9, 31 + day % 7),
                    "Written down.");
        }
        return 2 * DAYS;
    }

    private static String say(Conversation conversation, String parent, int day, String question, String answer) {
        Instant at = BEGINNING.plus(Duration.ofDays(day));
        conversation.importMessage("q" + day, parent, dev.langchain4j.data.message.UserMessage.from(question), at);
        conversation.importMessage("a" + day, "q" + day, AiMessage.from(answer), at.plusSeconds(5));
        return "a" + day;
    }

    private static String day(Instant time) {
        return time.atZone(ZoneOffset.UTC).toLocalDate().toString();
    }

    private static String text(ChatMessage message) {
        return message instanceof AiMessage ai
                ? ai.text()
                : ((dev.langchain4j.data.message.UserMessage) message).singleText();
    }
}

package io.github.keepsake4j.samples;

import dev.langchain4j.model.TokenCountEstimator;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.SystemMessage;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.service.V;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.MessageLogs;
import io.github.keepsake4j.chat.Conversation;
import io.github.keepsake4j.context.Context;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.context.TokenLimit;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.log.Summary;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.samples.scripted.ScriptedModel;
import io.github.keepsake4j.summary.Summarizer;
import io.github.keepsake4j.tokens.JtokkitTokenCountEstimator;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/**
 * A long chat whose old turns become a summary. It prints what the model sees before and after a summary, and how many
 * tokens that saves. Without a key, a script talks and summarizes. With
 * {@code OPENAI_API_KEY}, a real model does both.
 */
public final class LongChat {

    private static final String USER = "ada";
    private static final int TURNS = 60;
    private static final int TRIGGER = 800;
    private static final int KEEP = 200;
    private static final int LIMIT = 1200;

    interface Assistant {
        @SystemMessage("You are a friendly assistant. Answer in one sentence.")
        @UserMessage("{{text}}")
        String chat(@MemoryId String user, @V("text") String text);
    }

    private LongChat() {}

    /**
     * Runs the chat.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        run(System.out);
    }

    static void run(PrintStream out) {
        ChatModel model = Quickstart.model();
        TokenCountEstimator estimator = JtokkitTokenCountEstimator.forModel("gpt-4o-mini");
        try (MessageLog log = MessageLogs.inMemory()) {
            Keepsake keepsake = Keepsake.builder()
                    .messageLog(log)
                    .strategy(Summarization.triggerTokens(TRIGGER)
                            .keepTokens(KEEP)
                            .countedBy(estimator)
                            .and(TokenLimit.withMaxTokens(LIMIT, estimator)))
                    .summarizer(model instanceof ScriptedModel ? ScriptedModel::notes : Summarizer.of(model))
                    .build();
            Assistant assistant = AiServices.builder(Assistant.class)
                    .chatModel(model)
                    .chatMemoryProvider(keepsake.chatMemoryProvider())
                    .build();
            Conversation conversation = keepsake.conversation(USER);

            Context before = conversation.context();
            long whole = 0;
            long shown = 0;
            for (String text : lines()) {
                // Counts the tokens of the past that this turn sends, and those that it would send without a strategy.
                whole += tokens(branch(conversation));
                shown += tokens(conversation.context().shown());
                assistant.chat(USER, text);
                // No turn waits for a summary: it is made while a user reads and types. Here it is waited for instead.
                conversation.summarizeNow();
                Context now = conversation.context();
                if (before.summary() == null && now.summary() != null) {
                    printFirst(before, now, out);
                }
                before = now;
            }
            printEnd(conversation, whole, shown, out);
            String question = "What do you know about me?";
            out.println("you>   " + question);
            out.println("model> " + assistant.chat(USER, question));
        }
    }

    private static void printFirst(Context before, Context after, PrintStream out) {
        out.printf("Before the first summary the model saw %d tokens:%n", tokens(before.shown()));
        Transcript.printShown(before, out);
        out.printf("%nAfter it, %d tokens:%n", tokens(after.shown()));
        Transcript.printShown(after, out);
    }

    private static void printEnd(Conversation conversation, long whole, long shown, PrintStream out) {
        Context context = conversation.context();
        List<LoggedMessage> branch = branch(conversation);
        List<Summary> summaries = conversation.summaries();
        long written = summaries.stream().mapToLong(Summary::tokens).sum();
        out.printf("%nAfter %d turns it sees %d tokens:%n", TURNS, tokens(context.shown()));
        Transcript.printShown(context, out);
        out.printf("%nThe history keeps %d messages with %d tokens.%n", branch.size(), tokens(branch));
        out.println("Summaries, each in place of the one before:");
        for (Summary summary : summaries) {
            out.printf(
                    "  %3d messages with %5d tokens became %3d tokens%n",
                    summary.replacedMessages(), summary.replacedTokens(), summary.tokens());
        }
        // A summarizer reads each folded message once, and the previous summary.
        long summarizing =
                summaries.isEmpty() ? 0 : summaries.get(summaries.size() - 1).replacedTokens() + 2 * written;
        out.printf(
                "All %d requests together: %d tokens of the past with the whole history, %d with summaries, "
                        + "about %d to make them: %d saved.%n%n",
                TURNS, whole, shown, summarizing, whole - shown - summarizing);
    }

    private static List<String> lines() {
        List<String> lines =
                new ArrayList<>(List.of("My name is Ada.", "I keep bees.", "I have a small garden behind the house."));
        for (int day = lines.size() + 1; day <= TURNS; day++) {
            lines.add(
                    "Day %d: the hive on the left weighs %d kilograms, the one on the right %d, and the wind is from the %s."
                            .formatted(day, 28 + day / 3, 31 + day / 4, day % 2 == 0 ? "west" : "south"));
        }
        return lines;
    }

    private static List<LoggedMessage> branch(Conversation conversation) {
        return conversation.branch(Integer.MAX_VALUE).messages();
    }

    private static long tokens(List<LoggedMessage> messages) {
        return messages.stream().mapToLong(LoggedMessage::tokens).sum();
    }
}

package io.github.keepsake4j.soak;

import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.TokenStream;
import dev.langchain4j.service.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.soak.AskedTurn.Kind;
import io.github.keepsake4j.testing.Place;
import io.github.keepsake4j.testing.WordCounter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * A process of a soak, whose threads ask AI services until it is killed: plain, with tools, streamed, and with
 * summaries; in a conversation of the thread's own, and in ones that all processes share. Arguments: the {@link Place},
 * the process's name, the number of its start, and for each thread the id of the last turn that was acknowledged in its
 * own conversation, or "-".
 *
 * <p>A line is one of {@code asked CONVERSATION QUESTION.}, {@code acknowledged ID.}, {@code refused TEXT.}, {@code
 * failed TEXT.} and {@code alive.} A line without its full stop was cut by the kill.
 */
final class SoakProcess {

    /** Users think. Without it, a soak measures how fast a machine fills a disk. */
    private static final int LONGEST_PAUSE_MILLIS = 40;

    private static final List<String> SHARED = List.of("shared-0", "shared-1", "summarized-0", "summarized-1");

    private final Keepsake windows;
    private final Keepsake summaries;

    interface Assistant {
        String chat(@MemoryId String id, @UserMessage String text);
    }

    interface Streaming {
        TokenStream chat(@MemoryId String id, @UserMessage String text);
    }

    /** A tool that says which turn called it. */
    static final class Tools {
        @Tool
        String look(String id) {
            return "result " + id;
        }
    }

    /** A thread's services of conversations with a window, or of those with summaries. */
    private record Services(SoakModel model, Assistant assistant, Streaming streaming) {

        static Services of(Keepsake keepsake) {
            SoakModel model = new SoakModel(refusal -> tell("refused " + refusal));
            return new Services(
                    model,
                    keepsake.aiServices(Assistant.class)
                            .chatModel(model.chat())
                            .tools(new Tools())
                            .build(),
                    keepsake.aiServices(Streaming.class)
                            .streamingChatModel(model.streaming())
                            .tools(new Tools())
                            .build());
        }

        void ask(String conversation, AskedTurn turn) throws Exception {
            model.begin(turn);
            if (!turn.kind().isStreamed()) {
                assistant.chat(conversation, turn.question());
                return;
            }
            CompletableFuture<Void> over = new CompletableFuture<>();
            streaming
                    .chat(conversation, turn.question())
                    .onPartialResponse(token -> {})
                    .onCompleteResponse(response -> over.complete(null))
                    .onError(over::completeExceptionally)
                    .start();
            over.get(1, TimeUnit.MINUTES);
        }
    }

    public static void main(String[] arguments) throws Exception {
        MessageLog log = Place.of(arguments[0]).open();
        SoakProcess process = new SoakProcess(log);
        for (int thread = 0; thread < arguments.length - 3; thread++) {
            String name = arguments[1] + "." + thread;
            String start = arguments[2];
            String last = arguments[3 + thread];
            new Thread(() -> process.chat(name, start, last)).start();
        }
        while (true) {
            tell("alive");
            Thread.sleep(500);
        }
    }

    private SoakProcess(MessageLog log) {
        windows = keepsake(log, false);
        summaries = keepsake(log, true);
    }

    /** Returns the chats as they are set up for a conversation, by its name. */
    static Keepsake keepsake(MessageLog log, boolean summaries) {
        Keepsake.Builder builder = Keepsake.builder().messageLog(log).tokenCountEstimator(new WordCounter());
        return (summaries
                        ? builder.strategy(Summarization.triggerMessages(24).keepMessages(12))
                                .summarizer((previous, messages) -> "a summary of " + messages.size())
                        : builder.maxMessages(20))
                .build();
    }

    /**
     * Returns whether a conversation is one with summaries: of the shared ones half are, and of each second thread
     * its own.
     */
    static boolean hasSummaries(String conversation) {
        return conversation.startsWith("summarized-") || conversation.matches("own-.*[13579]");
    }

    private void chat(String thread, String start, String acknowledged) {
        Services plain = Services.of(windows);
        Services summarized = Services.of(summaries);
        String last = acknowledged;
        for (int number = 0; ; number++) {
            boolean own = number % 2 == 0;
            String conversation = own ? "own-" + thread : SHARED.get(random(SHARED.size()));
            Kind kind = Kind.values()[random(Kind.values().length)];
            AskedTurn turn = new AskedTurn(kind, thread + "." + start + "." + number, own ? last : "-");
            tell("asked " + conversation + " " + turn.question());
            try {
                (hasSummaries(conversation) ? summarized : plain).ask(conversation, turn);
                tell("acknowledged " + turn.id());
                last = own ? turn.id() : last;
            } catch (Exception e) {
                tell("failed " + turn.id() + " " + e);
            }
            pause();
        }
    }

    private static int random(int bound) {
        return ThreadLocalRandom.current().nextInt(bound);
    }

    private static void pause() {
        try {
            Thread.sleep(random(LONGEST_PAUSE_MILLIS));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Tells a line, and ends the process if the test that listened is over. */
    private static synchronized void tell(String line) {
        System.out.println(line.replace('\n', ' ') + ".");
        if (System.out.checkError()) {
            Runtime.getRuntime().halt(1);
        }
    }
}

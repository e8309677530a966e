package io.github.keepsake4j.benchmark;

import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.UserMessage;
import io.github.keepsake4j.Keepsake;
import io.github.keepsake4j.chat.KeepsakeChatMemory;
import io.github.keepsake4j.context.Summarization;
import io.github.keepsake4j.log.MessageLog;
import io.github.keepsake4j.summary.Summarizer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A kind of chat, with a log, a trigger and a slow summarizer, and the duration of each call. */
final class SummarizedChat implements AutoCloseable {

    private static final String ANSWER = "The first offer is cheaper, the second one lasts longer. ".repeat(4);

    final Measured messages;
    final Measured adds;
    private final String name;
    private final MessageLog log;
    private final Keepsake keepsake;
    private final Thinker thinker;
    private int measured;
    private int thinking;
    private @Nullable KeepsakeChatMemory memory;

    /** A summarizer that answers after a while. */
    private static final class Thinker implements Summarizer {

        private final long millis;
        private final AtomicInteger thinking = new AtomicInteger();
        private volatile int memories;

        Thinker(long millis) {
            this.millis = millis;
        }

        @Override
        public String summarize(@Nullable String previous, List<ChatMessage> messages) {
            int asked = memories;
            thinking.incrementAndGet();
            try {
                TimeUnit.MILLISECONDS.sleep(millis);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                // A call for an earlier memory says nothing about this one.
                if (asked == memories) {
                    thinking.decrementAndGet();
                }
            }
            return "The user compares offers.";
        }

        void begin() {
            memories++;
            thinking.set(0);
        }
    }

    /**
     * Creates a chat.
     *
     * @param trigger the number of messages that makes a summary due
     * @param millis the duration of a summary in milliseconds
     */
    SummarizedChat(String name, MessageLog log, int trigger, long millis) {
        this.name = name;
        this.log = log;
        this.thinker = new Thinker(millis);
        this.messages = new Measured(name + " messages");
        this.adds = new Measured(name + " add");
        this.keepsake = Keepsake.builder()
                .messageLog(log)
                .strategy(Summarization.triggerMessages(trigger).keepMessages(40))
                .summarizer(thinker)
                .build();
    }

    String name() {
        return name;
    }

    /** Begins a new memory. */
    void begin(String id) {
        thinker.begin();
        memory = keepsake.chatMemory(id);
    }

    /** Runs one turn, as an AI service does. */
    void turn(boolean counts) {
        KeepsakeChatMemory chat = java.util.Objects.requireNonNull(memory);
        UserMessage question = UserMessage.from(Payload.MESSAGE.singleText());
        long begin = System.nanoTime();
        chat.messages();
        long read = System.nanoTime();
        chat.add(question);
        long asked = System.nanoTime();
        chat.add(AiMessage.from(ANSWER));
        long end = System.nanoTime();
        if (counts) {
            measured++;
            thinking += isThinking() ? 1 : 0;
            messages.add(read - begin);
            adds.add(asked - read);
            adds.add(end - asked);
        }
    }

    boolean isThinking() {
        return thinker.thinking.get() > 0;
    }

    /** Returns in how many of the measured turns a summary was being made. */
    String share() {
        return thinking + " of " + measured;
    }

    @Override
    public void close() {
        log.close();
    }
}

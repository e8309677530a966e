package com.example.league;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** The turns of one subject on one conversation. */
final class Turns implements Rounds.Contender {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Chat chat;
    private final String conversation;
    private final boolean tools;
    private int turn;
    private Measure nanos = new Measure();
    private Measure heap = new Measure();

    Turns(Chat chat, String conversation, boolean tools) {
        this.chat = chat;
        this.conversation = conversation;
        this.tools = tools;
    }

    @Override
    public long run() {
        String question = Texts.question(++turn, tools);
        long bytes = THREADS.getCurrentThreadAllocatedBytes();
        long begin = System.nanoTime();
        String answer = chat.ask(conversation, question);
        long took = System.nanoTime() - begin;
        heap.add(THREADS.getCurrentThreadAllocatedBytes() - bytes);
        nanos.add(took);
        if (!answer.equals(Texts.answer(question))) {
            throw new IllegalStateException("the model was shown another question: " + answer);
        }
        return took;
    }

    /** Forgets the samples so far. */
    void begin() {
        nanos = new Measure();
        heap = new Measure();
    }

    Measure nanos() {
        return nanos;
    }

    /** Returns the bytes that the calling thread allocated in each turn. */
    Measure heap() {
        return heap;
    }
}

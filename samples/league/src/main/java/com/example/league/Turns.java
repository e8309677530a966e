package com.example.league;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** The turns of one subject on one conversation. */
final class Turns implements Rounds.Contender {

    /** Makes one turn. */
    @FunctionalInterface
    interface Asking {
        String ask(int turn, String question);
    }

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Asking asking;
    private final String kind;
    private int turn;
    private Measure nanos = new Measure();
    private Measure heap = new Measure();

    Turns(Chat chat, String conversation, boolean tools) {
        this((turn, question) -> chat.ask(conversation, question), tools ? Texts.WITH_TOOLS : Texts.PLAIN);
    }

    /** Creates turns of a kind of question. */
    Turns(Asking asking, String kind) {
        this.asking = asking;
        this.kind = kind;
    }

    @Override
    public long run() {
        String question = Texts.question(++turn, kind);
        long bytes = THREADS.getCurrentThreadAllocatedBytes();
        long begin = System.nanoTime();
        String answer = asking.ask(turn, question);
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

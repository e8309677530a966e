package io.github.keepsake4j.chat;

import dev.langchain4j.invocation.InvocationParameters;
import dev.langchain4j.model.chat.request.ChatRequest;
import io.github.keepsake4j.base.RecentlyUsed;
import io.github.keepsake4j.message.InvalidInputException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.turn.Turn;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The running turns of AI services that other turns or an application must know. Thread-safe. */
final class RunningTurns {

    /** A turn that the next call, or the next request, must know. */
    interface Waiting {

        /** Records that the call ended without an answer. */
        void failed(String reason);

        /**
         * Changes a request that asks a stored question again. The question has the words of the stored one. If the
         * request already contains it, before tool rounds of an earlier try, it is there and not at the end.
         *
         * @return the changed request, or the same one if it is not one of this turn
         */
        ChatRequest asAsked(ChatRequest request);
    }

    /** An answer that a model is giving in a stream. */
    interface Answer {

        boolean isOf(MemoryKey key);

        /** Stops the answer, and returns whether it was in progress and not stopped before. */
        boolean stop();
    }

    private static final Logger LOG = LoggerFactory.getLogger(RunningTurns.class);

    /** The maximum number of memories with data that is kept from one call of a service to the next. */
    private static final int MEMORIES = 1_000;

    /** The maximum number of turns of one memory whose requests are changed at the same time. */
    private static final int MOST_AT_ONCE = 16;

    /** The newest turn of each memory whose stream was not started yet. */
    private final RecentlyUsed<MemoryKey, Waiting> unstarted = new RecentlyUsed<>(MEMORIES);

    /** The turns of each memory whose requests ask a stored question again, in a form that is changed. */
    private final RecentlyUsed<MemoryKey, List<Waiting>> repeating = new RecentlyUsed<>(MEMORIES);

    /**
     * The answers that models are giving in streams. An entry is removed at the latest when its model drops the
     * handler, because a stream may end without any event.
     */
    private final Set<Answer> streaming = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private final AtomicBoolean warned = new AtomicBoolean();

    /** The record of models that give the reason why their streams end. */
    final AnswerEnd.Streams streamEnds = new AnswerEnd.Streams();

    /** A caller's instructions for the turns that begin on its thread. */
    private static final class Wanted {
        private final MemoryKey key;
        private final Turn turn;

        private final Thread thread = Thread.currentThread();

        /** The calls of the thread that began before. */
        private final List<?> outside;

        private boolean taken;

        /** Whether a call on any thread has begun so. */
        private volatile boolean begun;

        Wanted(MemoryKey key, Turn turn, List<?> outside) {
            this.key = key;
            this.turn = turn;
            this.outside = outside;
        }

        /** Returns whether the instructions apply to the next turn of a memory. A message is tried again only once. */
        boolean isFor(MemoryKey other) {
            return key.equals(other) && (!taken || turn.messageId() == null || turn.branch() != null);
        }

        /** Returns how the next turn begins. */
        Turn take() {
            String branch = turn.branch();
            Turn next = taken && branch != null ? Turn.on(branch) : turn;
            taken = true;
            begun = true;
            return next;
        }

        /** Records that a turn was passed to a call. It may be this one, or that of another caller on another thread. */
        void passed(MemoryKey to, Turn other) {
            if (key.equals(to) && turn.kind() == other.kind() && Objects.equals(turn.messageId(), other.messageId())) {
                taken |= thread == Thread.currentThread();
                begun = true;
            }
        }

        /** Returns whether no turn has begun with the message that the caller named. */
        boolean isMissed() {
            return !begun && turn.messageId() != null;
        }

        /** Refuses another memory, unless it is one of a guardrail or the like, within the body's own call. */
        void check(MemoryKey other, List<?> calls) {
            if (isMissed()
                    && calls.stream().filter(call -> !outside.contains(call)).count() < 2) {
                throw new InvalidInputException("turn", rule() + ". The body called one with memory " + other);
            }
        }

        /** Says what the body must do. */
        String rule() {
            return turn.kind() + " of memory " + key + " needs a call of an AI service with this memory's id first, on"
                    + " the same thread, or a call to which the Turn is passed";
        }
    }

    /** The instructions of all callers. Of those of one thread, the innermost is the first. */
    private final Deque<Wanted> wanted = new ConcurrentLinkedDeque<>();

    /** Runs a body within the calls of a thread, whose turn does not begin behind the newest message. */
    <T extends @Nullable Object> T with(MemoryKey key, Turn turn, List<?> calls, Supplier<? extends T> body) {
        Wanted mine = new Wanted(key, InvalidInputException.given("turn", turn), calls);
        wanted.push(mine);
        try {
            T result = body.get();
            if (mine.isMissed()) {
                throw new KeepsakeException(
                        "turn: " + mine.rule()
                                + ". It made no such call. If it asked a question in another way, that question"
                                + " was stored as a new one",
                        null);
            }
            if (!mine.begun && turn.branch() != null) {
                LOG.warn("Conversation.turn(turn, body): {}. The body made no such call", mine.rule());
            }
            return result;
        } finally {
            wanted.remove(mine);
        }
    }

    /** Stops the answers that are being streamed in a memory, and returns how many were in progress. */
    int stop(MemoryKey key) {
        List<Answer> answers;
        synchronized (streaming) {
            answers = streaming.stream().filter(answer -> answer.isOf(key)).toList();
        }
        return (int) answers.stream().filter(Answer::stop).count();
    }

    /** Records that an answer is requested. */
    void streams(Answer answer) {
        streaming.add(answer);
    }

    /** Records that an answer has ended. */
    void ended(Answer answer) {
        streaming.remove(answer);
    }

    /** Returns the instructions for a turn within the calls of this thread, or null. Refuses a memory that is not wanted. */
    @Nullable
    Turn turn(InvocationParameters parameters, MemoryKey key, List<?> calls) {
        List<Wanted> here = wanted.stream()
                .filter(each -> each.thread == Thread.currentThread())
                .toList();
        if (here.stream().noneMatch(outer -> outer.key.equals(key))) {
            here.stream().limit(1).forEach(innermost -> innermost.check(key, calls));
        }
        if (parameters instanceof Turn turn) {
            wanted.forEach(each -> each.passed(key, turn));
            return turn;
        }
        return here.stream()
                .filter(candidate -> candidate.isFor(key))
                .findFirst()
                .map(Wanted::take)
                .orElse(null);
    }

    /** Records that a turn begins. A stream of the memory that was not started before has failed. */
    void begins(MemoryKey key) {
        Waiting waiting = unstarted.get(key);
        if (waiting != null) {
            unstarted.remove(key);
            waiting.failed("not started");
        }
    }

    /** Records a turn whose stream the caller must still start. */
    void returned(MemoryKey key, Waiting turn) {
        unstarted.put(key, turn);
    }

    /** Records that a stream was started. */
    void starts(MemoryKey key, Waiting turn) {
        if (turn.equals(unstarted.get(key))) {
            unstarted.remove(key);
        }
    }

    /** Warns once that an AI service adds questions as they were before its input guardrails. */
    void storesOriginal(MemoryKey key) {
        if (warned.compareAndSet(false, true)) {
            LOG.warn(
                    "Memory {}: an AI service has input guardrails and storeRetrievedContentInChatMemory(false), so it "
                            + "adds questions as they were before the guardrails. They are stored as the guardrails "
                            + "rewrote them. Set storeRetrievedContentInChatMemory(true), or use Keepsake.attach",
                    key);
        }
    }

    /** Records a turn whose request must be changed. */
    void repeats(MemoryKey key, Waiting turn) {
        synchronized (repeating) {
            Stream<Waiting> all = Stream.concat(Stream.of(turn), repeating(key).stream());
            repeating.put(key, all.limit(MOST_AT_ONCE).toList());
        }
    }

    private List<Waiting> repeating(MemoryKey key) {
        return Objects.requireNonNullElse(repeating.get(key), List.of());
    }

    /** Records that a turn sends no more requests. */
    void ended(MemoryKey key, Waiting turn) {
        synchronized (repeating) {
            List<Waiting> before = repeating(key);
            if (before.contains(turn)) {
                repeating.put(key, before.stream().filter(each -> each != turn).toList());
            }
        }
    }

    /** Changes the question that an AI service adds at the end of a request, if it is a stored one that is asked again. */
    ChatRequest asAsked(ChatRequest request, MemoryKey key) {
        for (Waiting turn : repeating(key)) {
            ChatRequest changed = turn.asAsked(request);
            if (!changed.equals(request)) {
                return changed;
            }
        }
        return request;
    }
}

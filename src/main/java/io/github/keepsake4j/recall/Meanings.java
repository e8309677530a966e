package io.github.keepsake4j.recall;

import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.metrics.Metrics;
import io.github.keepsake4j.recall.MessageIndex.VectorMark;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds how close in meaning messages are to a question. If the model does not answer in time, no message is close.
 * Thread-safe.
 *
 * @param calls runs the calls of the model
 * @param limit the time limit of a call
 * @param metrics is told of questions that the model did not embed
 * @param free the calls that may begin
 */
record Meanings(
        MessageIndex index, Embeddings embeddings, Executor calls, Duration limit, Metrics metrics, Semaphore free) {

    private static final Logger LOG = LoggerFactory.getLogger(Meanings.class);

    /** The number of the newest vectors of a scope that are compared. It takes about 25 milliseconds. */
    private static final int MAX_VECTORS = 50_000;

    /** The number of questions that may wait for the model at once, so that a model that hangs takes no more threads. */
    private static final int MAX_CALLS = 64;

    /** The time limit for texts, relative to that for a question. No user waits for them. */
    private static final int TEXTS = 15;

    Meanings(MessageIndex index, Embeddings embeddings, Executor calls, Duration limit, Metrics metrics) {
        this(index, embeddings, calls, limit, metrics, new Semaphore(MAX_CALLS));
    }

    /**
     * Compares a question with messages: the newest ones of a scope, and some others.
     *
     * @param scope the memories
     * @param question any text
     * @param others messages that are compared even if they are not among the newest
     * @param sessionGap the pause that begins a new session
     */
    Meaning of(Scope scope, String question, Map<MemoryKey, ? extends Collection<Long>> others, Duration sessionGap) {
        float[] asked = ofQuestion(question).orElse(null);
        List<MemoryKey> memories = scope.memories();
        if (asked == null || memories == null) {
            return Meaning.NONE;
        }
        String model = embeddings.indexId();
        double weight = weight(index.vectorMarks(model, memories).values());
        if (weight == 0) {
            return Meaning.NONE;
        }
        Meaning.Builder meaning = new Meaning.Builder(weight, sessionGap);
        index.cosines(model, scope, asked, MAX_VECTORS, others, meaning::add);
        return meaning.build();
    }

    /** Returns the mean of the weights over the messages of memories; 0 without messages. */
    private static double weight(Collection<VectorMark> marks) {
        long messages = marks.stream().mapToLong(VectorMark::sequence).sum();
        double sum = marks.stream()
                .mapToDouble(mark -> mark.weight() * mark.sequence())
                .sum();
        return messages == 0 ? 0 : sum / messages;
    }

    /** Returns what identifies the vectors that were made. */
    String id() {
        return embeddings.id();
    }

    /** Embeds a question. Returns nothing if the model fails or is too slow. */
    Optional<float[]> ofQuestion(String question) {
        return question.isBlank()
                ? Optional.empty()
                : limited(() -> embeddings.ofQuestion(question), limit).orElse(Optional.empty());
    }

    /** Embeds texts for later questions. Returns nothing if the model fails or is too slow. */
    Optional<List<Optional<float[]>>> ofTexts(List<String> texts) {
        return limited(() -> embeddings.ofParts(texts), limit.multipliedBy(TEXTS));
    }

    /** Calls the model on another thread, because it may hang. */
    private <T> Optional<T> limited(Callable<T> work, Duration longest) {
        FutureTask<T> call = new FutureTask<>(work);
        try {
            start(call);
            return Optional.of(call.get(longest.toNanos(), TimeUnit.NANOSECONDS));
        } catch (ExecutionException e) {
            return failed(e.getCause());
        } catch (TimeoutException | RejectedExecutionException e) {
            call.cancel(true);
            return failed(e);
        } catch (InterruptedException e) {
            call.cancel(true);
            Thread.currentThread().interrupt();
            return failed(e);
        }
    }

    private void start(Runnable call) {
        if (!free.tryAcquire()) {
            throw new RejectedExecutionException("the calls before do not end");
        }
        try {
            calls.execute(() -> {
                try {
                    call.run();
                } finally {
                    free.release();
                }
            });
        } catch (RejectedExecutionException e) {
            free.release();
            throw e;
        }
    }

    private <T> Optional<T> failed(@Nullable Throwable reason) {
        LOG.debug(
                "The embedding model failed, and words alone serve ({})",
                reason == null ? "unknown" : reason.getClass().getName());
        Metrics.tell(metrics, sink -> sink.recalledByWordsAlone(index.backend()));
        return Optional.empty();
    }
}

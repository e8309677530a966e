package io.github.keepsake4j.recall;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.embedding.request.EmbeddingInputType;
import dev.langchain4j.model.embedding.request.EmbeddingRequest;
import dev.langchain4j.model.embedding.request.EmbeddingRequestParameters;
import io.github.keepsake4j.message.KeepsakeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Calls an embedding model. What the model throws may contain a text, so that only its class may be logged.
 * Thread-safe if the model is.
 */
final class Embeddings {

    /** The largest number of texts in one call of the model. */
    static final int BATCH = 32;

    /** The number of UTF-16 code units of a question that are embedded. */
    static final int MAX_QUESTION = 2_000;

    /** The number of UTF-16 code units of a part of a message. Most models read about as much of a text. */
    static final int PART = 1_000;

    /** The number of parts of a long message that are embedded, from its beginning on. */
    static final int MAX_PARTS = 4;

    private final EmbeddingModel model;
    private final String name;
    private volatile int dimension;

    /**
     * Creates embeddings. Does not call the model.
     *
     * @param model the model
     * @param name identifies the model together with the length of its vectors
     */
    Embeddings(EmbeddingModel model, String name) {
        this.model = model;
        this.name = name;
    }

    /** Returns what identifies the vectors. May call the model. */
    String id() {
        if (dimension == 0) {
            dimension = tried(model::dimension);
        }
        return name + " " + dimension;
    }

    /** Returns what identifies the vectors of messages. It changes with the parts of messages that are embedded. */
    String indexId() {
        return id() + " 2";
    }

    /** Returns the parts of a message that are embedded; none if it is blank. */
    static List<String> parts(String text) {
        List<String> parts = new ArrayList<>();
        int start = 0;
        while (start < text.length() && parts.size() < MAX_PARTS) {
            int end = end(text, start, PART);
            String part = text.substring(start, end);
            if (!part.isBlank()) {
                parts.add(part);
            }
            start = end;
        }
        return parts;
    }

    /** Returns the end of a part of a text. A pair of surrogates is not cut. */
    static int end(String text, int start, int length) {
        int end = Math.min(text.length(), start + length);
        return TextCuts.isInsideOfAPair(text, end) ? end - 1 : end;
    }

    /**
     * Embeds parts of messages.
     *
     * @return a vector of unit length for each part, in the same order; absent if the model gives it no direction
     * @throws KeepsakeException if the vectors are not those of this model; the model's exceptions are not changed
     */
    List<Optional<float[]>> ofParts(List<String> parts) {
        List<Optional<float[]>> vectors = new ArrayList<>();
        for (int i = 0; i < parts.size(); i += BATCH) {
            vectors.addAll(call(parts.subList(i, Math.min(parts.size(), i + BATCH)), EmbeddingInputType.DOCUMENT));
        }
        return vectors;
    }

    /** Embeds a question, as {@link #ofParts} does. */
    Optional<float[]> ofQuestion(String text) {
        String used = text.substring(0, end(text, 0, MAX_QUESTION));
        return used.isBlank()
                ? Optional.empty()
                : call(List.of(used), EmbeddingInputType.QUERY).get(0);
    }

    private List<Optional<float[]>> call(List<String> texts, EmbeddingInputType type) {
        // Asks for the dimension before, so that the vectors can be checked.
        String id = id();
        List<TextSegment> segments = texts.stream().map(TextSegment::from).toList();
        List<Embedding> made = tried(() -> embed(segments, type));
        if (made.size() != texts.size() || made.stream().anyMatch(one -> one.dimension() != dimension)) {
            throw new KeepsakeException(
                    "The embedding model " + id + " returned other vectors than one of its dimension for each text",
                    null);
        }
        return made.stream().map(one -> unit(one.vector())).toList();
    }

    private List<Embedding> embed(List<TextSegment> segments, EmbeddingInputType type) {
        // Models throw if they get a parameter that they do not know.
        if (!model.supportedParameters().contains(EmbeddingRequestParameters.INPUT_TYPE)) {
            return model.embedAll(segments).content();
        }
        return model.embed(EmbeddingRequest.builder()
                        .textSegments(segments)
                        .inputType(type)
                        .build())
                .embeddings();
    }

    /** Runs a call. An error, such as that of a missing native library, must not end the background work. */
    private static <T> T tried(Supplier<T> call) {
        try {
            return call.get();
        } catch (Error e) {
            throw new KeepsakeException(
                    "The embedding model failed with " + e.getClass().getName(), e);
        }
    }

    private static Optional<float[]> unit(float[] vector) {
        double sum = 0;
        for (float one : vector) {
            sum += (double) one * one;
        }
        double length = Math.sqrt(sum);
        if (!(length > 0) || Double.isInfinite(length)) {
            return Optional.empty();
        }
        float[] unit = new float[vector.length];
        for (int i = 0; i < unit.length; i++) {
            unit[i] = (float) (vector[i] / length);
        }
        return Optional.of(unit);
    }
}

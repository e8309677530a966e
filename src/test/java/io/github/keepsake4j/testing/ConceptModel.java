package io.github.keepsake4j.testing;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.output.Response;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * A deterministic embedding model. A text's vector has the words of the text and, with a larger weight, their concepts.
 * It notes the texts of each call.
 */
public class ConceptModel implements EmbeddingModel {

    public static final int DIMENSION = 64;

    private static final List<List<String>> CONCEPTS = List.of(
            List.of("dog", "puppy", "hound", "terrier"),
            List.of("doctor", "physician", "surgeon"),
            List.of("car", "automobile", "vehicle"),
            List.of("sofa", "couch", "settee"));

    /** The texts of each call, in order. */
    public final List<List<String>> calls = Collections.synchronizedList(new ArrayList<>());

    @Override
    public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
        List<String> texts = segments.stream().map(TextSegment::text).toList();
        calls.add(texts);
        return Response.from(texts.stream().map(this::vector).toList());
    }

    /** Returns how many texts were embedded. */
    public int texts() {
        synchronized (calls) {
            return calls.stream().mapToInt(List::size).sum();
        }
    }

    protected Embedding vector(String text) {
        float[] vector = new float[DIMENSION];
        for (String word : text.toLowerCase(Locale.ROOT).split("\\P{L}+")) {
            vector[CONCEPTS.size() + Math.floorMod(word.hashCode(), DIMENSION - CONCEPTS.size())] += 0.1f;
            for (int i = 0; i < CONCEPTS.size(); i++) {
                vector[i] += CONCEPTS.get(i).contains(word) ? 1 : 0;
            }
        }
        return Embedding.from(vector);
    }

    @Override
    public int dimension() {
        return DIMENSION;
    }
}

package io.github.keepsake4j.recall;

import static io.github.keepsake4j.testing.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.request.EmbeddingInputType;
import dev.langchain4j.model.embedding.request.EmbeddingParameter;
import dev.langchain4j.model.embedding.request.EmbeddingRequest;
import dev.langchain4j.model.embedding.request.EmbeddingRequestParameters;
import dev.langchain4j.model.embedding.response.EmbeddingResponse;
import dev.langchain4j.model.output.Response;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.testing.ConceptModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class EmbeddingsTest {

    @Test
    void a_text_is_cut_into_its_first_parts_and_no_pair_is_cut() {
        assertThat(Embeddings.parts("")).isEmpty();
        assertThat(Embeddings.parts(" \n")).isEmpty();
        assertThat(Embeddings.parts("short")).containsExactly("short");
        assertThat(Embeddings.parts("a".repeat(1_000))).containsExactly("a".repeat(1_000));
        assertThat(Embeddings.parts("a".repeat(999) + "😀b")).containsExactly("a".repeat(999), "😀b");
        // A text that a retrieval added is blanked.
        assertThat(Embeddings.parts(" ".repeat(7_000) + "b")).containsExactly("b");
        assertThat(Embeddings.parts("a".repeat(9_000))).hasSize(4).allMatch(part -> part.length() == 1_000);
    }

    @Test
    void texts_are_embedded_in_batches_and_vectors_get_unit_length() {
        ConceptModel model = new ConceptModel();
        List<String> parts =
                LongStream.range(0, 70).mapToObj(i -> "the dog " + i).toList();

        List<Optional<float[]>> vectors = new Embeddings(model, "concepts").ofParts(parts);

        assertThat(model.calls).extracting(List::size).containsExactly(32, 32, 6);
        assertThat(vectors).hasSize(70).allSatisfy(vector -> {
            double sum = 0;
            for (float one : vector.orElseThrow()) {
                sum += one * one;
            }
            assertThat(sum).isBetween(0.9999, 1.0001);
        });
    }

    @Test
    void a_vector_without_a_direction_is_none() {
        ConceptModel model = new ConceptModel() {
            @Override
            protected Embedding vector(String text) {
                float[] vector = new float[DIMENSION];
                vector[0] = text.equals("zero") ? 0 : Float.NaN;
                return Embedding.from(vector);
            }
        };
        assertThat(new Embeddings(model, "concepts").ofParts(List.of("zero", "nan")))
                .containsExactly(Optional.empty(), Optional.empty());
    }

    @Test
    void a_model_that_returns_too_few_vectors_is_refused_without_its_texts() {
        ConceptModel model = new ConceptModel() {
            @Override
            public Response<List<Embedding>> embedAll(List<TextSegment> segments) {
                return Response.from(List.of());
            }
        };
        assertThrown(
                        KeepsakeException.class,
                        () -> new Embeddings(model, "concepts").ofParts(List.of("secret")),
                        "concepts 64")
                .hasMessageNotContaining("secret");
    }

    @Test
    void only_a_model_that_knows_types_of_input_is_told_them() {
        List<EmbeddingInputType> types = new ArrayList<>();
        ConceptModel model = new ConceptModel() {
            @Override
            public Set<EmbeddingParameter<?>> supportedParameters() {
                return Set.of(EmbeddingRequestParameters.INPUT_TYPE);
            }

            @Override
            public EmbeddingResponse doEmbed(EmbeddingRequest request) {
                types.add(request.inputType());
                return super.doEmbed(request);
            }
        };
        Embeddings embeddings = new Embeddings(model, "concepts");
        embeddings.ofParts(List.of("dog"));
        embeddings.ofQuestion("dog");

        assertThat(types).containsExactly(EmbeddingInputType.DOCUMENT, EmbeddingInputType.QUERY);
        assertThat(new Embeddings(new ConceptModel(), "concepts").ofQuestion("dog"))
                .isPresent();
    }

    @Test
    void a_question_is_cut_and_a_blank_one_is_not_embedded() {
        ConceptModel model = new ConceptModel();
        Embeddings embeddings = new Embeddings(model, "concepts");

        assertThat(embeddings.ofQuestion(" \n ")).isEmpty();
        embeddings.ofQuestion("a".repeat(1_999) + "😀");

        assertThat(model.calls).containsExactly(List.of("a".repeat(1_999)));
    }

    @Test
    void a_sample_is_spread_evenly_and_a_later_one_has_no_other_messages_of_the_same_part() {
        for (long messages : new long[] {1, 399, 400, 401, 1_000, 12_345, 1_000_000}) {
            List<Long> sample = LongStream.rangeClosed(1, messages)
                    .filter(one -> Embedder.isSampled(one, messages))
                    .boxed()
                    .toList();
            assertThat(sample.size()).isBetween((int) Math.min(messages, 195), Embedder.MAX_SAMPLE + 5);
            assertThat(sample.stream().filter(one -> one <= messages / 2).count())
                    .isCloseTo(sample.size() / 2, within(5L));
            assertThat(sample.stream().filter(one -> one % 2 == 0).count()).isCloseTo(sample.size() / 2, within(30L));
        }
        assertThat(LongStream.rangeClosed(1, 10_000).filter(one -> Embedder.isSampled(one, 20_000)))
                .allMatch(one -> Embedder.isSampled(one, 10_000));
    }
}

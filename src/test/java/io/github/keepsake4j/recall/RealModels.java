package io.github.keepsake4j.recall;

import dev.langchain4j.model.embedding.EmbeddingModel;
import java.util.LinkedHashMap;
import java.util.Map;

/** The embedding models that are on the class path. The profile {@code models} adds them. */
final class RealModels {

    private static final Map<String, String> CLASSES = Map.of(
            "all-minilm-l6-v2-q", "allminilml6v2q.AllMiniLmL6V2QuantizedEmbeddingModel",
            "bge-small-en-v15-q", "bgesmallenv15q.BgeSmallEnV15QuantizedEmbeddingModel",
            "bge-small-zh-v15-q", "bgesmallzhv15q.BgeSmallZhV15QuantizedEmbeddingModel");

    private RealModels() {}

    /** Loads the models that are there, by name. */
    static Map<String, EmbeddingModel> byName() throws ReflectiveOperationException {
        Map<String, EmbeddingModel> models = new LinkedHashMap<>();
        for (String name : CLASSES.keySet().stream().sorted().toList()) {
            try {
                Class<?> type = Class.forName("dev.langchain4j.model.embedding.onnx." + CLASSES.get(name));
                models.put(name, (EmbeddingModel) type.getConstructor().newInstance());
            } catch (ClassNotFoundException e) {
                // The profile is not active.
            }
        }
        return models;
    }
}

package io.github.keepsake4j.tokens;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads a tool call's arguments, which are a model's text: mostly a JSON object, sometimes not. */
final class ToolArguments {

    /**
     * With Jackson's defaults, as LangChain4j's estimator has them: another setting could make another count. Only names
     * are not kept in a shared table, which fails for good once enough of them collide: they are a model's.
     */
    private static final JsonMapper MAPPER = new JsonMapper(JsonFactory.builder()
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .build());

    private ToolArguments() {}

    /** The arguments by name, or null if this is no JSON object. */
    static @Nullable Map<?, ?> parse(String json) {
        try {
            return MAPPER.readValue(json, Map.class);
        } catch (JsonProcessingException e) {
            return null;
        }
    }
}

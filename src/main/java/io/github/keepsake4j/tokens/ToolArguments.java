package io.github.keepsake4j.tokens;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Parses a tool call's arguments. They are text from a model: usually a JSON object, but not always. */
final class ToolArguments {

    /**
     * Uses Jackson's defaults, as LangChain4j's estimator does, because another setting could change the count. The one
     * exception is that names are not kept in a shared table: the names come from a model, and the table fails
     * permanently once enough of them collide.
     */
    private static final JsonMapper MAPPER = new JsonMapper(JsonFactory.builder()
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .build());

    private ToolArguments() {}

    /** Returns the arguments by name, or null if the text is not a JSON object. */
    static @Nullable Map<?, ?> parse(String json) {
        try {
            return MAPPER.readValue(json, Map.class);
        } catch (JsonProcessingException e) {
            return null;
        }
    }
}

package io.github.keepsake4j.log.jdbc;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.UnreadableDataException;
import io.github.keepsake4j.sql.DamagedException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A view as JSON. Fields that a newer version wrote are ignored. */
final class ViewJson {

    private record Runs(List<View.Run> runs, @Nullable String summary) {}

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private ViewJson() {}

    static String write(View view) {
        try {
            return MAPPER.writeValueAsString(new Runs(view.runs(), view.summary()));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("ids are always written", e);
        }
    }

    static View read(MemoryKey key, String json, @Nullable String anchor, long anchorSequence) {
        if (anchor == null) {
            throw new DamagedException("a view belongs to message " + anchorSequence + ", which is not there");
        }
        try {
            Runs stored = MAPPER.readValue(json, Runs.class);
            // A head that no statement put in had no message in its place: the memory was empty.
            return new View(anchor, anchorSequence, stored.runs(), stored.summary()).resolved(null);
        } catch (JsonProcessingException | RuntimeException e) {
            throw new UnreadableDataException(
                    "Memory " + key + ": the view at message " + anchor + " cannot be read. Its bytes are kept", e);
        }
    }
}

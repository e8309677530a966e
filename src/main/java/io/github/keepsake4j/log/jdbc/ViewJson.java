package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.backend.RecordJson;
import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.DamagedException;
import org.jspecify.annotations.Nullable;

/** Converts a view to JSON and back. Fields of newer versions are ignored. */
final class ViewJson {

    private ViewJson() {}

    static String write(View view) {
        return PlainJson.write(RecordJson.put(new JsonObject(), view));
    }

    static View read(MemoryKey key, String json, @Nullable String anchor, long anchorSequence) {
        if (anchor == null) {
            throw new DamagedException("a view belongs to message " + anchorSequence + ", which is missing");
        }
        // If no statement replaced the name of the head, there was no head: the memory was empty.
        return RecordJson.view(key, json, anchor, anchorSequence).resolved(null);
    }
}

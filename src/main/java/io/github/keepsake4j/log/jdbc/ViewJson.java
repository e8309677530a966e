package io.github.keepsake4j.log.jdbc;

import io.github.keepsake4j.codec.JsonObject;
import io.github.keepsake4j.codec.PlainJson;
import io.github.keepsake4j.log.RecordJson;
import io.github.keepsake4j.log.View;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.sql.DamagedException;
import org.jspecify.annotations.Nullable;

/** A view as JSON. Fields that a newer version wrote are ignored. */
final class ViewJson {

    private ViewJson() {}

    static String write(View view) {
        return PlainJson.write(RecordJson.put(new JsonObject(), view));
    }

    static View read(MemoryKey key, String json, @Nullable String anchor, long anchorSequence) {
        if (anchor == null) {
            throw new DamagedException("a view belongs to message " + anchorSequence + ", which is not there");
        }
        // A head that no statement put in had no message in its place: the memory was empty.
        return RecordJson.view(key, json, anchor, anchorSequence).resolved(null);
    }
}

package io.github.keepsake4j.log;

import io.github.keepsake4j.message.InvalidInputException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The rules of {@link MessageLog#mergeMetadata}, which every backend follows. Pure functions. */
public final class Metadata {

    private Metadata() {}

    /**
     * Merges changes into metadata.
     *
     * @param before the metadata
     * @param changes texts by name; null removes a name
     * @return the metadata after the changes
     * @throws InvalidInputException if a name is null
     */
    public static Map<String, String> merged(Map<String, String> before, Map<String, @Nullable String> changes) {
        Map<String, String> after = new LinkedHashMap<>(before);
        changes.forEach((name, text) -> {
            if (name == null) {
                throw new InvalidInputException("metadata", "must not have a name that is null");
            }
            if (text == null) {
                after.remove(name);
            } else {
                after.put(name, text);
            }
        });
        return Map.copyOf(after);
    }
}

package io.github.keepsake4j.workflow;

import io.github.keepsake4j.message.FileReference;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a file that a reference names.
 *
 * @param reference the reference
 * @param storageKey where its bytes are
 * @param name its name, or null
 * @param mimeType its MIME type, or null
 * @param size its size in bytes, or -1 if it is not known
 */
public record ResolvedFile(
        FileReference reference, String storageKey, @Nullable String name, @Nullable String mimeType, long size) {

    /** Checks the parts. */
    public ResolvedFile {
        Objects.requireNonNull(reference, "reference");
        Objects.requireNonNull(storageKey, "storageKey");
    }
}

package io.github.keepsake4j.workflow.files;

import io.github.keepsake4j.message.FileReference;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The known properties of a file that a reference names.
 *
 * @param reference the reference
 * @param storageKey the key under which its bytes are stored
 * @param name its name, or null
 * @param mimeType its MIME type, or null
 * @param size its size in bytes, or -1 if it is not known
 */
public record ResolvedFile(
        FileReference reference, String storageKey, @Nullable String name, @Nullable String mimeType, long size) {

    /** Checks that the reference and the storage key are not null. */
    public ResolvedFile {
        Objects.requireNonNull(reference, "reference");
        Objects.requireNonNull(storageKey, "storageKey");
    }
}

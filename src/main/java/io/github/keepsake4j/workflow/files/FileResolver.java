package io.github.keepsake4j.workflow.files;

import io.github.keepsake4j.message.FileReference;
import io.github.keepsake4j.message.InvalidInputException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Looks up uploaded files and files that tools made. Implementations are thread-safe. */
@FunctionalInterface
public interface FileResolver {

    /** A resolver that finds nothing: every file is shown as a placeholder. */
    FileResolver NONE = (tenantId, files) -> Map.of();

    /**
     * Looks up files, all at once.
     *
     * @param tenantId the tenant that requests the files; a file of another tenant must be treated as if it did not
     *     exist
     * @param files references to uploaded files and to files that tools made, without duplicates
     * @return the known files by reference; files that do not exist or belong to another tenant are left out
     */
    Map<FileReference, ResolvedFile> resolve(String tenantId, List<FileReference> files);

    /**
     * The known properties of a file that a reference names.
     *
     * @param reference the reference
     * @param storageKey the key under which its bytes are stored
     * @param name its name, or null
     * @param mimeType its MIME type, or null
     * @param size its size in bytes, or -1 if it is not known
     */
    record ResolvedFile(
            FileReference reference, String storageKey, @Nullable String name, @Nullable String mimeType, long size) {

        /** Checks that the reference and the storage key are not null. */
        public ResolvedFile {
            InvalidInputException.given("reference", reference);
            InvalidInputException.given("storageKey", storageKey);
        }
    }
}

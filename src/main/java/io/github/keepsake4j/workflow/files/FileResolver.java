package io.github.keepsake4j.workflow.files;

import io.github.keepsake4j.message.FileReference;
import java.util.List;
import java.util.Map;

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
}

package io.github.keepsake4j.workflow;

import io.github.keepsake4j.message.FileReference;
import java.util.List;
import java.util.Map;

/** Finds out about uploaded files and files of tools. Implementations are thread-safe. */
@FunctionalInterface
public interface FileResolver {

    /** Finds nothing: every file is shown as a placeholder. */
    FileResolver NONE = (tenantId, files) -> Map.of();

    /**
     * Finds out about files, all at once.
     *
     * @param tenantId the tenant that asks: a file of another tenant is as if it were not there
     * @param files references to uploaded files and files of tools, none twice
     * @return what is known, by reference; a file that is not there, or is another tenant's, is left out
     */
    Map<FileReference, ResolvedFile> resolve(String tenantId, List<FileReference> files);
}

package io.github.keepsake4j.workflow.files;

/** Loads the content of files that a {@link FileResolver} found. Implementations are thread-safe. */
@FunctionalInterface
public interface FileContentSource {

    /** A source without any content: every file is shown as a placeholder. */
    FileContentSource NONE = (tenantId, file) -> {
        throw new UnsupportedOperationException("no source of file contents is configured");
    };

    /**
     * Loads a file's content.
     *
     * @param tenantId the tenant that requests the file and owns it
     * @param file the file
     * @return the file's bytes, or a URL that the model's provider can read; an exception means that the content is not
     *     available
     */
    FileContent load(String tenantId, ResolvedFile file);
}

package io.github.keepsake4j.workflow;

/** Gives the content of files that a {@link FileResolver} found. Implementations are thread-safe. */
@FunctionalInterface
public interface FileContentSource {

    /** Has nothing: every file is shown as a placeholder. */
    FileContentSource NONE = (tenantId, file) -> {
        throw new UnsupportedOperationException("no source of file contents is configured");
    };

    /**
     * Gives a file's content.
     *
     * @param tenantId the tenant that asks, whose file it is
     * @param file the file
     * @return its bytes, or a URL that the model's provider can read; an exception stands for "not available"
     */
    FileContent load(String tenantId, ResolvedFile file);
}

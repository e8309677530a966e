package io.github.keepsake4j.workflow.files;

import io.github.keepsake4j.message.InvalidInputException;
import java.net.URI;
import org.jspecify.annotations.Nullable;

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
    FileContent load(String tenantId, FileResolver.ResolvedFile file);

    /** A file's content in a form that can be passed to a model: a URL or bytes. */
    final class FileContent {

        /** The URL, or null if the content consists of bytes. */
        final @Nullable URI url;

        final byte[] bytes;

        private FileContent(@Nullable URI url, byte[] bytes) {
            this.url = url;
            this.bytes = bytes;
        }

        /**
         * Creates content that the model's provider fetches from a URL, such as a presigned URL.
         *
         * @param url an absolute URL
         * @return the content
         */
        public static FileContent url(URI url) {
            return new FileContent(InvalidInputException.given("url", url), new byte[0]);
        }

        /**
         * Creates content from bytes.
         *
         * @param bytes the bytes, which must not be changed afterwards
         * @return the content
         */
        public static FileContent bytes(byte[] bytes) {
            return new FileContent(null, InvalidInputException.given("bytes", bytes));
        }
    }
}

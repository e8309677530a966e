package io.github.keepsake4j.workflow.files;

import java.net.URI;
import java.util.Objects;

/** A file's content in a form that can be passed to a model. */
public sealed interface FileContent {

    /**
     * A URL from which the model's provider can fetch the content, such as a presigned URL.
     *
     * @param url an absolute URL
     */
    record Url(URI url) implements FileContent {
        /** Checks that the URL is not null. */
        public Url {
            Objects.requireNonNull(url, "url");
        }
    }

    /** The bytes of the content. */
    final class Bytes implements FileContent {
        private final byte[] bytes;

        private Bytes(byte[] bytes) {
            this.bytes = bytes;
        }

        byte[] bytes() {
            return bytes;
        }
    }

    /**
     * Creates content that is fetched from a URL.
     *
     * @param url an absolute URL
     * @return the content
     */
    static FileContent url(URI url) {
        return new Url(url);
    }

    /**
     * Creates content from bytes.
     *
     * @param bytes the bytes, which must not be changed afterwards
     * @return the content
     */
    static FileContent bytes(byte[] bytes) {
        return new Bytes(Objects.requireNonNull(bytes, "bytes"));
    }
}

package io.github.keepsake4j.workflow;

import java.net.URI;
import java.util.Objects;

/** A file's content, as a model can be given it. */
public sealed interface FileContent {

    /**
     * Where a model's provider can fetch it, such as a presigned URL.
     *
     * @param url an absolute URL
     */
    record Url(URI url) implements FileContent {
        /** Checks the URL. */
        public Url {
            Objects.requireNonNull(url, "url");
        }
    }

    /** The bytes themselves. */
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
     * Content that is fetched from a URL.
     *
     * @param url an absolute URL
     * @return the content
     */
    static FileContent url(URI url) {
        return new Url(url);
    }

    /**
     * Content that is here.
     *
     * @param bytes the bytes; not to be changed afterwards
     * @return the content
     */
    static FileContent bytes(byte[] bytes) {
        return new Bytes(Objects.requireNonNull(bytes, "bytes"));
    }
}

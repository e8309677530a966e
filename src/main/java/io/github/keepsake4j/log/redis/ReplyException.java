package io.github.keepsake4j.log.redis;

import org.jspecify.annotations.Nullable;

/** The server's answer is an error. */
final class ReplyException extends Exception {

    private static final long serialVersionUID = 1L;

    ReplyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    String text() {
        return String.valueOf(getMessage());
    }
}

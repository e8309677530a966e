package io.github.keepsake4j.log.redis;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of a client. All keys of a call are in one slot. An answer is null, a {@code Long}, a {@code byte[]}, or a
 * list of answers. Thread-safe.
 */
interface Commands extends AutoCloseable {

    @Nullable
    Object evalSha(String sha, List<byte[]> keys, List<byte[]> arguments) throws IOException, ReplyException;

    @Nullable
    Object eval(String script, List<byte[]> keys, List<byte[]> arguments) throws IOException, ReplyException;

    /** Returns a setting of the server; empty if it does not tell. */
    Optional<String> setting(String name) throws IOException;

    /** Returns how many replicas are connected to the server that is asked; empty if it does not tell. */
    Optional<Integer> replicas() throws IOException;

    /** Closes the client if the log made it. */
    @Override
    void close();
}

package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.backend.AppendRules;
import io.github.keepsake4j.log.Position;
import io.github.keepsake4j.log.UnknownMessageException;
import io.github.keepsake4j.message.LoggedMessage;
import io.github.keepsake4j.message.MemoryKey;
import io.github.keepsake4j.message.StorageClosedException;
import io.github.keepsake4j.message.StorageUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs the script of a memory, and reads the common part of its answers. Thread-safe. */
final class MemoryScript {

    /** The number of messages that one run of the script reads. A run blocks the server. */
    static final int CHUNK = 500;

    /** The number of tries of work that other writers interrupt. */
    static final int ATTEMPTS = 20;

    private final Commands commands;
    private final Keys keys;
    private final @Nullable Duration timeToLive;
    private volatile boolean closed;

    MemoryScript(Commands commands, Keys keys, @Nullable Duration timeToLive) {
        this.commands = commands;
        this.keys = keys;
        this.timeToLive = timeToLive;
    }

    /**
     * Begins a request that uses a memory. It renews the time to live. One that only inspects a memory is a plain
     * {@link Request}.
     */
    Request use(String op) {
        return new Request(op).with("ttl", timeToLive == null ? null : (Long) timeToLive.toMillis());
    }

    Reply run(String what, MemoryKey key, Request request) {
        requireOpen(what);
        return commands.run(
                LuaScript.MEMORY, what, keys.memory(Objects.requireNonNull(key, "key")), request.arguments());
    }

    /** Runs a change in an epoch, of a message that must exist. */
    Reply change(String what, MemoryKey key, @Nullable Long epoch, Request request) {
        Reply reply = run(what, key, request);
        if (reply.is("erased")) {
            AppendRules.checkEpoch(key, epoch, reply.number(1));
        }
        if (reply.is("unknown")) {
            throw unknown(key, reply);
        }
        return reply;
    }

    /**
     * Repeats an attempt while it returns nothing, which is when another process was first.
     *
     * @param failure what the error says if each attempt returns nothing
     */
    static <T> T untilDone(String failure, Supplier<Optional<T>> attempt) {
        for (int i = 0; i < ATTEMPTS; i++) {
            Optional<T> done = attempt.get();
            if (done.isPresent()) {
                return done.get();
            }
        }
        throw new StorageUnavailableException(failure, null);
    }

    void requireOpen(String what) {
        if (closed) {
            throw new StorageClosedException(what);
        }
    }

    void close() {
        closed = true;
    }

    static UnknownMessageException unknown(MemoryKey key, Reply reply) {
        if (!reply.is("unknown")) {
            throw new IllegalStateException("unexpected answer of the script: " + reply.kind());
        }
        return UnknownMessageException.notThere(key, reply.text(1), reply.text(2));
    }

    static Position position(Reply reply, int epoch, int head) {
        return new Position(reply.number(epoch), reply.number(epoch + 1), reply.nullableText(head));
    }

    static List<LoggedMessage> messages(MemoryKey key, Reply rows) {
        return rows.lists().stream().map(row -> Contents.message(key, row)).toList();
    }
}

package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.log.StorageUnavailableException;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A script that a server runs as a whole. It is sent by its hash, and once with its text where the server lacks it. */
record Script(String text, String sha) {

    static final Script MEMORY = load("memory.lua");
    static final Script TENANT = load("tenant.lua");

    private static final String DAMAGED = "KEEPSAKE_DAMAGED[";

    /** The first words of errors that pass, at least when a person does something about them. */
    private static final Set<String> PASSING = Set.of(
            "BUSY",
            "CLUSTERDOWN",
            "LOADING",
            "MASTERDOWN",
            "MISCONF",
            "NOREPLICAS",
            "OOM",
            "READONLY",
            "TRYAGAIN",
            "ASK",
            "MOVED");

    /**
     * Runs this script.
     *
     * @param what what is done, with its memory
     * @throws StorageUnavailableException if the server cannot be reached or refuses to write at the moment
     * @throws UnreadableDataException if the script found damage
     */
    @Nullable
    Object run(Commands commands, String what, List<byte[]> keys, List<byte[]> arguments) {
        try {
            try {
                return commands.evalSha(sha, keys, arguments);
            } catch (ReplyException e) {
                if (!e.text().startsWith("NOSCRIPT")) {
                    throw e;
                }
                return commands.eval(text, keys, arguments);
            }
        } catch (IOException e) {
            throw new StorageUnavailableException(what + ": Redis cannot be reached", e);
        } catch (ReplyException e) {
            throw failure(what, e);
        }
    }

    private static KeepsakeException failure(String what, ReplyException e) {
        String text = e.text();
        int damaged = text.indexOf(DAMAGED);
        if (damaged >= 0) {
            String problem = text.substring(damaged + DAMAGED.length(), text.lastIndexOf(']'));
            return new UnreadableDataException(
                    what + ": the memory is damaged: " + problem
                            + ". Nothing is written over it: check() lists the damage, repair() mends it",
                    null);
        }
        // Inside a script, an older server puts its own words around an error.
        if (text.contains("OOM command not allowed")) {
            return new StorageUnavailableException(
                    what + ": Redis has no memory left (maxmemory); make room and try again", e);
        }
        if (PASSING.contains(text.split(" ", 2)[0]) || text.contains("READONLY") || text.contains("NOREPLICAS")) {
            return new StorageUnavailableException(what + ": Redis refuses it at the moment: " + text, e);
        }
        return new KeepsakeException(what + ": Redis refuses it: " + text, e);
    }

    private static Script load(String name) {
        try (InputStream resource = Script.class.getResourceAsStream("/io/github/keepsake4j/redis/" + name)) {
            if (resource == null) {
                throw new IllegalStateException("the script " + name + " is missing from the jar");
            }
            byte[] bytes = resource.readAllBytes();
            return new Script(new String(bytes, StandardCharsets.UTF_8), Keys.hex(Keys.digest("SHA-1", bytes)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

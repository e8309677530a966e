package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/** Runs scripts through a client, and tells what a failure means. Thread-safe, as the client is. */
record Commands(UnifiedJedis client) {

    private static final String DAMAGED = "KEEPSAKE_DAMAGED[";

    /** The first words of errors that pass, at least when a person does something about them. */
    private static final Set<String> PASSING = Set.of(
            "ASK",
            "BUSY",
            "CLUSTERDOWN",
            "LOADING",
            "MASTERDOWN",
            "MISCONF",
            "MOVED",
            "NOREPLICAS",
            "READONLY",
            "TRYAGAIN");

    /**
     * Runs a script. It is sent by its hash, and once with its text where the server lacks it. All keys are in one slot.
     *
     * @param what what is done, with its memory
     * @return the answer, a list
     * @throws StorageUnavailableException if the server cannot be reached or refuses to write at the moment
     * @throws UnreadableDataException if the script found damage
     */
    Reply run(Script script, String what, List<byte[]> keys, List<byte[]> arguments) {
        try {
            return Reply.of(evaluate(script, keys, arguments));
        } catch (JedisDataException e) {
            throw refused(what, e);
        } catch (JedisException e) {
            throw new StorageUnavailableException(what + ": Redis cannot be reached", e);
        }
    }

    private @Nullable Object evaluate(Script script, List<byte[]> keys, List<byte[]> arguments) {
        try {
            return client.evalsha(Text.bytes(script.sha()), keys, arguments);
        } catch (JedisNoScriptException e) {
            return client.eval(Text.bytes(script.text()), keys, arguments);
        }
    }

    private static KeepsakeException refused(String what, JedisDataException e) {
        String text = String.valueOf(e.getMessage());
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
        if (PASSING.contains(text.split(" ", 2)[0]) || PASSING.stream().anyMatch(word -> text.contains("-" + word))) {
            return new StorageUnavailableException(what + ": Redis refuses it at the moment: " + text, e);
        }
        return new KeepsakeException(what + ": Redis refuses it: " + text, e);
    }
}

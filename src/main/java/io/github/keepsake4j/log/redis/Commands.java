package io.github.keepsake4j.log.redis;

import io.github.keepsake4j.base.Unreachable;
import io.github.keepsake4j.message.KeepsakeException;
import io.github.keepsake4j.message.StorageUnavailableException;
import io.github.keepsake4j.message.UnreadableDataException;
import java.net.URI;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * Runs scripts through a client, and translates failures to exceptions. Thread-safe, as the client is.
 *
 * @param client the client
 * @param server the name of the server in errors, with its address if that is known
 */
record Commands(UnifiedJedis client, String server) {

    private static final String DAMAGED = "KEEPSAKE_DAMAGED[";

    /** The first words of temporary errors, including errors that an administrator must end. */
    private static final Set<String> PASSING =
            Set.of("ASK BUSY CLUSTERDOWN LOADING MASTERDOWN MISCONF MOVED NOREPLICAS READONLY TRYAGAIN".split(" "));

    /**
     * Runs a script. It is sent by its hash, and once with its text if the server does not have it. All keys are in one
     * slot.
     *
     * @param what the action, with its memory
     * @return the answer, a list
     * @throws StorageUnavailableException if the server cannot be reached or refuses to write at the moment
     * @throws UnreadableDataException if the script found damage
     */
    Reply run(LuaScript script, String what, List<byte[]> keys, List<byte[]> arguments) {
        try {
            return Reply.of(evaluate(script, keys, arguments));
        } catch (JedisDataException e) {
            throw refused(what, e);
        } catch (JedisException e) {
            throw unreachable(what, server, e);
        }
    }

    private @Nullable Object evaluate(LuaScript script, List<byte[]> keys, List<byte[]> arguments) {
        try {
            return client.evalsha(Text.bytes(script.sha()), keys, arguments);
        } catch (JedisNoScriptException e) {
            return client.eval(Text.bytes(script.text()), keys, arguments);
        }
    }

    /** Returns the name of a server without its user and password, or that of the server of a given client. */
    static String name(@Nullable URI server) {
        return server == null ? "Redis" : "Redis at " + server.getHost() + ":" + server.getPort();
    }

    static StorageUnavailableException unreachable(String what, String server, JedisException e) {
        return new StorageUnavailableException(what + ": " + server + " " + problem(e), e);
    }

    /** Returns why a server gives no connection, and what to do. */
    static String problem(JedisException e) {
        String text = String.valueOf(e.getMessage());
        if (text.startsWith("NOAUTH")) {
            return "requires a password, and none is given; write redis://user:password@host:port";
        }
        if (text.startsWith("WRONGPASS")) {
            return "refuses the user or the password; check both";
        }
        return text.matches("(?s)(Unexpected end of stream|Unknown reply).*")
                ? "gives no answer of Redis; check that the port is that of Redis, and whether it needs rediss://, and retry"
                : "cannot be reached" + Unreachable.why(e);
    }

    static boolean isRefusedLogin(JedisException e) {
        return String.valueOf(e.getMessage()).matches("(?s)(WRONGPASS|NOAUTH).*");
    }

    private KeepsakeException refused(String what, JedisDataException e) {
        String text = String.valueOf(e.getMessage());
        int damaged = text.indexOf(DAMAGED);
        if (damaged >= 0) {
            String problem = text.substring(damaged + DAMAGED.length(), text.lastIndexOf(']'));
            return new UnreadableDataException(
                    what + ": the memory is damaged: " + problem + ". Nothing was changed. Call check() to list "
                            + "the damage and repair() to repair it",
                    null);
        }
        // An older server wraps the error of a script in its own words.
        if (text.contains("OOM command not allowed")) {
            return new StorageUnavailableException(
                    what + ": Redis has no memory left (maxmemory). Free memory or raise the limit, and retry", e);
        }
        if (PASSING.contains(text.split(" ", 2)[0]) || PASSING.stream().anyMatch(word -> text.contains("-" + word))) {
            return new StorageUnavailableException(what + ": Redis refuses the command at the moment: " + text, e);
        }
        if (isRefusedLogin(e)) {
            return new KeepsakeException(what + ": " + server + " " + problem(e), e);
        }
        return new KeepsakeException(what + ": Redis refuses the command: " + text, e);
    }
}

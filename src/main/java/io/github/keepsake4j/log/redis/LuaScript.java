package io.github.keepsake4j.log.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A script that a server runs as a whole, with its hash in the server. */
record LuaScript(String text, String sha) {

    static final LuaScript MEMORY = load("memory.lua");
    static final LuaScript TENANT = load("tenant.lua");

    private static LuaScript load(String name) {
        try (InputStream resource = LuaScript.class.getResourceAsStream("/io/github/keepsake4j/redis/" + name)) {
            if (resource == null) {
                throw new IllegalStateException("the script " + name + " is missing from the jar");
            }
            MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
            byte[] bytes = resource.readAllBytes();
            return new LuaScript(
                    new String(bytes, StandardCharsets.UTF_8), HexFormat.of().formatHex(sha1.digest(bytes)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-1", e);
        }
    }
}

package io.github.keepsake4j.log.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** A script that a server runs as a whole, with the hash that the server knows it by. */
record Script(String text, String sha) {

    static final Script MEMORY = load("memory.lua");
    static final Script TENANT = load("tenant.lua");

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

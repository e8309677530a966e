package io.github.keepsake4j.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/** Tells GraalVM what a native image must keep. */
final class KeepsakeRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        hints.resources()
                .registerPattern("io/github/keepsake4j/schema/*")
                .registerPattern("io/github/keepsake4j/redis/*")
                .registerPattern("com/knuddels/jtokkit/*");
    }
}

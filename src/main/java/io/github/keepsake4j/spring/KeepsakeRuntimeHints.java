package io.github.keepsake4j.spring;

import io.github.keepsake4j.codec.JsonFields;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.core.io.ClassPathResource;

/**
 * Registers the classes and resources that a native image must keep. It is also for older versions of GraalVM, which do
 * not read the jar's own file. The entries are read from this file.
 */
final class KeepsakeRuntimeHints implements RuntimeHintsRegistrar {

    private static final String FILE =
            "META-INF/native-image/io.github.keepsake4j/keepsake4j/reachability-metadata.json";

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
        JsonFields metadata;
        try {
            metadata = JsonFields.read(
                    FILE, new ClassPathResource(FILE, loader).getContentAsString(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        metadata.objects("resources")
                .forEach(resource -> hints.resources().registerPattern(resource.neededText("glob")));
        metadata.objects("reflection").forEach(entry -> register(hints, entry));
    }

    private static void register(RuntimeHints hints, JsonFields entry) {
        if (entry.values().get("type") instanceof Map) {
            entry.neededObject("type").texts("proxy").forEach(type -> hints.proxies()
                    .registerJdkProxy(TypeReference.of(type)));
            return;
        }
        hints.reflection().registerType(TypeReference.of(entry.neededText("type")), type -> {
            if (entry.has("allDeclaredFields")) {
                type.withMembers(
                        MemberCategory.INVOKE_DECLARED_CONSTRUCTORS,
                        MemberCategory.INVOKE_DECLARED_METHODS,
                        MemberCategory.DECLARED_FIELDS);
            }
            entry.objects("fields").forEach(field -> type.withField(field.neededText("name")));
            entry.objects("methods")
                    .forEach(method -> type.withMethod(method.neededText("name"), List.of(), ExecutableMode.INVOKE));
        });
    }
}

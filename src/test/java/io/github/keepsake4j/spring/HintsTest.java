package io.github.keepsake4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.keepsake4j.testing.Child;
import io.github.keepsake4j.testing.Home;
import io.github.keepsake4j.testing.Place;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.aot.agent.RuntimeHintsAgent;
import org.springframework.aot.hint.ResourcePatternHint;
import org.springframework.aot.hint.RuntimeHints;

/**
 * What a native image must keep. Spring's agent checks the uses of reflection, resources and proxies on the JVM. No native
 * image is built.
 */
@Tag("landing")
class HintsTest {

    @TempDir
    Path directory;

    @Test
    void every_use_of_reflection_resources_and_proxies_has_a_hint() throws Exception {
        Path agent = Path.of(RuntimeHintsAgent.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        List<String> options = List.of(
                "-javaagent:" + agent
                        + "=+io.github.keepsake4j,+com.fasterxml.jackson,+com.knuddels,-org.springframework",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        List<Object> arguments = new ArrayList<>(List.of(directory));
        for (Home home : List.of(Home.IN_MEMORY, Home.FILES, Home.SQLITE, Home.S3, Home.REDIS)) {
            arguments.add(Place.in(home, directory));
        }
        try (Child child = Child.start(options, HintsDriver.class, arguments.toArray())) {
            assertThat(child.awaitEnd()).containsExactly("done");
        }
    }

    @Test
    void applications_without_spring_get_the_same_from_the_jar() throws Exception {
        JsonNode metadata = new ObjectMapper()
                .readTree(getClass()
                        .getResourceAsStream(
                                "/META-INF/native-image/io.github.keepsake4j/keepsake4j/reachability-metadata.json"));
        RuntimeHints hints = new RuntimeHints();
        new KeepsakeRuntimeHints().registerHints(hints, getClass().getClassLoader());

        Set<String> types = hints.reflection()
                .typeHints()
                .map(hint -> hint.getType().getName())
                .collect(Collectors.toCollection(TreeSet::new));
        hints.proxies().jdkProxyHints().forEach(hint -> hint.getProxiedInterfaces()
                .forEach(type -> types.add("[" + type.getName() + "]")));
        assertThat(metadata.findValues("type"))
                .extracting(type -> type.isTextual()
                        ? type.asText()
                        : "[" + type.at("/proxy/0").asText() + "]")
                .containsExactlyInAnyOrderElementsOf(types);
        assertThat(hints.resources()
                        .resourcePatternHints()
                        .flatMap(hint -> hint.getIncludes().stream())
                        .map(ResourcePatternHint::getPattern))
                .hasSizeGreaterThan(4)
                .containsAll(metadata.at("/resources").findValuesAsText("glob"));
    }
}

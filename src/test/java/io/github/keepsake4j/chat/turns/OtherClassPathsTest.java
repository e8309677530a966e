package io.github.keepsake4j.chat.turns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the classes on other class paths than the one with which they were compiled. */
class OtherClassPathsTest {

    /**
     * Loads the classes with a newer core and calls them through its interfaces, although no method has an
     * {@code @Override}.
     */
    @Test
    void the_asynchronous_methods_of_the_next_core_are_ours() throws Exception {
        List<URL> classPath = without("langchain4j-core-");
        try (Stream<Path> jars = Files.list(Path.of("target", "next-core"))) {
            classPath.add(0, jars.findFirst().orElseThrow().toUri().toURL());
        }

        try (Loaded next = new Loaded(classPath)) {
            assertThat(next.run("async"))
                    .isEqualTo("langchain4j-core-1.23.0.jar added [1] set [1, 2] stored [3] deleted [] shown 2 kept 2");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite-jdbc", "postgresql", "HikariCP"})
    void what_is_optional_may_be_absent(String jar) throws Exception {
        try (Loaded loaded = new Loaded(without("/" + jar + "-"))) {
            assertThat(loaded.run("async")).endsWith("shown 2 kept 2");
            if (jar.equals("sqlite-jdbc")) {
                assertThatThrownBy(() -> loaded.run("sqlite"))
                        .rootCause()
                        .hasMessageContaining("org.xerial:sqlite-jdbc");
            } else {
                assertThat(loaded.run("sqlite")).isEqualTo("1");
            }
        }
    }

    @Test
    void summaries_are_made_where_micrometer_is_absent() throws Exception {
        try (Loaded loaded = new Loaded(without("/micrometer-"))) {
            assertThat(loaded.run("summary")).isEqualTo("no Micrometer, 1 made");
        }
    }

    /** Removes all of the AWS SDK, because its jars depend on each other. */
    @ParameterizedTest
    @ValueSource(strings = {"/software/amazon/", "/redis/clients/"})
    void the_client_of_another_home_may_be_absent(String jars) throws Exception {
        try (Loaded loaded = new Loaded(without(jars))) {
            assertThat(loaded.run("async")).endsWith("shown 2 kept 2");
            assertThat(loaded.run("sqlite")).isEqualTo("1");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/sqlite-jdbc-, openSqlite, org.xerial:sqlite-jdbc",
        "/HikariCP-, openPostgres, com.zaxxer:HikariCP",
        "/postgresql-, openPostgres, org.postgresql:postgresql",
        "/redis/clients/, openRedis, redis.clients:jedis",
        "/software/amazon/, openS3, software.amazon.awssdk:s3",
        "/apache5-client-, openS3, software.amazon.awssdk:apache5-client"
    })
    void the_error_for_a_library_that_is_missing_names_its_artifact_alone(String jars, String how, String artifact)
            throws Exception {
        try (Loaded loaded = new Loaded(without(jars))) {
            assertThat(loaded.run(how)).endsWith("add the artifact " + artifact).doesNotContain(" or ");
        }
    }

    @Test
    void words_have_no_stems_where_lucene_is_absent() throws Exception {
        try (Loaded loaded = new Loaded(without("/lucene-"))) {
            assertThat(loaded.run("words")).isEqualTo("[walking, _walk, _alki, _lkin, _king]");
        }
    }

    @Test
    void reactor_may_be_absent() throws Exception {
        try (Loaded loaded = new Loaded(without("/reactor-core-"))) {
            assertThat(loaded.run("stream")).isEqualTo("Hello U(Hi), A(Hello)");
        }
    }

    /** A caller that passes a client needs no other HTTP client than the one of that client. */
    @Test
    void the_apache_client_may_be_absent_where_a_client_is_given() throws Exception {
        try (Loaded loaded = new Loaded(without("/apache5-client-"))) {
            assertThat(loaded.run("s3WithAClient")).isEqualTo("StorageUnavailableException");
        }
    }

    /** Each way of the other tests works where nothing is absent. */
    @Test
    void with_all_of_it_each_way_is_open() throws Exception {
        try (Loaded loaded = new Loaded(without("nothing"))) {
            assertThat(loaded.run("words")).isEqualTo("[walk, walking, _walk, _alki, _lkin, _king]");
            assertThat(loaded.run("redis")).isEqualTo("StorageUnavailableException");
            assertThat(loaded.run("s3")).isEqualTo("StorageUnavailableException");
        }
    }

    /** The classes on a class path. */
    private record Loaded(URLClassLoader loader) implements AutoCloseable {

        Loaded(List<URL> classPath) {
            this(new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader()));
        }

        String run(String what) throws Exception {
            Class<?> driver = loader.loadClass("io.github.keepsake4j.chat.turns.OtherClassPathDriver");
            ClassLoader before = Thread.currentThread().getContextClassLoader();
            Thread.currentThread().setContextClassLoader(loader);
            try {
                return (String) driver.getMethod(what).invoke(null);
            } finally {
                Thread.currentThread().setContextClassLoader(before);
            }
        }

        @Override
        public void close() throws IOException {
            loader.close();
        }
    }

    private static List<URL> without(String jar) throws Exception {
        List<URL> urls = new ArrayList<>();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : classPath.split(File.pathSeparator)) {
            if (!entry.contains(jar)) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        return urls;
    }
}

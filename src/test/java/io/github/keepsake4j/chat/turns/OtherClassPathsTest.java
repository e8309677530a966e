package io.github.keepsake4j.chat.turns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the classes on other class paths than the one with which they were compiled. */
class OtherClassPathsTest {

    /**
     * Loads the classes with the core of 1.20 and calls them through its interfaces, although no method has an
     * {@code @Override}.
     */
    @Test
    void the_asynchronous_methods_of_the_next_core_are_ours() throws Exception {
        List<URL> classPath = without("langchain4j-core-");
        try (Stream<Path> jars = Files.list(Path.of("target", "next-core"))) {
            classPath.add(0, jars.findFirst().orElseThrow().toUri().toURL());
        }

        assertThat(run(classPath, "async"))
                .isEqualTo("langchain4j-core-1.20.0.jar added [1] set [1, 2] stored [3] deleted [] shown 2 kept 2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlite-jdbc", "postgresql", "HikariCP"})
    void what_is_optional_may_be_absent(String jar) throws Exception {
        assertThat(run(without("/" + jar + "-"), "async")).endsWith("shown 2 kept 2");
        if (!jar.equals("sqlite-jdbc")) {
            assertThat(run(without("/" + jar + "-"), "sqlite")).isEqualTo("1");
        }
    }

    @Test
    void summaries_are_made_where_micrometer_is_absent() throws Exception {
        assertThat(run(without("/micrometer-"), "summary")).isEqualTo("no Micrometer, 1 made");
    }

    @Test
    void a_class_path_without_sqlite_is_one() {
        assertThatThrownBy(() -> run(without("/sqlite-jdbc-"), "sqlite"))
                .rootCause()
                .hasMessageContaining("org.sqlite");
    }

    /** Removes the whole SDK, because its jars depend on each other. */
    @Test
    void the_aws_sdk_may_be_absent() throws Exception {
        List<URL> classPath = without("/software/amazon/");

        assertThat(run(classPath, "async")).endsWith("shown 2 kept 2");
        assertThat(run(classPath, "sqlite")).isEqualTo("1");
        assertThatThrownBy(() -> run(classPath, "s3")).rootCause().hasMessageContaining("software.amazon");
    }

    @Test
    void words_have_no_stems_where_lucene_is_absent() throws Exception {
        assertThat(run(without("/lucene-"), "words")).isEqualTo("[walking, _walk, _alki, _lkin, _king]");
        assertThat(run(without("nothing"), "words")).isEqualTo("[walk, walking, _walk, _alki, _lkin, _king]");
    }

    @Test
    void reactor_may_be_absent() throws Exception {
        assertThat(run(without("/reactor-core-"), "stream")).isEqualTo("Hello U(Hi), A(Hello)");
    }

    @Test
    void jedis_may_be_absent() throws Exception {
        List<URL> classPath = without("/redis/clients/");

        assertThat(run(classPath, "async")).endsWith("shown 2 kept 2");
        assertThat(run(classPath, "sqlite")).isEqualTo("1");
        assertThatThrownBy(() -> run(classPath, "redis")).rootCause().hasMessageContaining("redis.clients");
        assertThat(run(without("nothing"), "redis")).isEqualTo("StorageUnavailableException");
    }

    /** A caller that passes a client needs no other HTTP client than the one of that client. */
    @Test
    void the_apache_client_may_be_absent_where_a_client_is_given() throws Exception {
        List<URL> classPath = without("/apache5-client-");

        assertThat(run(classPath, "s3WithAClient")).isEqualTo("StorageUnavailableException");
        assertThatThrownBy(() -> run(classPath, "s3")).rootCause().hasMessageContaining("apache5");
        assertThat(run(without("nothing"), "s3")).isEqualTo("StorageUnavailableException");
    }

    private static String run(List<URL> classPath, String what) throws Exception {
        try (URLClassLoader loader =
                new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Class<?> driver = loader.loadClass("io.github.keepsake4j.chat.turns.OtherClassPathDriver");
            ClassLoader before = Thread.currentThread().getContextClassLoader();
            Thread.currentThread().setContextClassLoader(loader);
            try {
                return (String) driver.getMethod(what).invoke(null);
            } finally {
                Thread.currentThread().setContextClassLoader(before);
            }
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
